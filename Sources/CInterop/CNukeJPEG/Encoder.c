// Encoding, into memory that grows.
#include "Library.h"

#ifdef CNUKEJPEG_HAS_LIBRARY

#include <stdlib.h>
#include <string.h>

enum { rowsAtOnce = 16, firstCapacity = 64 << 10 };

struct CNukeJPEG_Encoder {
    CNukeJPEG_Failure failure;
    struct jpeg_compress_struct info;
    struct jpeg_destination_mgr destination;
    uint8_t *bytes;
    size_t capacity;
    size_t count;  // once finished
};

static CNukeJPEG_Encoder *encoderOf(j_compress_ptr info) { return info->client_data; }

// MARK: Destination

static void grow(CNukeJPEG_Encoder *encoder, size_t used, size_t capacity) {
    uint8_t *bytes = realloc(encoder->bytes, capacity);
    if (!bytes) CNukeJPEG_fail(&encoder->failure, CNukeJPEG_StatusOutOfMemory, "no memory for the file");
    encoder->bytes = bytes;
    encoder->capacity = capacity;
    encoder->destination.next_output_byte = bytes + used;
    encoder->destination.free_in_buffer = capacity - used;
}

static void beginOutput(j_compress_ptr info) { grow(encoderOf(info), 0, firstCapacity); }

// Called when the buffer is full; whatever the pointers say then, all of it counts.
static boolean continueOutput(j_compress_ptr info) {
    CNukeJPEG_Encoder *encoder = encoderOf(info);
    grow(encoder, encoder->capacity, encoder->capacity * 2);
    return TRUE;
}

static void endOutput(j_compress_ptr info) {
    CNukeJPEG_Encoder *encoder = encoderOf(info);
    encoder->count = encoder->capacity - encoder->destination.free_in_buffer;
}

// MARK: Life

CNukeJPEG_Encoder *CNukeJPEG_encoderCreate(void) {
    CNukeJPEG_Encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->info.err = CNukeJPEG_failureInit(&encoder->failure);
    if (setjmp(encoder->failure.escape)) return encoder;
    jpeg_create_compress(&encoder->info);
    encoder->info.client_data = encoder;
    encoder->info.dest = &encoder->destination;
    encoder->destination.init_destination = beginOutput;
    encoder->destination.empty_output_buffer = continueOutput;
    encoder->destination.term_destination = endOutput;
    return encoder;
}

void CNukeJPEG_encoderDestroy(CNukeJPEG_Encoder *encoder) {
    jpeg_destroy_compress(&encoder->info);
    free(encoder->bytes);
    free(encoder);
}

const char *CNukeJPEG_encoderMessage(const CNukeJPEG_Encoder *encoder) { return encoder->failure.message; }

// MARK: Pixels

static void writeEXIF(j_compress_ptr info, const uint8_t *exif, size_t count) {
    static const char header[6] = "Exif\0";  // and another 0
    if (count > 65533 - sizeof header)
        CNukeJPEG_fail(&encoderOf(info)->failure, CNukeJPEG_StatusUnsupported, "the EXIF data is too large");
    jpeg_write_m_header(info, JPEG_APP0 + 1, (unsigned)(count + sizeof header));
    for (size_t i = 0; i < sizeof header; i++) jpeg_write_m_byte(info, header[i]);
    for (size_t i = 0; i < count; i++) jpeg_write_m_byte(info, exif[i]);
}

CNukeJPEG_Status CNukeJPEG_encoderStart(CNukeJPEG_Encoder *encoder, const CNukeJPEG_EncodingOptions *options) {
    if (encoder->failure.status) return encoder->failure.status;
    if (setjmp(encoder->failure.escape)) return encoder->failure.status;
    struct jpeg_compress_struct *info = &encoder->info;
    info->image_width = (JDIMENSION)options->width;
    info->image_height = (JDIMENSION)options->height;
    info->input_components = options->isGray ? 1 : 4;
    info->in_color_space = options->isGray ? JCS_GRAYSCALE : JCS_EXT_RGBX;
    jpeg_set_defaults(info);  // 4:2:0 among them
    jpeg_set_quality(info, options->quality, TRUE);
    if (!options->isChromaHalved) info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = 1;
    if (options->isProgressive) jpeg_simple_progression(info);
    info->optimize_coding = TRUE;
    jpeg_start_compress(info, TRUE);
    if (options->exifCount > 0 && options->exif) writeEXIF(info, options->exif, options->exifCount);
    if (options->iccProfileCount > 0 && options->iccProfile)
        jpeg_write_icc_profile(info, options->iccProfile, (unsigned)options->iccProfileCount);
    return CNukeJPEG_StatusOk;
}

CNukeJPEG_Status CNukeJPEG_encoderWriteRows(
    CNukeJPEG_Encoder *encoder, const uint8_t *rows, size_t bytesPerRow, int count) {
    if (encoder->failure.status) return encoder->failure.status;
    if (setjmp(encoder->failure.escape)) return encoder->failure.status;
    struct jpeg_compress_struct *info = &encoder->info;
    if (bytesPerRow < (size_t)info->image_width * (size_t)info->input_components)
        CNukeJPEG_fail(&encoder->failure, CNukeJPEG_StatusCorrupt, "the rows given are too short");
    for (int row = 0; row < count;) {
        JSAMPROW pointers[rowsAtOnce];
        int given = count - row < rowsAtOnce ? count - row : rowsAtOnce;
        // The library does not write to rows, though its type has no const.
        for (int i = 0; i < given; i++) pointers[i] = (JSAMPROW)(rows + (size_t)(row + i) * bytesPerRow);
        JDIMENSION taken = jpeg_write_scanlines(info, pointers, (JDIMENSION)given);
        if (taken == 0) CNukeJPEG_fail(&encoder->failure, CNukeJPEG_StatusCorrupt, "more rows than the picture has");
        row += (int)taken;
    }
    return CNukeJPEG_StatusOk;
}

CNukeJPEG_Status CNukeJPEG_encoderFinish(CNukeJPEG_Encoder *encoder) {
    if (encoder->failure.status) return encoder->failure.status;
    if (setjmp(encoder->failure.escape)) return encoder->failure.status;
    jpeg_finish_compress(&encoder->info);
    return CNukeJPEG_StatusOk;
}

const uint8_t *CNukeJPEG_encoderBytes(const CNukeJPEG_Encoder *encoder, size_t *count) {
    *count = encoder->count;
    return encoder->count > 0 ? encoder->bytes : NULL;
}

#else

CNukeJPEG_Encoder *CNukeJPEG_encoderCreate(void) { return NULL; }

void CNukeJPEG_encoderDestroy(CNukeJPEG_Encoder *encoder) { (void)encoder; }

const char *CNukeJPEG_encoderMessage(const CNukeJPEG_Encoder *encoder) {
    (void)encoder;
    return "";
}

CNukeJPEG_Status CNukeJPEG_encoderStart(CNukeJPEG_Encoder *encoder, const CNukeJPEG_EncodingOptions *options) {
    (void)encoder, (void)options;
    return CNukeJPEG_StatusUnavailable;
}

CNukeJPEG_Status CNukeJPEG_encoderWriteRows(
    CNukeJPEG_Encoder *encoder, const uint8_t *rows, size_t bytesPerRow, int count) {
    (void)encoder, (void)rows, (void)bytesPerRow, (void)count;
    return CNukeJPEG_StatusUnavailable;
}

CNukeJPEG_Status CNukeJPEG_encoderFinish(CNukeJPEG_Encoder *encoder) {
    (void)encoder;
    return CNukeJPEG_StatusUnavailable;
}

const uint8_t *CNukeJPEG_encoderBytes(const CNukeJPEG_Encoder *encoder, size_t *count) {
    (void)encoder;
    *count = 0;
    return NULL;
}

#endif
