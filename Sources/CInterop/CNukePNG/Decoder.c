#include "CNukePNG.h"

#if __has_include(<png.h>)
#include "Fault.h"

#include <stdlib.h>
#include <string.h>

struct CNukePNG_Decoder {
    CNukePNG_Fault fault;
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count;
    size_t position;
    size_t width;
    size_t channels;  // of the rows that libpng gives, 1, 3 or 4; 0 before they are asked for
    size_t depth;     // bytes a sample of these rows
    size_t excess;    // bytes read after the last row was complete
    bool hasAlpha;
    bool isAppleVariant;
};

// After the last row libpng inflates whatever the stream still holds, in one go: a stream of 1 MiB can hold 1 GiB. More
// than that is not put up with.
static const size_t maximumExcess = (size_t)1 << 20;

static bool isBehindLastRow(const CNukePNG_Decoder *decoder) {
    return png_get_current_row_number(decoder->png) >= png_get_image_height(decoder->png, decoder->info)
        || png_get_current_pass_number(decoder->png) >= 7;
}

static void readBytes(png_structp png, png_bytep target, size_t count) {
    CNukePNG_Decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->count - decoder->position) {
        decoder->fault.isAtEnd = true;
        png_error(png, "the data ends too early");
    }
    if (decoder->channels > 0 && isBehindLastRow(decoder)) {
        decoder->excess += count;
        if (decoder->excess > maximumExcess) png_error(png, "the stream goes on long after the last row");
    }
    memcpy(target, decoder->bytes + decoder->position, count);
    decoder->position += count;
}

// All that libpng knows by name is passed over but what the pixels depend on and iCCP: text and the like are neither
// decompressed nor kept, however many of them there are.
static void chooseChunks(png_structp png) {
    static const png_byte profile[5] = {'i', 'C', 'C', 'P', 0};
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_AS_DEFAULT, profile, 1);
}

static void prepare(CNukePNG_Decoder *decoder, CNukePNG_Limits limits) {
    decoder->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, &decoder->fault, CNukePNG_onError, CNukePNG_onWarning, &decoder->fault,
        CNukePNG_allocate, CNukePNG_release);
    if (decoder->png == NULL) longjmp(decoder->fault.escape, 1);
    decoder->info = png_create_info_struct(decoder->png);
    if (decoder->info == NULL) longjmp(decoder->fault.escape, 1);
    png_set_read_fn(decoder->png, decoder, readBytes);
    png_set_user_limits(decoder->png, limits.sideLength, limits.sideLength);
    png_set_chunk_malloc_max(decoder->png, limits.chunkBytes);
    // A wrong checksum: of a chunk that the picture needs, an error; of another, the chunk does not count.
    png_set_crc_action(decoder->png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    decoder->isAppleVariant = limits.isAppleVariant;
    if (limits.isAppleVariant) png_set_option(decoder->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    // What libpng can put up with in other chunks it puts up with, in every build of it.
    png_set_benign_errors(decoder->png, 1);
    chooseChunks(decoder->png);
}

CNukePNG_Decoder *CNukePNG_createDecoder(const uint8_t *bytes, size_t count, CNukePNG_Limits limits) {
    if (!CNukePNG_isAvailable()) return NULL;
    CNukePNG_Decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL) return NULL;
    decoder->bytes = bytes;
    decoder->count = count;
    if (setjmp(decoder->fault.escape)) {
        CNukePNG_destroyDecoder(decoder);
        return NULL;
    }
    prepare(decoder, limits);
    return decoder;
}

void CNukePNG_destroyDecoder(CNukePNG_Decoder *decoder) {
    png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
    free(decoder);
}

CNukePNG_Status CNukePNG_readHeader(CNukePNG_Decoder *decoder, CNukePNG_Header *header) {
    if (setjmp(decoder->fault.escape)) return CNukePNG_status(&decoder->fault);
    png_read_info(decoder->png, decoder->info);
    decoder->hasAlpha = (png_get_color_type(decoder->png, decoder->info) & PNG_COLOR_MASK_ALPHA) != 0
        || png_get_valid(decoder->png, decoder->info, PNG_INFO_tRNS) != 0;
    header->width = png_get_image_width(decoder->png, decoder->info);
    header->height = png_get_image_height(decoder->png, decoder->info);
    header->hasAlpha = decoder->hasAlpha;
    png_charp name = NULL;
    png_bytep profile = NULL;
    png_uint_32 count = 0;
    int method = 0;
    bool hasProfile = png_get_iCCP(decoder->png, decoder->info, &name, &method, &profile, &count) != 0;
    header->profile = hasProfile ? profile : NULL;
    header->profileCount = hasProfile ? count : 0;
    return CNukePNG_ok;
}

CNukePNG_Status CNukePNG_start(CNukePNG_Decoder *decoder, bool keepsDepth, int *passes) {
    if (setjmp(decoder->fault.escape)) return CNukePNG_status(&decoder->fault);
    // Palettes, gray of 1, 2 and 4 bits and tRNS are expanded first, at the stored depth: a 16-bit key matches before
    // the samples are reduced to 8 bits.
    png_set_expand(decoder->png);
    int type = png_get_color_type(decoder->png, decoder->info);
    bool isColor = type == PNG_COLOR_TYPE_RGB || type == PNG_COLOR_TYPE_RGB_ALPHA;
    if (decoder->isAppleVariant && isColor && png_get_bit_depth(decoder->png, decoder->info) == 8) {
        png_set_bgr(decoder->png);
    }
    bool isWide = keepsDepth && png_get_bit_depth(decoder->png, decoder->info) == 16;
    if (!isWide) png_set_scale_16(decoder->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (isWide) png_set_swap(decoder->png);
#endif
    *passes = png_set_interlace_handling(decoder->png);
    if (decoder->hasAlpha) {
        png_set_gray_to_rgb(decoder->png);
    } else if (*passes > 1 || isWide) {
        // A pass changes pixels here and there, so they have to have their final width.
        png_set_gray_to_rgb(decoder->png);
        png_set_filler(decoder->png, 0xFFFF, PNG_FILLER_AFTER);
    }
    png_read_update_info(decoder->png, decoder->info);
    size_t width = png_get_image_width(decoder->png, decoder->info);
    size_t channels = png_get_channels(decoder->png, decoder->info);
    bool isFinal = decoder->hasAlpha || *passes > 1 || isWide;
    decoder->depth = isWide ? 2 : 1;
    if (png_get_rowbytes(decoder->png, decoder->info) != width * channels * decoder->depth
        || (channels != 4 && (isFinal || (channels != 1 && channels != 3)))) {
        png_error(decoder->png, "the rows are not as expected");
    }
    decoder->width = width;
    decoder->channels = channels;
    decoder->fault.isReadingRows = true;
    return CNukePNG_ok;
}

// Gray at the end of a row's memory becomes opaque RGBA all over it. What is written never overtakes what is read.
static void expandGray(uint8_t *row, size_t width) {
    const uint8_t *from = row + 3 * width;
    for (size_t x = 0; x < width; x++) {
        uint8_t gray = from[x];
        row[4 * x] = row[4 * x + 1] = row[4 * x + 2] = gray;
        row[4 * x + 3] = 0xFF;
    }
}

// The same for RGB. Four bytes are moved at once, of which the last is the next pixel's; so the last pixel goes alone.
static void expandRGB(uint8_t *row, size_t width) {
    const uint8_t *from = row + width;
    uint8_t *to = row;
    for (size_t left = width; left > 1; left--) {
        uint32_t pixel;
        memcpy(&pixel, from, 4);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        pixel |= 0xFF000000;
#else
        pixel |= 0xFF;
#endif
        memcpy(to, &pixel, 4);
        from += 3;
        to += 4;
    }
    memmove(to, from, 3);
    to[3] = 0xFF;
}

CNukePNG_Status CNukePNG_readRow(CNukePNG_Decoder *decoder, uint8_t *row, size_t capacity) {
    if (setjmp(decoder->fault.escape)) return CNukePNG_status(&decoder->fault);
    size_t width = decoder->width, channels = decoder->channels;
    if (channels == 0 || capacity / (4 * decoder->depth) < width) png_error(decoder->png, "no room for a row");
    png_read_row(decoder->png, row + (4 - channels) * width * decoder->depth, NULL);
    if (channels == 1) expandGray(row, width);
    if (channels == 3) expandRGB(row, width);
    return CNukePNG_ok;
}

const char *CNukePNG_decoderMessage(const CNukePNG_Decoder *decoder) { return decoder->fault.message; }
#endif
