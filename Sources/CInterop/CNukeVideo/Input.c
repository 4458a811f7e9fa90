#include "Reader.h"

#ifdef CNUKEVIDEO_HAS_HEADERS
#include <errno.h>
#include <string.h>
#include <unistd.h>

// How much is read at a time: as much as the index of an ordinary clip.
enum { bufferSize = 32 << 10 };

// How many bytes are there from `position` on; 0: none, though the whole goes on.
static int64_t available(const CNukeVideo_Input *input, int64_t position) {
    int64_t count = input->count > INT64_MAX ? INT64_MAX : (int64_t)input->count;
    int64_t arrived = input->arrived < count ? input->arrived : count;
    if (position < arrived) return arrived - position;
    for (size_t i = 0; i < input->rangeCount; i++) {
        int64_t end = input->ranges[i].end < count ? input->ranges[i].end : count;
        if (position >= input->ranges[i].start && position < end) return end - position;
    }
    return 0;
}

static int readBytes(void *opaque, uint8_t *buffer, int size) {
    CNukeVideo_Reader *reader = opaque;
    const CNukeVideo_Input *input = reader->input;
    if (!input || size <= 0) return AVERROR(EINVAL);
    if (reader->isOver(reader->context)) return AVERROR_EXIT;
    if (reader->position >= input->size) {
        reader->hitEnd = true;
        return AVERROR_EOF;
    }
    if (!input->bytes) {
        ssize_t count;
        do count = pread(input->file, buffer, (size_t)size, reader->position);
        while (count < 0 && errno == EINTR);
        if (count < 0) return AVERROR(errno);
        if (count == 0) {
            reader->hitEnd = true;
            return AVERROR_EOF;
        }
        reader->position += count;
        return (int)count;
    }
    int64_t count = available(input, reader->position);
    if (count == 0) {
        reader->missing = reader->position;
        return AVERROR_EOF;
    }
    if (count > size) count = size;
    memcpy(buffer, input->bytes + reader->position, (size_t)count);
    reader->position += count;
    return (int)count;
}

static int64_t seek(void *opaque, int64_t offset, int whence) {
    CNukeVideo_Reader *reader = opaque;
    const CNukeVideo_Input *input = reader->input;
    if (!input) return AVERROR(EINVAL);
    if (whence & AVSEEK_SIZE) return input->size;
    whence &= ~AVSEEK_FORCE;
    if (whence == SEEK_CUR) {
        if (__builtin_add_overflow(offset, reader->position, &offset)) return AVERROR(EINVAL);
    } else if (whence == SEEK_END) {
        if (__builtin_add_overflow(offset, input->size, &offset)) return AVERROR(EINVAL);
    } else if (whence != SEEK_SET) {
        return AVERROR(EINVAL);
    }
    if (offset < 0) return AVERROR(EINVAL);
    reader->position = offset;
    return offset;
}

AVIOContext *CNukeVideo_makeIO(CNukeVideo_Reader *reader) {
    const CNukeVideo_Library *library = reader->library;
    unsigned char *buffer = library->av_malloc(bufferSize);
    if (!buffer) return NULL;
    AVIOContext *io = library->avio_alloc_context(buffer, bufferSize, 0, reader, readBytes, NULL, seek);
    if (!io) library->av_free(buffer);
    return io;
}

void CNukeVideo_destroyIO(CNukeVideo_Reader *reader) {
    if (!reader->io) return;
    reader->library->av_free(reader->io->buffer);
    reader->library->avio_context_free(&reader->io);
}
#endif
