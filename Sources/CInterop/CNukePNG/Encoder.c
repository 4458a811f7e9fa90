#include "CNukePNG.h"

#if __has_include(<png.h>)
#include "Fault.h"

#include <stdlib.h>
#include <string.h>

struct CNukePNG_Encoder {
    CNukePNG_Fault fault;
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    size_t rowBytes;  // of the rows taken; 0 before the picture is started
};

static void writeBytes(png_structp png, png_bytep source, size_t count) {
    CNukePNG_Encoder *encoder = png_get_io_ptr(png);
    if (count > encoder->capacity - encoder->count) {
        size_t capacity = encoder->capacity > 0 ? encoder->capacity : 4096;
        while (capacity - encoder->count < count && capacity <= SIZE_MAX / 2) capacity *= 2;
        uint8_t *bytes = capacity - encoder->count < count ? NULL : realloc(encoder->bytes, capacity);
        if (bytes == NULL) {
            encoder->fault.isOutOfMemory = true;
            png_error(png, "no memory for the file");
        }
        encoder->bytes = bytes;
        encoder->capacity = capacity;
    }
    memcpy(encoder->bytes + encoder->count, source, count);
    encoder->count += count;
}

static void flushBytes(png_structp png) { (void)png; }

CNukePNG_Encoder *CNukePNG_createEncoder(void) {
    if (!CNukePNG_isAvailable()) return NULL;
    CNukePNG_Encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) return NULL;
    if (setjmp(encoder->fault.escape)) {
        CNukePNG_destroyEncoder(encoder);
        return NULL;
    }
    encoder->png = png_create_write_struct_2(
        PNG_LIBPNG_VER_STRING, &encoder->fault, CNukePNG_onError, CNukePNG_onWarning, &encoder->fault,
        CNukePNG_allocate, CNukePNG_release);
    if (encoder->png == NULL) longjmp(encoder->fault.escape, 1);
    encoder->info = png_create_info_struct(encoder->png);
    if (encoder->info == NULL) longjmp(encoder->fault.escape, 1);
    png_set_write_fn(encoder->png, encoder, writeBytes, flushBytes);
    png_set_user_limits(encoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // A profile that libpng finds broken is left out: whoever reads with libpng would not heed it either.
    png_set_benign_errors(encoder->png, 1);
    return encoder;
}

void CNukePNG_destroyEncoder(CNukePNG_Encoder *encoder) {
    png_destroy_write_struct(&encoder->png, &encoder->info);
    free(encoder->bytes);
    free(encoder);
}

static int colorType(int channels) {
    if (channels == 1) return PNG_COLOR_TYPE_GRAY;
    return channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
}

CNukePNG_Status CNukePNG_startPicture(CNukePNG_Encoder *encoder, const CNukePNG_Picture *picture, int *passes) {
    if (setjmp(encoder->fault.escape)) return CNukePNG_status(&encoder->fault);
    png_set_IHDR(
        encoder->png, encoder->info, picture->width, picture->height, picture->bitDepth, colorType(picture->channels),
        picture->isInterlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
        PNG_FILTER_TYPE_BASE);
    if (picture->profile != NULL) {
        png_set_iCCP(
            encoder->png, encoder->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, picture->profile,
            picture->profileCount);
    }
    png_set_compression_level(encoder->png, picture->compressionLevel);
    png_set_filter(encoder->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_write_info(encoder->png, encoder->info);
    // As a chunk like any: libpng knows eXIf from 1.6.32 on only, and may be built without.
    if (picture->exifCount > 0 && picture->exif != NULL)
        png_write_chunk(encoder->png, (png_const_bytep)"eXIf", picture->exif, picture->exifCount);
    *passes = png_set_interlace_handling(encoder->png);
    encoder->rowBytes = png_get_rowbytes(encoder->png, encoder->info);
    return CNukePNG_ok;
}

CNukePNG_Status CNukePNG_writeRow(CNukePNG_Encoder *encoder, const uint8_t *row, size_t count) {
    if (setjmp(encoder->fault.escape)) return CNukePNG_status(&encoder->fault);
    if (encoder->rowBytes == 0 || count < encoder->rowBytes) png_error(encoder->png, "the row is too short");
    png_write_row(encoder->png, row);
    return CNukePNG_ok;
}

CNukePNG_Status CNukePNG_finishPicture(CNukePNG_Encoder *encoder) {
    if (setjmp(encoder->fault.escape)) return CNukePNG_status(&encoder->fault);
    png_write_end(encoder->png, encoder->info);
    return CNukePNG_ok;
}

uint8_t *CNukePNG_takeBytes(CNukePNG_Encoder *encoder, size_t *count) {
    uint8_t *bytes = encoder->bytes;
    *count = encoder->count;
    if (encoder->count > 0 && encoder->count < encoder->capacity) {
        uint8_t *trimmed = realloc(bytes, encoder->count);
        if (trimmed != NULL) bytes = trimmed;
    }
    encoder->bytes = NULL;
    encoder->count = encoder->capacity = 0;
    return bytes;
}

const char *CNukePNG_encoderMessage(const CNukePNG_Encoder *encoder) { return encoder->fault.message; }
#endif
