#include "Reader.h"

#ifdef CNUKEVIDEO_HAS_HEADERS
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: Making and ending

CNukeVideo_Reader *CNukeVideo_createReader(
    const CNukeVideo_Library *library, bool (*isOver)(void *), void *context) {
    CNukeVideo_Reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->library = library;
    reader->isOver = isOver;
    reader->context = context;
    reader->missing = -1;
    reader->stream = -1;
    return reader;
}

// What is left can be opened again, or freed.
static void closeAll(CNukeVideo_Reader *reader) {
    const CNukeVideo_Library *library = reader->library;
    library->avcodec_free_context(&reader->decoder);
    library->av_frame_free(&reader->current);
    library->av_frame_free(&reader->scratch);
    library->av_packet_free(&reader->packet);
    library->avformat_close_input(&reader->format);
    CNukeVideo_destroyIO(reader);
    reader->position = 0;
    reader->stream = -1;
    reader->hasCurrent = reader->isDrained = reader->atEnd = reader->wasCut = false;
}

void CNukeVideo_destroyReader(CNukeVideo_Reader *reader) {
    CNukeVideo_destroyScaler(reader);
    closeAll(reader);
    free(reader);
}

int64_t CNukeVideo_missingOffset(const CNukeVideo_Reader *reader) { return reader->missing; }

const char *CNukeVideo_message(const CNukeVideo_Reader *reader) { return reader->message; }

static int isInterrupted(void *opaque) {
    const CNukeVideo_Reader *reader = opaque;
    return reader->isOver(reader->context) ? 1 : 0;
}

// Says no to whatever a file may want opened beside itself.
static int openNothing(AVFormatContext *format, AVIOContext **io, const char *url, int flags, AVDictionary **options) {
    (void)format, (void)io, (void)url, (void)flags, (void)options;
    return AVERROR(EACCES);
}

// MARK: Errors

static CNukeVideo_Status say(CNukeVideo_Reader *reader, CNukeVideo_Status status, const char *message) {
    snprintf(reader->message, sizeof reader->message, "%s", message);
    return status;
}

static CNukeVideo_Status fail(CNukeVideo_Reader *reader, int error) {
    if (reader->library->av_strerror(error, reader->message, sizeof reader->message) < 0) {
        snprintf(reader->message, sizeof reader->message, "error %d", error);
    }
    if (error == AVERROR_EXIT || reader->isOver(reader->context)) return CNukeVideo_StatusInterrupted;
    if (reader->missing >= 0) return CNukeVideo_StatusMissing;
    switch (error) {
    case AVERROR(ENOMEM): return CNukeVideo_StatusOutOfMemory;
    case AVERROR_EOF: return CNukeVideo_StatusTruncated;
    case AVERROR_DECODER_NOT_FOUND: return CNukeVideo_StatusNoDecoder;
    case AVERROR_PATCHWELCOME:
    case AVERROR(ENOSYS): return CNukeVideo_StatusUnsupported;
    default: return reader->hitEnd ? CNukeVideo_StatusTruncated : CNukeVideo_StatusCorrupt;
    }
}

// MARK: Opening

// The stream to show: a video rather than a picture that goes with sound, the one that the file prefers, the first.
static int chooseStream(const AVFormatContext *format) {
    int best = -1, bestRank = -1;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        const AVStream *stream = format->streams[i];
        if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
        int rank = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC ? 0 : 4)
            + (stream->codecpar->codec_id != AV_CODEC_ID_NONE ? 2 : 0)
            + (stream->disposition & AV_DISPOSITION_DEFAULT ? 1 : 0);
        if (rank > bestRank) {
            best = (int)i;
            bestRank = rank;
        }
    }
    return best;
}

static CNukeVideo_Status openStream(CNukeVideo_Reader *reader, int index, int64_t pixelCount) {
    const CNukeVideo_Library *library = reader->library;
    const AVCodecParameters *parameters = reader->format->streams[index]->codecpar;
    const AVCodec *codec = library->avcodec_find_decoder(parameters->codec_id);
    if (!codec) return say(reader, CNukeVideo_StatusNoDecoder, library->avcodec_get_name(parameters->codec_id));
    if ((int64_t)parameters->width * parameters->height > pixelCount) {
        return say(reader, CNukeVideo_StatusLimitExceeded, "");
    }
    reader->decoder = library->avcodec_alloc_context3(codec);
    reader->current = library->av_frame_alloc();
    reader->scratch = library->av_frame_alloc();
    if (!reader->decoder || !reader->current || !reader->scratch) return CNukeVideo_StatusOutOfMemory;
    int error = library->avcodec_parameters_to_context(reader->decoder, parameters);
    if (error < 0) return fail(reader, error);
    reader->decoder->thread_count = 1;
    reader->decoder->max_pixels = pixelCount;
    reader->decoder->pkt_timebase = reader->format->streams[index]->time_base;
    error = library->avcodec_open2(reader->decoder, codec, NULL);
    if (error < 0) return fail(reader, error);
    reader->stream = index;
    return CNukeVideo_StatusOK;
}

static const int32_t *displayMatrix(CNukeVideo_Reader *reader, const AVStream *stream) {
#if CNUKEVIDEO_HAS_CODED_SIDE_DATA
    const AVPacketSideData *data = reader->library->av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= 9 * sizeof(int32_t) ? (const int32_t *)data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = reader->library->av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#endif
}

static double ratio(AVRational value) { return value.num > 0 && value.den > 0 ? (double)value.num / value.den : 0; }

static void describe(CNukeVideo_Reader *reader, CNukeVideo_Description *description) {
    const AVFormatContext *format = reader->format;
    const AVStream *stream = format->streams[reader->stream];
    memset(description, 0, sizeof *description);
    description->width = stream->codecpar->width;
    description->height = stream->codecpar->height;
    if (format->duration > 0) {
        description->duration = (double)format->duration / AV_TIME_BASE;
    } else if (stream->duration > 0) {
        description->duration = (double)stream->duration * ratio(stream->time_base);
    }
    description->frameRate = ratio(stream->avg_frame_rate);
    if (description->frameRate == 0) description->frameRate = ratio(stream->r_frame_rate);
    AVRational aspect = stream->sample_aspect_ratio;
    if (aspect.num <= 0 || aspect.den <= 0) aspect = stream->codecpar->sample_aspect_ratio;
    description->aspectNumerator = aspect.num;
    description->aspectDenominator = aspect.den;
    const int32_t *matrix = displayMatrix(reader, stream);
    if (matrix) memcpy(description->matrix, matrix, sizeof description->matrix);
    description->hasMatrix = matrix != NULL;
    description->isPicture = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    for (unsigned i = 0; i < format->nb_streams; i++) {
        if (format->streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) description->hasAudio = true;
    }
    description->codec = reader->library->avcodec_get_name(stream->codecpar->codec_id);
}

static CNukeVideo_Status openFormat(CNukeVideo_Reader *reader, CNukeVideo_Container container) {
    const CNukeVideo_Library *library = reader->library;
    const char *name = container == CNukeVideo_ContainerMatroska ? "matroska" : "mov";
    const AVInputFormat *demuxer = library->av_find_input_format(name);
    if (!demuxer) return say(reader, CNukeVideo_StatusUnsupported, "libavformat does not read such files");
    reader->packet = library->av_packet_alloc();
    reader->io = CNukeVideo_makeIO(reader);
    reader->format = library->avformat_alloc_context();
    if (!reader->packet || !reader->io || !reader->format) return CNukeVideo_StatusOutOfMemory;
    reader->format->pb = reader->io;
    reader->format->interrupt_callback = (AVIOInterruptCB){isInterrupted, reader};
    reader->format->io_open = openNothing;
    // Custom input, and no guessing: the container is known. What it refers to is not opened.
    AVDictionary *options = NULL;
    library->av_dict_set(&options, "format_whitelist", "mov,matroska", 0);
    library->av_dict_set(&options, "protocol_whitelist", "", 0);
    int error = library->avformat_open_input(&reader->format, "", demuxer, &options);
    library->av_dict_free(&options);
    return error < 0 ? fail(reader, error) : CNukeVideo_StatusOK;
}

static CNukeVideo_Status openAll(
    CNukeVideo_Reader *reader, const CNukeVideo_Choice *choice, CNukeVideo_Description *description) {
    CNukeVideo_Status status = openFormat(reader, choice->container);
    if (status != CNukeVideo_StatusOK) return status;
    AVFormatContext *format = reader->format;
    int count = (int)format->nb_streams;
    int index = choice->stream >= 0 && choice->stream < count ? choice->stream : chooseStream(format);
    if (index < 0) return say(reader, CNukeVideo_StatusNoVideo, "");
    const AVCodecParameters *parameters = format->streams[index]->codecpar;
    if (parameters->codec_type != AVMEDIA_TYPE_VIDEO) return say(reader, CNukeVideo_StatusNoVideo, "");
    if (parameters->width <= 0 || parameters->height <= 0) {
        // The header has left something out, which libav finds out by decoding.
        int error = reader->library->avformat_find_stream_info(format, NULL);
        if (error < 0) return fail(reader, error);
        if (parameters->width <= 0 || parameters->height <= 0) {
            return say(reader, CNukeVideo_StatusCorrupt, "it has no size");
        }
    }
    status = openStream(reader, index, choice->pixelCount);
    if (status != CNukeVideo_StatusOK) return status;
    for (int i = 0; i < count; i++) {
        format->streams[i]->discard = i == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    reader->choice = *choice;
    describe(reader, description);
    return CNukeVideo_StatusOK;
}

// Runs what reads, with its input; what was lacking on the way does not count where it went well.
#define WITH_INPUT(call) \
    reader->input = input; \
    reader->missing = -1; \
    reader->hitEnd = false; \
    reader->message[0] = 0; \
    CNukeVideo_Status status = call; \
    reader->input = NULL; \
    return status

CNukeVideo_Status CNukeVideo_open(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, const CNukeVideo_Choice *choice,
    CNukeVideo_Description *description) {
    WITH_INPUT(openAll(reader, choice, description));
}

// MARK: Seeking

static int64_t origin(const AVStream *stream) { return stream->start_time == AV_NOPTS_VALUE ? 0 : stream->start_time; }

static CNukeVideo_Status seekTo(CNukeVideo_Reader *reader, double seconds) {
    // What could not be opened again has nothing.
    if (reader->stream < 0) return say(reader, CNukeVideo_StatusCorrupt, "it is not open");
    const AVStream *stream = reader->format->streams[reader->stream];
    double unit = ratio(stream->time_base);
    double ticks = unit > 0 && seconds > 0 ? seconds / unit : 0;
    int64_t target = origin(stream);
    if (ticks < 4e18 && __builtin_add_overflow(target, (int64_t)ticks, &target)) target = origin(stream);
    reader->atEnd = reader->wasCut = false;
    int error = reader->library->av_seek_frame(
        reader->format, reader->stream, target, AVSEEK_FLAG_BACKWARD);
    if (error < 0) {
        // Before the first picture that stands alone, or in a file without an index.
        error = reader->library->av_seek_frame(reader->format, reader->stream, origin(stream), 0);
    }
    reader->library->avcodec_flush_buffers(reader->decoder);
    reader->isDrained = false;
    return error < 0 ? fail(reader, error) : CNukeVideo_StatusOK;
}

CNukeVideo_Status CNukeVideo_seek(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, double seconds) {
    WITH_INPUT(seekTo(reader, seconds));
}

static CNukeVideo_Status openAgain(CNukeVideo_Reader *reader) {
    CNukeVideo_Choice choice = reader->choice;
    CNukeVideo_Description description;
    choice.stream = reader->stream;
    closeAll(reader);
    return openAll(reader, &choice, &description);
}

CNukeVideo_Status CNukeVideo_restart(CNukeVideo_Reader *reader, const CNukeVideo_Input *input) {
    WITH_INPUT(openAgain(reader));
}

// MARK: Pictures

// Hands the next packet to the decoder; StatusEnd: there are no more. `isShown` becomes whether its picture is shown.
static CNukeVideo_Status readPacket(CNukeVideo_Reader *reader, bool *isShown) {
    const CNukeVideo_Library *library = reader->library;
    for (;;) {
        if (reader->isOver(reader->context)) return CNukeVideo_StatusInterrupted;
        reader->missing = -1;
        int error = library->av_read_frame(reader->format, reader->packet);
        if (error == AVERROR_EXIT || error == AVERROR(ENOMEM)) return fail(reader, error);
        bool isCut = error < 0 || reader->packet->flags & AV_PKT_FLAG_CORRUPT;
        bool isMissing = isCut && reader->missing >= 0;
        if (isCut && reader->hitEnd) reader->wasCut = true;
        if (error >= 0 && reader->packet->stream_index != reader->stream && !isMissing) {
            library->av_packet_unref(reader->packet);
            continue;
        }
        if (error < 0 || isMissing || (isCut && reader->hitEnd && !reader->choice.takesCutPictures)) {
            if (error >= 0) library->av_packet_unref(reader->packet);
            return isMissing ? CNukeVideo_StatusMissing : CNukeVideo_StatusEnd;
        }
        *isShown = !(reader->packet->flags & AV_PKT_FLAG_DISCARD);
        // A packet that makes no sense is passed over: the next may.
        error = library->avcodec_send_packet(reader->decoder, reader->packet);
        library->av_packet_unref(reader->packet);
        return error == AVERROR(ENOMEM) ? fail(reader, error) : CNukeVideo_StatusOK;
    }
}

// A decoded picture, if the decoder has one; StatusEnd: not yet.
static CNukeVideo_Status takePicture(CNukeVideo_Reader *reader) {
    const CNukeVideo_Library *library = reader->library;
    for (;;) {
        if (reader->isOver(reader->context)) return CNukeVideo_StatusInterrupted;
        int error = library->avcodec_receive_frame(reader->decoder, reader->scratch);
        if (error == AVERROR(ENOMEM)) return fail(reader, error);
        // What it wants is another packet, or it can make nothing of the last one.
        if (error < 0) return CNukeVideo_StatusEnd;
        if (reader->scratch->width <= 0 || reader->scratch->height <= 0) {
            library->av_frame_unref(reader->scratch);
            continue;
        }
        library->av_frame_unref(reader->current);
        library->av_frame_move_ref(reader->current, reader->scratch);
        reader->hasCurrent = true;
        return CNukeVideo_StatusOK;
    }
}

static void drain(CNukeVideo_Reader *reader) {
    if (reader->isDrained) return;
    reader->library->avcodec_send_packet(reader->decoder, NULL);
    reader->isDrained = true;
}

static CNukeVideo_Status nextPicture(CNukeVideo_Reader *reader, bool isLast) {
    for (;;) {
        CNukeVideo_Status status = takePicture(reader);
        if (status != CNukeVideo_StatusEnd || reader->isDrained) return status;
        bool isShown = false;
        status = reader->atEnd ? CNukeVideo_StatusEnd : readPacket(reader, &isShown);
        if (status == CNukeVideo_StatusEnd) {
            reader->atEnd = true;
            drain(reader);
        } else if (status != CNukeVideo_StatusOK) {
            return status;
        } else if (isLast && isShown) {
            drain(reader);
        }
    }
}

static void fillFrame(CNukeVideo_Reader *reader, CNukeVideo_Frame *frame) {
    const AVFrame *picture = reader->current;
    const AVStream *stream = reader->format->streams[reader->stream];
    const AVPixFmtDescriptor *format = reader->library->av_pix_fmt_desc_get(picture->format);
    double unit = ratio(stream->time_base);
    memset(frame, 0, sizeof *frame);
    int64_t time = picture->best_effort_timestamp;
    if (time != AV_NOPTS_VALUE) frame->time = ((double)time - (double)origin(stream)) * unit;
#if CNUKEVIDEO_HAS_FRAME_DURATION
    int64_t duration = picture->duration;
#else
    int64_t duration = picture->pkt_duration;
#endif
    frame->duration = duration > 0 ? (double)duration * unit : 0;
    frame->width = picture->width;
    frame->height = picture->height;
    frame->bitDepth = format ? format->comp[0].depth : 8;
    frame->hasAlpha = format && format->flags & AV_PIX_FMT_FLAG_ALPHA;
    frame->isDamaged = picture->decode_error_flags != 0 || (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0;
#ifdef AV_FRAME_FLAG_INTERLACED
    frame->isInterlaced = (picture->flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
    frame->isInterlaced = picture->interlaced_frame != 0;
#endif
    frame->primaries = (int32_t)picture->color_primaries;
    frame->transfer = (int32_t)picture->color_trc;
    frame->aspectNumerator = picture->sample_aspect_ratio.num;
    frame->aspectDenominator = picture->sample_aspect_ratio.den;
}

static CNukeVideo_Status readPicture(CNukeVideo_Reader *reader, bool isLast, CNukeVideo_Frame *frame) {
    if (reader->stream < 0) return say(reader, CNukeVideo_StatusCorrupt, "it is not open");
    CNukeVideo_Status status = nextPicture(reader, isLast);
    if (status == CNukeVideo_StatusOK) fillFrame(reader, frame);
    if (status != CNukeVideo_StatusEnd || reader->hasCurrent) return status;
    if (reader->wasCut) return say(reader, CNukeVideo_StatusTruncated, "");
    return say(reader, CNukeVideo_StatusCorrupt, "no picture of it can be decoded");
}

CNukeVideo_Status CNukeVideo_readFrame(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, bool isLast, CNukeVideo_Frame *frame) {
    WITH_INPUT(readPicture(reader, isLast, frame));
}
#else
CNukeVideo_Reader *CNukeVideo_createReader(
    const CNukeVideo_Library *library, bool (*isOver)(void *), void *context) {
    (void)library, (void)isOver, (void)context;
    return NULL;
}
void CNukeVideo_destroyReader(CNukeVideo_Reader *reader) { (void)reader; }
int64_t CNukeVideo_missingOffset(const CNukeVideo_Reader *reader) {
    (void)reader;
    return -1;
}
const char *CNukeVideo_message(const CNukeVideo_Reader *reader) {
    (void)reader;
    return "";
}
CNukeVideo_Status CNukeVideo_open(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, const CNukeVideo_Choice *choice,
    CNukeVideo_Description *description) {
    (void)reader, (void)input, (void)choice, (void)description;
    return CNukeVideo_StatusUnsupported;
}
CNukeVideo_Status CNukeVideo_seek(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, double seconds) {
    (void)reader, (void)input, (void)seconds;
    return CNukeVideo_StatusUnsupported;
}
CNukeVideo_Status CNukeVideo_restart(CNukeVideo_Reader *reader, const CNukeVideo_Input *input) {
    (void)reader, (void)input;
    return CNukeVideo_StatusUnsupported;
}
CNukeVideo_Status CNukeVideo_readFrame(
    CNukeVideo_Reader *reader, const CNukeVideo_Input *input, bool isLast, CNukeVideo_Frame *frame) {
    (void)reader, (void)input, (void)isLast, (void)frame;
    return CNukeVideo_StatusUnsupported;
}
CNukeVideo_Status CNukeVideo_copyPixels(
    CNukeVideo_Reader *reader, CNukeVideo_Reader *alpha, int32_t width, int32_t height, uint8_t *target,
    size_t rowBytes) {
    (void)reader, (void)alpha, (void)width, (void)height, (void)target, (void)rowBytes;
    return CNukeVideo_StatusUnsupported;
}
#endif
