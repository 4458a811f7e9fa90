#include "CNukePNG.h"

#if __has_include(<png.h>)
#include "Fault.h"

#include <stdlib.h>
#include <string.h>

const char *CNukePNG_version(void) { return png_get_libpng_ver(NULL); }

// The last two digits of the number are the release, which does not change the interface.
bool CNukePNG_isAvailable(void) { return png_access_version_number() / 100 == PNG_LIBPNG_VER / 100; }

CNukePNG_Status CNukePNG_status(const CNukePNG_Fault *fault) {
    if (fault->isAtEnd) return CNukePNG_truncated;
    return fault->isOutOfMemory ? CNukePNG_outOfMemory : CNukePNG_failed;
}

void CNukePNG_onError(png_structp png, png_const_charp message) {
    CNukePNG_Fault *fault = png_get_error_ptr(png);
    size_t length = 0;
    while (length + 1 < sizeof fault->message && message[length] != 0) {
        fault->message[length] = message[length];
        length++;
    }
    fault->message[length] = 0;
    longjmp(fault->escape, 1);
}

// Nothing is printed. While rows are read libpng only warns of faults that it finds behind the last one: more data than
// the picture needs harms nobody, but a stream whose checksum is wrong is as bad there as before.
void CNukePNG_onWarning(png_structp png, png_const_charp message) {
    CNukePNG_Fault *fault = png_get_error_ptr(png);
    if (!fault->isReadingRows) return;
    if (strstr(message, "Extra compressed data") == NULL && strstr(message, "Too much image data") == NULL) {
        CNukePNG_onError(png, message);
    }
}

png_voidp CNukePNG_allocate(png_structp png, png_alloc_size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) {
        CNukePNG_Fault *fault = png_get_mem_ptr(png);
        fault->isOutOfMemory = true;
    }
    return memory;
}

void CNukePNG_release(png_structp png, png_voidp memory) {
    (void)png;
    free(memory);
}

#else  // Built without libpng, so that a machine that lacks it can build all the rest.

const char *CNukePNG_version(void) { return NULL; }
bool CNukePNG_isAvailable(void) { return false; }

CNukePNG_Decoder *CNukePNG_createDecoder(const uint8_t *bytes, size_t count, CNukePNG_Limits limits) {
    (void)bytes, (void)count, (void)limits;
    return NULL;
}
void CNukePNG_destroyDecoder(CNukePNG_Decoder *decoder) { (void)decoder; }
CNukePNG_Status CNukePNG_readHeader(CNukePNG_Decoder *decoder, CNukePNG_Header *header) {
    (void)decoder, (void)header;
    return CNukePNG_unavailable;
}
CNukePNG_Status CNukePNG_start(CNukePNG_Decoder *decoder, bool keepsDepth, int *passes) {
    (void)decoder, (void)keepsDepth, (void)passes;
    return CNukePNG_unavailable;
}
CNukePNG_Status CNukePNG_readRow(CNukePNG_Decoder *decoder, uint8_t *row, size_t capacity) {
    (void)decoder, (void)row, (void)capacity;
    return CNukePNG_unavailable;
}
const char *CNukePNG_decoderMessage(const CNukePNG_Decoder *decoder) {
    (void)decoder;
    return "";
}

CNukePNG_Encoder *CNukePNG_createEncoder(void) { return NULL; }
void CNukePNG_destroyEncoder(CNukePNG_Encoder *encoder) { (void)encoder; }
CNukePNG_Status CNukePNG_startPicture(CNukePNG_Encoder *encoder, const CNukePNG_Picture *picture, int *passes) {
    (void)encoder, (void)picture, (void)passes;
    return CNukePNG_unavailable;
}
CNukePNG_Status CNukePNG_writeRow(CNukePNG_Encoder *encoder, const uint8_t *row, size_t count) {
    (void)encoder, (void)row, (void)count;
    return CNukePNG_unavailable;
}
CNukePNG_Status CNukePNG_finishPicture(CNukePNG_Encoder *encoder) {
    (void)encoder;
    return CNukePNG_unavailable;
}
uint8_t *CNukePNG_takeBytes(CNukePNG_Encoder *encoder, size_t *count) {
    (void)encoder, (void)count;
    return NULL;
}
const char *CNukePNG_encoderMessage(const CNukePNG_Encoder *encoder) {
    (void)encoder;
    return "";
}

#endif
