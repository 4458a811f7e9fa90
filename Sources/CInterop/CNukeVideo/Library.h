// libav as its functions are called here: by a table that is filled when the libraries are opened.
#ifndef CNUKEVIDEO_LIBRARY_H
#define CNUKEVIDEO_LIBRARY_H

#include "CNukeVideo.h"

#if __has_include(<libavformat/avformat.h>) && __has_include(<libavcodec/avcodec.h>) && \
    __has_include(<libswscale/swscale.h>) && __has_include(<libavutil/frame.h>)
#define CNUKEVIDEO_HAS_HEADERS 1
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>

// FFmpeg 6.1 moved the side data of streams, 6.0 renamed the duration of frames.
#define CNUKEVIDEO_HAS_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 102))
#define CNUKEVIDEO_HAS_FRAME_DURATION (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100))

#define CNUKEVIDEO_FORMAT_FUNCTIONS(X) \
    X(avformat_version) \
    X(avformat_alloc_context) \
    X(avformat_open_input) \
    X(avformat_close_input) \
    X(avformat_find_stream_info) \
    X(av_find_input_format) \
    X(av_read_frame) \
    X(av_seek_frame) \
    X(avio_alloc_context) \
    X(avio_context_free)

#define CNUKEVIDEO_CODEC_FUNCTIONS_OF_ALL(X) \
    X(avcodec_version) \
    X(avcodec_find_decoder) \
    X(avcodec_alloc_context3) \
    X(avcodec_free_context) \
    X(avcodec_parameters_to_context) \
    X(avcodec_open2) \
    X(avcodec_send_packet) \
    X(avcodec_receive_frame) \
    X(avcodec_flush_buffers) \
    X(avcodec_get_name) \
    X(av_packet_alloc) \
    X(av_packet_free) \
    X(av_packet_unref)

#if CNUKEVIDEO_HAS_CODED_SIDE_DATA
#define CNUKEVIDEO_CODEC_FUNCTIONS(X) CNUKEVIDEO_CODEC_FUNCTIONS_OF_ALL(X) X(av_packet_side_data_get)
#define CNUKEVIDEO_SIDE_DATA_FUNCTION(X)
#else
#define CNUKEVIDEO_CODEC_FUNCTIONS(X) CNUKEVIDEO_CODEC_FUNCTIONS_OF_ALL(X)
#define CNUKEVIDEO_SIDE_DATA_FUNCTION(X) X(av_stream_get_side_data)
#endif

#define CNUKEVIDEO_SCALE_FUNCTIONS(X) \
    X(swscale_version) \
    X(sws_getContext) \
    X(sws_freeContext) \
    X(sws_getCoefficients) \
    X(sws_setColorspaceDetails) \
    X(sws_scale)

#define CNUKEVIDEO_UTIL_FUNCTIONS(X) \
    X(avutil_version) \
    X(av_malloc) \
    X(av_free) \
    X(av_frame_alloc) \
    X(av_frame_free) \
    X(av_frame_unref) \
    X(av_frame_move_ref) \
    X(av_dict_set) \
    X(av_dict_free) \
    X(av_strerror) \
    X(av_log_set_level) \
    X(av_pix_fmt_desc_get)

struct CNukeVideo_Library {
#define CNUKEVIDEO_MEMBER(name) __typeof__(name) *name;
    CNUKEVIDEO_FORMAT_FUNCTIONS(CNUKEVIDEO_MEMBER)
    CNUKEVIDEO_SIDE_DATA_FUNCTION(CNUKEVIDEO_MEMBER)
    CNUKEVIDEO_CODEC_FUNCTIONS(CNUKEVIDEO_MEMBER)
    CNUKEVIDEO_SCALE_FUNCTIONS(CNUKEVIDEO_MEMBER)
    CNUKEVIDEO_UTIL_FUNCTIONS(CNUKEVIDEO_MEMBER)
#undef CNUKEVIDEO_MEMBER
};

#endif
#endif
