#include "Library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CNUKEHEIF_HAS_HEADERS

struct CNukeHEIF_Encoder {
    const CNukeHEIF_Library *library;
    struct heif_context *context;
    struct heif_encoder *encoder;
    struct heif_image *image;
    uint8_t *pixels;
    int stride;
    int32_t height;
    uint8_t *file;
    size_t count, capacity;
    char message[200];
};

static CNukeHEIF_Status check(CNukeHEIF_Encoder *encoder, struct heif_error error) {
    return CNukeHEIF_statusOf(error, encoder->message, sizeof encoder->message);
}

CNukeHEIF_Encoder *CNukeHEIF_createEncoder(const CNukeHEIF_Library *library) {
    CNukeHEIF_Encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) return NULL;
    encoder->library = library;
    encoder->context = library->context_alloc();
    if (!encoder->context) {
        free(encoder);
        return NULL;
    }
    return encoder;
}

void CNukeHEIF_destroyEncoder(CNukeHEIF_Encoder *encoder) {
    const CNukeHEIF_Library *library = encoder->library;
    if (encoder->image) library->image_release(encoder->image);
    if (encoder->encoder) library->encoder_release(encoder->encoder);
    library->context_free(encoder->context);
    free(encoder->file);
    free(encoder);
}

// Settings that an encoder does not have are left out: libheif has several for each format.
static CNukeHEIF_Status configure(CNukeHEIF_Encoder *encoder, const CNukeHEIF_EncodingOptions *options) {
    const CNukeHEIF_Library *library = encoder->library;
    int isAV1 = options->codec == CNukeHEIF_CodecAV1;
    enum heif_compression_format format = isAV1 ? heif_compression_AV1 : heif_compression_HEVC;
    struct heif_error error = library->context_get_encoder_for_format(encoder->context, format, &encoder->encoder);
    if (error.code != heif_error_Ok) {
        check(encoder, error);
        return CNukeHEIF_StatusNoCodec;
    }
    CNukeHEIF_Status status = check(encoder, library->encoder_set_lossy_quality(encoder->encoder, options->quality));
    if (status != CNukeHEIF_StatusOK) return status;
    library->encoder_set_parameter(encoder->encoder, "chroma", options->isChromaHalved ? "420" : "444");
    // One thread: the caller's are the ones that work at a time, and the bytes are the same each time.
    if (isAV1) {
        library->encoder_set_parameter(encoder->encoder, "threads", "1");
        library->encoder_set_parameter(encoder->encoder, "speed", "6");
    } else {
        library->encoder_set_parameter(encoder->encoder, "x265:pools", "none");
        library->encoder_set_parameter(encoder->encoder, "x265:frame-threads", "1");
        library->encoder_set_parameter(encoder->encoder, "preset", "medium");
    }
    return CNukeHEIF_StatusOK;
}

CNukeHEIF_Status CNukeHEIF_start(CNukeHEIF_Encoder *encoder, const CNukeHEIF_EncodingOptions *options) {
    const CNukeHEIF_Library *library = encoder->library;
    CNukeHEIF_Status status = configure(encoder, options);
    if (status != CNukeHEIF_StatusOK) return status;
    int isGray = options->channelCount == 1;
    enum heif_chroma chroma = isGray ? heif_chroma_monochrome
        : options->channelCount == 3 ? heif_chroma_interleaved_RGB : heif_chroma_interleaved_RGBA;
    status = check(encoder, library->image_create(
        options->width, options->height, isGray ? heif_colorspace_monochrome : heif_colorspace_RGB, chroma,
        &encoder->image));
    if (status != CNukeHEIF_StatusOK) return status;
    enum heif_channel channel = isGray ? heif_channel_Y : heif_channel_interleaved;
    status = check(
        encoder, library->image_add_plane(encoder->image, channel, options->width, options->height, 8));
    if (status != CNukeHEIF_StatusOK) return status;
    encoder->pixels = library->image_get_plane(encoder->image, channel, &encoder->stride);
    encoder->height = options->height;
    if (!encoder->pixels) return CNukeHEIF_StatusOutOfMemory;
    if (options->profileCount == 0) return CNukeHEIF_StatusOK;
    return check(encoder, library->image_set_raw_color_profile(
        encoder->image, "prof", options->profile, options->profileCount));
}

uint8_t *CNukeHEIF_encoderRow(CNukeHEIF_Encoder *encoder, int32_t y) {
    if (!encoder->pixels || y < 0 || y >= encoder->height) return NULL;
    return encoder->pixels + (size_t)y * (size_t)encoder->stride;
}

static struct heif_error write_(struct heif_context *context, const void *bytes, size_t count, void *encoder_) {
    (void)context;
    CNukeHEIF_Encoder *encoder = encoder_;
    struct heif_error error = {heif_error_Ok, heif_suberror_Unspecified, ""};
    if (count > encoder->capacity - encoder->count) {
        size_t capacity = encoder->count + count;
        uint8_t *file = realloc(encoder->file, capacity);
        if (!file) {
            error.code = heif_error_Memory_allocation_error;
            return error;
        }
        encoder->file = file;
        encoder->capacity = capacity;
    }
    memcpy(encoder->file + encoder->count, bytes, count);
    encoder->count += count;
    return error;
}

CNukeHEIF_Status CNukeHEIF_finish(CNukeHEIF_Encoder *encoder, const uint8_t *exif, size_t exifCount) {
    const CNukeHEIF_Library *library = encoder->library;
    struct heif_encoding_options *options = library->encoding_options_alloc();
    struct heif_color_profile_nclx *coding = library->nclx_color_profile_alloc();
    CNukeHEIF_Status status = CNukeHEIF_StatusOutOfMemory;
    if (options && coding) {
        // Colours are told in full either way: libheif's default for luma and chroma, beside a profile or alone.
        coding->color_primaries = heif_color_primaries_ITU_R_BT_709_5;
        coding->transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1;
        coding->matrix_coefficients = heif_matrix_coefficients_ITU_R_BT_601_6;
        coding->full_range_flag = 1;
        if (options->version >= 3) options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
        if (options->version >= 4) options->output_nclx_profile = coding;
        struct heif_image_handle *handle = NULL;
        status = check(encoder, library->context_encode_image(
            encoder->context, encoder->image, encoder->encoder, options, &handle));
        if (status == CNukeHEIF_StatusOK && exif && exifCount > 0) {
            status = exifCount > INT_MAX ? CNukeHEIF_StatusUnsupported
                : check(encoder, library->context_add_exif_metadata(encoder->context, handle, exif, (int)exifCount));
        }
        if (handle) library->image_handle_release(handle);
    }
    if (coding) library->nclx_color_profile_free(coding);
    if (options) library->encoding_options_free(options);
    if (status != CNukeHEIF_StatusOK) return status;
    struct heif_writer writer = {.writer_api_version = 1, .write = write_};
    return check(encoder, library->context_write(encoder->context, &writer, encoder));
}

uint8_t *CNukeHEIF_takeFile(CNukeHEIF_Encoder *encoder, size_t *count) {
    uint8_t *file = encoder->file;
    *count = encoder->count;
    encoder->file = NULL;
    encoder->count = encoder->capacity = 0;
    return file;
}

const char *CNukeHEIF_encoderMessage(const CNukeHEIF_Encoder *encoder) { return encoder->message; }

#else
// Without a library there is no encoder, so only creating one is ever called.

CNukeHEIF_Encoder *CNukeHEIF_createEncoder(const CNukeHEIF_Library *library) {
    (void)library;
    return NULL;
}
void CNukeHEIF_destroyEncoder(CNukeHEIF_Encoder *encoder) { (void)encoder; }
CNukeHEIF_Status CNukeHEIF_start(CNukeHEIF_Encoder *encoder, const CNukeHEIF_EncodingOptions *options) {
    (void)encoder, (void)options;
    return CNukeHEIF_StatusNoCodec;
}
uint8_t *CNukeHEIF_encoderRow(CNukeHEIF_Encoder *encoder, int32_t y) {
    (void)encoder, (void)y;
    return NULL;
}
CNukeHEIF_Status CNukeHEIF_finish(CNukeHEIF_Encoder *encoder, const uint8_t *exif, size_t exifCount) {
    (void)encoder, (void)exif, (void)exifCount;
    return CNukeHEIF_StatusNoCodec;
}
uint8_t *CNukeHEIF_takeFile(CNukeHEIF_Encoder *encoder, size_t *count) {
    (void)encoder;
    *count = 0;
    return NULL;
}
const char *CNukeHEIF_encoderMessage(const CNukeHEIF_Encoder *encoder) {
    (void)encoder;
    return "";
}
#endif
