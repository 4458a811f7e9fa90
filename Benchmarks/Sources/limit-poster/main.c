// W9: libav, without probing, from a file to the first picture as RGBA8: limit-poster FILE PASSES
// One uncounted pass, then a line "<cpu ms> <wall ms>" for each.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static uint8_t *pixels;

static int convert(const AVFrame *frame) {
    struct SwsContext *scaler = sws_getContext(
        frame->width, frame->height, frame->format, frame->width, frame->height, AV_PIX_FMT_RGBA, SWS_BICUBIC, NULL, NULL,
        NULL);
    // The scaler writes a little beyond the last row.
    if (!pixels) pixels = malloc((size_t)frame->width * frame->height * 4 + 64);
    if (!scaler || !pixels) return 0;
    uint8_t *planes[4] = {pixels};
    int strides[4] = {frame->width * 4};
    sws_scale(scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height, planes, strides);
    sws_freeContext(scaler);
    return 1;
}

static int poster(const char *path) {
    AVFormatContext *file = NULL;
    if (avformat_open_input(&file, path, NULL, NULL) < 0) return 0;
    int stream = av_find_best_stream(file, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0);
    if (stream < 0) return 0;
    const AVCodecParameters *parameters = file->streams[stream]->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    AVCodecContext *decoder = avcodec_alloc_context3(codec);
    avcodec_parameters_to_context(decoder, parameters);
    decoder->thread_count = 1;
    if (avcodec_open2(decoder, codec, NULL) < 0) return 0;
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    int isFound = 0, isEnd = 0;
    while (!isFound && !isEnd) {
        isEnd = av_read_frame(file, packet) < 0;
        if (isEnd || packet->stream_index == stream) avcodec_send_packet(decoder, isEnd ? NULL : packet);
        av_packet_unref(packet);
        if (avcodec_receive_frame(decoder, frame) == 0) isFound = convert(frame);
    }
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&decoder);
    avformat_close_input(&file);
    return isFound;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    av_log_set_level(AV_LOG_ERROR);
    for (int pass = 0; pass <= atoi(argv[2]); pass++) {
        double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), wall = milliseconds(CLOCK_MONOTONIC);
        if (!poster(argv[1])) return 1;
        cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        wall = milliseconds(CLOCK_MONOTONIC) - wall;
        if (pass > 0) printf("%.6f %.6f\n", cpu, wall);
    }
    return 0;
}
