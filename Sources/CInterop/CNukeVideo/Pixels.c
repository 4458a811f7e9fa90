#include "Reader.h"

#ifdef CNUKEVIDEO_HAS_HEADERS
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void CNukeVideo_destroyScaler(CNukeVideo_Reader *reader) {
    reader->library->sws_freeContext(reader->scaler);
    reader->scaler = NULL;
}

// The coefficients of luma and chroma by which a picture was made; of those that say nothing, BT.601's, which is what
// swscale and most programs write where they say nothing.
static int colorSpace(const AVFrame *picture) {
    switch (picture->colorspace) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL: return (int)picture->colorspace;
    default: return SWS_CS_ITU601;
    }
}

// Whether samples use all their codes.
static bool isFullRange(const AVFrame *picture, const AVPixFmtDescriptor *format) {
    if (picture->color_range == AVCOL_RANGE_JPEG) return true;
    switch (picture->format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P:
    case AV_PIX_FMT_YUVJ444P: return true;
    default: return picture->color_range == AVCOL_RANGE_UNSPECIFIED && format && format->nb_components <= 2;
    }
}

static int shown(int decoded, int crop) { return crop > 0 && crop < decoded ? crop : decoded; }

// Scales the picture to `target`'s format.
static CNukeVideo_Status scale(
    CNukeVideo_Reader *reader, int width, int height, int target, uint8_t *rows, size_t rowBytes) {
    const CNukeVideo_Library *library = reader->library;
    const AVFrame *picture = reader->current;
    const AVPixFmtDescriptor *format = library->av_pix_fmt_desc_get(picture->format);
    int fromWidth = shown(picture->width, reader->choice.cropWidth);
    int fromHeight = shown(picture->height, reader->choice.cropHeight);
    int space = colorSpace(picture), isFull = isFullRange(picture, format);
    bool isSame = reader->scaler && reader->scaling.format == picture->format && reader->scaling.width == fromWidth
        && reader->scaling.height == fromHeight && reader->scaling.toWidth == width
        && reader->scaling.toHeight == height && reader->scaling.space == space && reader->scaling.isFull == isFull
        && reader->scaling.target == target;
    if (!isSame) {
        CNukeVideo_destroyScaler(reader);
        // Averages where it gets smaller, else the smooth curve. Where nothing is scaled there is a shorter way, which a
        // wish for exact chroma would bar; where something is, chroma that is not exact is out of place in small pictures.
        int method = width <= fromWidth && height <= fromHeight ? SWS_AREA : SWS_BICUBIC;
        if (width != fromWidth || height != fromHeight) {
            method |= SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND;
        }
        reader->scaler = library->sws_getContext(
            fromWidth, fromHeight, picture->format, width, height, target, method, NULL, NULL, NULL);
        if (!reader->scaler) return CNukeVideo_StatusUnsupported;
        library->sws_setColorspaceDetails(
            reader->scaler, library->sws_getCoefficients(space), isFull, library->sws_getCoefficients(SWS_CS_DEFAULT),
            1, 0, 1 << 16, 1 << 16);
        reader->scaling.format = picture->format;
        reader->scaling.width = fromWidth;
        reader->scaling.height = fromHeight;
        reader->scaling.toWidth = width;
        reader->scaling.toHeight = height;
        reader->scaling.space = space;
        reader->scaling.isFull = isFull;
        reader->scaling.target = target;
    }
    uint8_t *planes[4] = {rows};
    int strides[4] = {(int)rowBytes};
    int count = library->sws_scale(
        reader->scaler, (const uint8_t *const *)picture->data, picture->linesize, 0, fromHeight, planes, strides);
    if (count == AVERROR(ENOMEM)) return CNukeVideo_StatusOutOfMemory;
    return count == height ? CNukeVideo_StatusOK : CNukeVideo_StatusUnsupported;
}

static uint8_t multiply(unsigned color, unsigned alpha) {
    unsigned product = color * alpha + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

static void premultiply(uint8_t *row, int width) {
    for (int x = 0; x < width; x++, row += 4) {
        for (int channel = 0; channel < 3; channel++) row[channel] = multiply(row[channel], row[3]);
    }
}

// Puts the alpha in that another reader has decoded.
static CNukeVideo_Status mergeAlpha(
    CNukeVideo_Reader *reader, int width, int height, uint8_t *target, size_t rowBytes) {
    size_t alphaBytes = ((size_t)width + 127) & ~(size_t)63;
    uint8_t *alpha = calloc((size_t)height + 1, alphaBytes);
    if (!alpha) return CNukeVideo_StatusOutOfMemory;
    CNukeVideo_Status status = scale(reader, width, height, AV_PIX_FMT_GRAY8, alpha, alphaBytes);
    if (status == CNukeVideo_StatusOK) {
        for (int y = 0; y < height; y++) {
            uint8_t *row = target + (size_t)y * rowBytes;
            for (int x = 0; x < width; x++) row[x * 4 + 3] = alpha[(size_t)y * alphaBytes + (size_t)x];
            premultiply(row, width);
        }
    }
    free(alpha);
    return status;
}

CNukeVideo_Status CNukeVideo_copyPixels(
    CNukeVideo_Reader *reader, CNukeVideo_Reader *alpha, int32_t width, int32_t height, uint8_t *target,
    size_t rowBytes) {
    if (!reader->hasCurrent || width <= 0 || height <= 0 || rowBytes > INT32_MAX || rowBytes / 4 < (size_t)width) {
        return CNukeVideo_StatusUnsupported;
    }
    CNukeVideo_Status status = scale(reader, width, height, AV_PIX_FMT_RGBA, target, rowBytes);
    if (status != CNukeVideo_StatusOK) return status;
    if (alpha && alpha->hasCurrent) return mergeAlpha(alpha, width, height, target, rowBytes);
    const AVPixFmtDescriptor *format = reader->library->av_pix_fmt_desc_get(reader->current->format);
    if (!format || !(format->flags & AV_PIX_FMT_FLAG_ALPHA)) return CNukeVideo_StatusOK;
    for (int y = 0; y < height; y++) {
        uint8_t *row = target + (size_t)y * rowBytes;
        for (int x = 0; x < width; x++) row[x * 4 + 3] = 255;
    }
    return CNukeVideo_StatusOK;
}
#endif
