#include "CNukeWebP.h"

#if __has_include(<webp/decode.h>) && __has_include(<webp/encode.h>)
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

struct CNukeWebP_Decoder {
    WebPDecoderConfig config;  // libwebp keeps pointers into it
    WebPIDecoder *decoder;
    size_t bytesPerRow;
    int width;
    int height;
    int rows;
    bool fillsAlpha;
};

int CNukeWebP_version(void) { return WebPGetDecoderVersion(); }

// The initialisers compare the major number of the interface's version that this was compiled with.
bool CNukeWebP_isAvailable(void) {
    WebPDecoderConfig config;
    return WebPInitDecoderConfig(&config) != 0;
}

CNukeWebP_Decoder *CNukeWebP_createDecoder(CNukeWebP_Target target) {
    if (target.width <= 0 || target.height <= 0 || target.bytesPerRow / 4 < (size_t)target.width) return NULL;
    if (target.bytesPerRow > INT32_MAX) return NULL;
    CNukeWebP_Decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    if (!WebPInitDecoderConfig(&decoder->config)) {
        free(decoder);
        return NULL;
    }
    decoder->config.options.use_scaling = target.isReduced;
    decoder->config.options.scaled_width = target.width;
    decoder->config.options.scaled_height = target.height;
    decoder->config.output.colorspace = target.hasAlpha ? MODE_rgbA : MODE_RGBA;
    decoder->config.output.is_external_memory = 1;
    decoder->bytesPerRow = target.bytesPerRow;
    decoder->width = target.width;
    decoder->height = target.height;
    decoder->fillsAlpha = target.fillsAlpha;
    decoder->decoder = WebPIDecode(NULL, 0, &decoder->config);
    if (decoder->decoder == NULL) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void CNukeWebP_destroyDecoder(CNukeWebP_Decoder *decoder) {
    WebPIDelete(decoder->decoder);
    free(decoder);
}

// A lossless picture that says it has no alpha may store some all the same; by that word it is opaque.
static void fillAlpha(uint8_t *row, int width) {
    for (int x = 0; x < width; x++) row[4 * x + 3] = 0xFF;
}

static CNukeWebP_Status status(VP8StatusCode code) {
    switch (code) {
        case VP8_STATUS_OK: return CNukeWebP_ok;
        case VP8_STATUS_SUSPENDED:
        case VP8_STATUS_NOT_ENOUGH_DATA: return CNukeWebP_needsInput;
        case VP8_STATUS_OUT_OF_MEMORY: return CNukeWebP_outOfMemory;
        case VP8_STATUS_UNSUPPORTED_FEATURE: return CNukeWebP_unsupported;
        default: return CNukeWebP_corrupt;
    }
}

CNukeWebP_Status CNukeWebP_decode(
    CNukeWebP_Decoder *decoder, const uint8_t *bytes, size_t count, uint8_t *pixels, size_t capacity, int *rows) {
    size_t needed = decoder->bytesPerRow * (size_t)(decoder->height - 1) + 4 * (size_t)decoder->width;
    if (capacity < needed) return CNukeWebP_corrupt;
    // The library reads these each time that it writes rows.
    decoder->config.output.u.RGBA.rgba = pixels;
    decoder->config.output.u.RGBA.stride = (int)decoder->bytesPerRow;
    decoder->config.output.u.RGBA.size = needed;
    VP8StatusCode code = WebPIUpdate(decoder->decoder, bytes, count);
    int end = 0;
    if (code == VP8_STATUS_OK) {
        end = decoder->height;
    } else if (WebPIDecGetRGB(decoder->decoder, &end, NULL, NULL, NULL) == NULL) {
        end = 0;
    }
    if (end > decoder->height) end = decoder->height;
    while (decoder->rows < end) {
        if (decoder->fillsAlpha) fillAlpha(pixels + decoder->bytesPerRow * (size_t)decoder->rows, decoder->width);
        decoder->rows++;
    }
    *rows = decoder->rows;
    return status(code);
}
#endif
