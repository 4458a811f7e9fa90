#include "Library.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef CNUKEHEIF_HAS_HEADERS
#include "OneProcessor.h"
#include "Planes.h"

struct CNukeHEIF_Decoder {
    const CNukeHEIF_Library *library;
    struct heif_context *context;
    struct heif_image_handle *primary;
    struct heif_image_handle *thumbnail;  // NULL unless it is chosen
    struct heif_image *image;
    CNukeHEIF_Planes planes;
    char message[200];
};

static struct heif_image_handle *chosen(const CNukeHEIF_Decoder *decoder) {
    return decoder->thumbnail ? decoder->thumbnail : decoder->primary;
}

static CNukeHEIF_Status fail(CNukeHEIF_Decoder *decoder, CNukeHEIF_Status status, const char *message) {
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
    return status;
}

static CNukeHEIF_Status check(CNukeHEIF_Decoder *decoder, struct heif_error error) {
    return CNukeHEIF_statusOf(error, decoder->message, sizeof decoder->message);
}

CNukeHEIF_Decoder *CNukeHEIF_createDecoder(const CNukeHEIF_Library *library) {
    CNukeHEIF_Decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->library = library;
    decoder->context = library->context_alloc();
    if (!decoder->context) {
        free(decoder);
        return NULL;
    }
    return decoder;
}

void CNukeHEIF_destroyDecoder(CNukeHEIF_Decoder *decoder) {
    const CNukeHEIF_Library *library = decoder->library;
    if (decoder->image) library->image_release(decoder->image);
    if (decoder->thumbnail) library->image_handle_release(decoder->thumbnail);
    if (decoder->primary) library->image_handle_release(decoder->primary);
    library->context_free(decoder->context);
    free(decoder);
}

CNukeHEIF_Status CNukeHEIF_openData(CNukeHEIF_Decoder *decoder, const uint8_t *bytes, size_t count, int32_t sideLimit) {
    const CNukeHEIF_Library *library = decoder->library;
    library->context_set_maximum_image_size_limit(decoder->context, sideLimit);
    // Tiles of a grid are decoded one after the other: how much runs at a time is for the caller's threads to say.
    library->context_set_max_decoding_threads(decoder->context, 0);
    struct heif_error error = library->context_read_from_memory_without_copy(decoder->context, bytes, count, NULL);
    CNukeHEIF_Status status = check(decoder, error);
    if (status != CNukeHEIF_StatusOK) return status;
    status = check(decoder, library->context_get_primary_image_handle(decoder->context, &decoder->primary));
    if (status == CNukeHEIF_StatusOK && !decoder->primary)
        return fail(decoder, CNukeHEIF_StatusCorrupt, "there is no primary picture");
    return status;
}

CNukeHEIF_Status CNukeHEIF_selectThumbnail(CNukeHEIF_Decoder *decoder) {
    const CNukeHEIF_Library *library = decoder->library;
    enum { limit = 16 };
    heif_item_id items[limit];
    int count = library->image_handle_get_list_of_thumbnail_IDs(decoder->primary, items, limit);
    for (int index = 0; index < count; index++) {
        struct heif_image_handle *handle = NULL;
        struct heif_error error = library->image_handle_get_thumbnail(decoder->primary, items[index], &handle);
        if (error.code != heif_error_Ok || !handle) continue;
        if (decoder->thumbnail && library->image_handle_get_width(handle) <=
                library->image_handle_get_width(decoder->thumbnail)) {
            library->image_handle_release(handle);
            continue;
        }
        if (decoder->thumbnail) library->image_handle_release(decoder->thumbnail);
        decoder->thumbnail = handle;
    }
    return decoder->thumbnail ? CNukeHEIF_StatusOK : fail(decoder, CNukeHEIF_StatusUnsupported, "there is no thumbnail");
}

static int findExif(const CNukeHEIF_Decoder *decoder, heif_item_id *item) {
    return decoder->library->image_handle_get_list_of_metadata_block_IDs(decoder->primary, "Exif", item, 1) == 1;
}

void CNukeHEIF_getPicture(CNukeHEIF_Decoder *decoder, CNukeHEIF_Picture *picture) {
    const CNukeHEIF_Library *library = decoder->library;
    struct heif_image_handle *handle = chosen(decoder);
    picture->width = library->image_handle_get_width(handle);
    picture->height = library->image_handle_get_height(handle);
    picture->codedWidth = library->image_handle_get_ispe_width(handle);
    picture->codedHeight = library->image_handle_get_ispe_height(handle);
    picture->bitDepth = library->image_handle_get_luma_bits_per_pixel(handle);
    picture->hasAlpha = library->image_handle_has_alpha_channel(handle);
    picture->thumbnailCount = library->image_handle_get_number_of_thumbnails(decoder->primary);
    picture->profileCount = library->image_handle_get_raw_color_profile_size(handle);
    heif_item_id exif;
    picture->exifCount =
        findExif(decoder, &exif) ? library->image_handle_get_metadata_size(decoder->primary, exif) : 0;
}

CNukeHEIF_Status CNukeHEIF_copyProfile(CNukeHEIF_Decoder *decoder, uint8_t *profile) {
    return check(decoder, decoder->library->image_handle_get_raw_color_profile(chosen(decoder), profile));
}

CNukeHEIF_Status CNukeHEIF_copyExif(CNukeHEIF_Decoder *decoder, uint8_t *exif) {
    heif_item_id item;
    if (!findExif(decoder, &item)) return CNukeHEIF_StatusCorrupt;
    return check(decoder, decoder->library->image_handle_get_metadata(decoder->primary, item, exif));
}

static void take(const struct heif_color_profile_nclx *profile, CNukeHEIF_Coding *coding) {
    coding->primaries = (uint16_t)profile->color_primaries;
    coding->transfer = (uint16_t)profile->transfer_characteristics;
    coding->matrix = (uint16_t)profile->matrix_coefficients;
    coding->isFullRange = profile->full_range_flag != 0;
}

int CNukeHEIF_getCoding(CNukeHEIF_Decoder *decoder, CNukeHEIF_Coding *coding) {
    struct heif_color_profile_nclx *profile = NULL;
    struct heif_error error = decoder->library->image_handle_get_nclx_color_profile(chosen(decoder), &profile);
    if (error.code != heif_error_Ok || !profile) return 0;
    take(profile, coding);
    decoder->library->nclx_color_profile_free(profile);
    return 1;
}

// What the decoded picture says, which is the container's word or else the coded pixels' own; else what MIAF has hold.
static void findCoding(CNukeHEIF_Decoder *decoder, CNukeHEIF_Coding *coding) {
    struct heif_color_profile_nclx *profile = NULL;
    struct heif_error error = decoder->library->image_get_nclx_color_profile(decoder->image, &profile);
    if (error.code == heif_error_Ok && profile) {
        take(profile, coding);
        decoder->library->nclx_color_profile_free(profile);
    } else if (!CNukeHEIF_getCoding(decoder, coding)) {
        *coding = (CNukeHEIF_Coding){.primaries = 2, .transfer = 2, .matrix = 2, .isFullRange = 1};
    }
}

// Finds a plane; returns 0 if it is not there or does not cover the picture.
static int findPlane(
    CNukeHEIF_Decoder *decoder, enum heif_channel channel, int width, int height, CNukeHEIF_Plane *plane) {
    const CNukeHEIF_Library *library = decoder->library;
    if (!library->image_has_channel(decoder->image, channel)) return 0;
    int stride = 0;
    plane->bytes = library->image_get_plane_readonly(decoder->image, channel, &stride);
    plane->width = library->image_get_width(decoder->image, channel);
    plane->height = library->image_get_height(decoder->image, channel);
    plane->bits = library->image_get_bits_per_pixel_range(decoder->image, channel);
    plane->shiftX = plane->width < width;
    plane->shiftY = plane->height < height;
    plane->stride = stride > 0 ? (size_t)stride : 0;
    int neededWidth = (width + plane->shiftX) >> plane->shiftX, neededHeight = (height + plane->shiftY) >> plane->shiftY;
    int isCovering = plane->width >= neededWidth && plane->height >= neededHeight;
    size_t rowBytes = (size_t)(plane->width > 0 ? plane->width : 0) * (plane->bits > 8 ? 2 : 1);
    // What lies beyond the picture is no part of any mean.
    plane->width = neededWidth, plane->height = neededHeight;
    return plane->bytes && isCovering && width > 0 && height > 0 && plane->bits > 0 && plane->bits <= 16 &&
        plane->stride >= rowBytes;
}

static int least(int a, int b) { return a < b ? a : b; }

static CNukeHEIF_Status findPlanes(
    CNukeHEIF_Decoder *decoder, int32_t *width, int32_t *height, CNukeHEIF_Coding *coding) {
    const CNukeHEIF_Library *library = decoder->library;
    CNukeHEIF_Planes *planes = &decoder->planes;
    *planes = (CNukeHEIF_Planes){.isFullRange = coding->isFullRange};
    // Also where libheif has made RGB of them: it takes for another matrix what it does not know.
    CNukeHEIF_Coding told = *coding;
    CNukeHEIF_getCoding(decoder, &told);
    if (!CNukeHEIF_setMatrix(planes, told.matrix, told.primaries) ||
        !CNukeHEIF_setMatrix(planes, coding->matrix, coding->primaries))
        return fail(decoder, CNukeHEIF_StatusUnsupported, "the colours are in a matrix that is not known");
    // What was converted is still of the primaries and the curve that the container tells.
    coding->primaries = told.primaries, coding->transfer = told.transfer;
    enum heif_channel channels[3] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
    int planeCount = 3;
    switch (library->image_get_colorspace(decoder->image)) {
    case heif_colorspace_monochrome:
        planes->kind = CNukeHEIF_KindGray;
        planeCount = 1;
        break;
    case heif_colorspace_YCbCr: break;
    case heif_colorspace_RGB:
        planes->kind = CNukeHEIF_KindRGB;
        planes->isFullRange = 1;
        channels[0] = heif_channel_G, channels[1] = heif_channel_B, channels[2] = heif_channel_R;
        break;
    default: return fail(decoder, CNukeHEIF_StatusUnsupported, "the colours are in a space that is not known");
    }
    *width = least(*width, library->image_get_width(decoder->image, channels[0]));
    *height = least(*height, library->image_get_height(decoder->image, channels[0]));
    if (library->image_has_channel(decoder->image, heif_channel_Alpha)) {
        // Writers get odd sides wrong in one of the two; what both have is the picture.
        *width = least(*width, library->image_get_width(decoder->image, heif_channel_Alpha));
        *height = least(*height, library->image_get_height(decoder->image, heif_channel_Alpha));
        if (!findPlane(decoder, heif_channel_Alpha, *width, *height, &planes->alpha))
            return fail(decoder, CNukeHEIF_StatusCorrupt, "the alpha plane does not fit the picture");
        planes->isPremultiplied = library->image_handle_is_premultiplied_alpha(chosen(decoder));
    }
    for (int index = 0; index < planeCount; index++) {
        if (!findPlane(decoder, channels[index], *width, *height, &planes->colors[index]))
            return fail(decoder, CNukeHEIF_StatusCorrupt, "a plane of colour does not fit the picture");
    }
    return CNukeHEIF_StatusOK;
}

CNukeHEIF_Status CNukeHEIF_decode(
    CNukeHEIF_Decoder *decoder, int32_t *width, int32_t *height, CNukeHEIF_Coding *coding) {
    const CNukeHEIF_Library *library = decoder->library;
    if (decoder->image) library->image_release(decoder->image);
    decoder->image = NULL;
    // Undefined: the planes that libheif has, not turned into anything else. Up to 1.17 it makes RGB of what is coded, tile
    // by tile, whatever it is asked for, and would make something else of that.
    CNukeHEIF_OneProcessor *restriction = CNukeHEIF_beginOneProcessor();
    struct heif_error error = library->decode_image(
        chosen(decoder), &decoder->image, heif_colorspace_undefined, heif_chroma_undefined, NULL);
    CNukeHEIF_endOneProcessor(restriction);
    CNukeHEIF_Status status = check(decoder, error);
    if (status != CNukeHEIF_StatusOK) return status;
    if (!decoder->image) return fail(decoder, CNukeHEIF_StatusCorrupt, "there are no pixels");
    findCoding(decoder, coding);
    return findPlanes(decoder, width, height, coding);
}

void CNukeHEIF_readRow(CNukeHEIF_Decoder *decoder, int32_t y, int32_t width, int32_t reduction, uint8_t *row) {
    CNukeHEIF_convertRow(&decoder->planes, y, width, reduction, row);
}

const char *CNukeHEIF_message(const CNukeHEIF_Decoder *decoder) { return decoder->message; }

#else
// Without a library there is no decoder, so only creating one is ever called.

CNukeHEIF_Decoder *CNukeHEIF_createDecoder(const CNukeHEIF_Library *library) {
    (void)library;
    return NULL;
}
void CNukeHEIF_destroyDecoder(CNukeHEIF_Decoder *decoder) { (void)decoder; }
CNukeHEIF_Status CNukeHEIF_openData(CNukeHEIF_Decoder *decoder, const uint8_t *bytes, size_t count, int32_t sideLimit) {
    (void)decoder, (void)bytes, (void)count, (void)sideLimit;
    return CNukeHEIF_StatusNoCodec;
}
CNukeHEIF_Status CNukeHEIF_selectThumbnail(CNukeHEIF_Decoder *decoder) {
    (void)decoder;
    return CNukeHEIF_StatusNoCodec;
}
void CNukeHEIF_getPicture(CNukeHEIF_Decoder *decoder, CNukeHEIF_Picture *picture) { (void)decoder, (void)picture; }
CNukeHEIF_Status CNukeHEIF_copyProfile(CNukeHEIF_Decoder *decoder, uint8_t *profile) {
    (void)decoder, (void)profile;
    return CNukeHEIF_StatusNoCodec;
}
CNukeHEIF_Status CNukeHEIF_copyExif(CNukeHEIF_Decoder *decoder, uint8_t *exif) {
    (void)decoder, (void)exif;
    return CNukeHEIF_StatusNoCodec;
}
int CNukeHEIF_getCoding(CNukeHEIF_Decoder *decoder, CNukeHEIF_Coding *coding) {
    (void)decoder, (void)coding;
    return 0;
}
CNukeHEIF_Status CNukeHEIF_decode(
    CNukeHEIF_Decoder *decoder, int32_t *width, int32_t *height, CNukeHEIF_Coding *coding) {
    (void)decoder, (void)width, (void)height, (void)coding;
    return CNukeHEIF_StatusNoCodec;
}
void CNukeHEIF_readRow(CNukeHEIF_Decoder *decoder, int32_t y, int32_t width, int32_t reduction, uint8_t *row) {
    (void)decoder, (void)y, (void)width, (void)reduction, (void)row;
}
const char *CNukeHEIF_message(const CNukeHEIF_Decoder *decoder) {
    (void)decoder;
    return "";
}
#endif
