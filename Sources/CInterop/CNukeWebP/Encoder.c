#include "CNukeWebP.h"

#if __has_include(<webp/decode.h>) && __has_include(<webp/encode.h>)
#include <stdlib.h>
#include <webp/encode.h>

struct CNukeWebP_Encoder {
    WebPPicture picture;
    WebPMemoryWriter writer;
    bool isDone;
};

CNukeWebP_Encoder *CNukeWebP_createEncoder(int width, int height) {
    if (width <= 0 || height <= 0 || width > WEBP_MAX_DIMENSION || height > WEBP_MAX_DIMENSION) return NULL;
    CNukeWebP_Encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder == NULL) return NULL;
    WebPMemoryWriterInit(&encoder->writer);
    if (WebPPictureInit(&encoder->picture)) {
        encoder->picture.use_argb = 1;
        encoder->picture.width = width;
        encoder->picture.height = height;
        if (WebPPictureAlloc(&encoder->picture)) return encoder;
    }
    free(encoder);
    return NULL;
}

void CNukeWebP_destroyEncoder(CNukeWebP_Encoder *encoder) {
    WebPPictureFree(&encoder->picture);
    WebPMemoryWriterClear(&encoder->writer);
    free(encoder);
}

// Rounded up, because the library rounds down where it multiplies by alpha: so decoding gives the sample back.
static inline uint32_t straight(uint32_t sample, uint32_t alpha) {
    uint32_t value = (sample * 255 + alpha - 1) / alpha;
    return value < 255 ? value : 255;
}

void CNukeWebP_setRow(CNukeWebP_Encoder *encoder, int y, const uint8_t *row, bool isOpaque) {
    if (y < 0 || y >= encoder->picture.height) return;
    uint32_t *target = encoder->picture.argb + (size_t)y * (size_t)encoder->picture.argb_stride;
    for (int x = 0; x < encoder->picture.width; x++, row += 4) {
        uint32_t red = row[0], green = row[1], blue = row[2], alpha = isOpaque ? 255 : row[3];
        if (alpha == 0) {
            red = green = blue = 0;
        } else if (alpha < 255) {
            red = straight(red, alpha);
            green = straight(green, alpha);
            blue = straight(blue, alpha);
        }
        target[x] = alpha << 24 | red << 16 | green << 8 | blue;
    }
}

CNukeWebP_Status CNukeWebP_encode(CNukeWebP_Encoder *encoder, CNukeWebP_EncodingOptions options) {
    WebPConfig config;
    if (!WebPConfigInit(&config)) return CNukeWebP_unavailable;
    if (options.isLossless) {
        if (!WebPConfigLosslessPreset(&config, options.effort)) return CNukeWebP_failed;
        // Colour where alpha is 0 is black in the bitmap, and stays so.
        config.exact = 1;
    } else {
        config.quality = options.quality;
        config.use_sharp_yuv = options.isChromaSharp;
    }
    if (!WebPValidateConfig(&config)) return CNukeWebP_failed;
    encoder->picture.writer = WebPMemoryWrite;
    encoder->picture.custom_ptr = &encoder->writer;
    encoder->isDone = WebPEncode(&config, &encoder->picture) != 0;
    if (!encoder->isDone && encoder->picture.error_code == VP8_ENC_ERROR_PARTITION0_OVERFLOW) {
        // The modes of the blocks have 512 KB; what does not fit is stored with coarser ones.
        config.partition_limit = 100;
        WebPMemoryWriterClear(&encoder->writer);
        encoder->isDone = WebPEncode(&config, &encoder->picture) != 0;
    }
    if (encoder->isDone) return CNukeWebP_ok;
    switch (encoder->picture.error_code) {
        case VP8_ENC_ERROR_OUT_OF_MEMORY:
        case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY: return CNukeWebP_outOfMemory;
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
        case VP8_ENC_ERROR_PARTITION_OVERFLOW:
        case VP8_ENC_ERROR_FILE_TOO_BIG: return CNukeWebP_unsupported;
        default: return CNukeWebP_failed;
    }
}

const uint8_t *CNukeWebP_bytes(const CNukeWebP_Encoder *encoder, size_t *count) {
    *count = encoder->isDone ? encoder->writer.size : 0;
    return encoder->isDone ? encoder->writer.mem : NULL;
}

int CNukeWebP_encoderError(const CNukeWebP_Encoder *encoder) { return (int)encoder->picture.error_code; }
#endif
