#include "Planes.h"

#include <string.h>

// Columns that are converted at a time: what is in between stays in the first-level cache.
enum { chunk = 256, largestReduction = 4 };

// Kr and Kb of ITU-T H.273, table 4; by the chromaticities of the primaries for 12.
static int lumaFactors(int matrix, int primaries, double *red, double *blue) {
    switch (matrix) {
    case 1: *red = 0.2126, *blue = 0.0722; return 1;
    case 4: *red = 0.30, *blue = 0.11; return 1;
    case 2:  // unspecified: MIAF (ISO/IEC 23000-22, 7.3.6.4) has it count as 5 or 6
    case 5:
    case 6: *red = 0.299, *blue = 0.114; return 1;
    case 7: *red = 0.212, *blue = 0.087; return 1;
    case 9:
    case 10: *red = 0.2627, *blue = 0.0593; return 1;
    case 12:
    case 13:
        switch (primaries) {
        case 9: *red = 0.2627, *blue = 0.0593; return 1;
        case 11: *red = 0.2095, *blue = 0.0689; return 1;
        case 12: *red = 0.2290, *blue = 0.0793; return 1;
        case 5: *red = 0.2220, *blue = 0.0713; return 1;
        case 6:
        case 7: *red = 0.2124, *blue = 0.0866; return 1;
        default: *red = 0.2126, *blue = 0.0722; return 1;
        }
    default: return 0;
    }
}

int CNukeHEIF_setMatrix(CNukeHEIF_Planes *planes, int matrix, int primaries) {
    planes->kind = CNukeHEIF_KindYCbCr;
    if (matrix == 0) {
        planes->kind = CNukeHEIF_KindRGB;
        return 1;
    }
    if (matrix == 8) {  // YCgCo
        planes->redOfFirst = -1, planes->redOfSecond = 1;
        planes->greenOfFirst = 1, planes->greenOfSecond = 0;
        planes->blueOfFirst = -1, planes->blueOfSecond = -1;
        return 1;
    }
    double red, blue;
    if (!lumaFactors(matrix, primaries, &red, &blue)) return 0;
    double green = 1 - red - blue;
    planes->redOfFirst = 0, planes->redOfSecond = (float)(2 * (1 - red));
    planes->greenOfFirst = (float)(-2 * (1 - blue) * blue / green);
    planes->greenOfSecond = (float)(-2 * (1 - red) * red / green);
    planes->blueOfFirst = (float)(2 * (1 - blue)), planes->blueOfSecond = 0;
    return 1;
}

// Means of blocks of samples: `count` of them from block `x` of row of blocks `y` on. A block at the edge is of the
// samples that are there.
#define DEFINE_MEANS(name, Sample, Sum) \
    static void name(const CNukeHEIF_Plane *plane, int x, int y, int count, int columns, int rows, float *means) { \
        Sum sums[chunk * largestReduction]; \
        int first = x * columns, wanted = count * columns; \
        int there = plane->width - first < wanted ? plane->width - first : wanted; \
        int top = y * rows, height = plane->height - top < rows ? plane->height - top : rows; \
        const Sample *source = (const Sample *)(plane->bytes + (size_t)top * plane->stride) + first; \
        for (int i = 0; i < there; i++) sums[i] = source[i]; \
        for (int row = 1; row < height; row++) { \
            source = (const Sample *)(plane->bytes + (size_t)(top + row) * plane->stride) + first; \
            for (int i = 0; i < there; i++) sums[i] += source[i]; \
        } \
        for (int i = there; i < wanted; i++) sums[i] = sums[there - 1]; \
        float scale = 1.0f / (float)(columns * height); \
        if (columns == 1) { \
            for (int i = 0; i < count; i++) means[i] = (float)sums[i] * scale; \
        } else if (columns == 2) { \
            for (int i = 0; i < count; i++) means[i] = (float)(sums[2 * i] + sums[2 * i + 1]) * scale; \
        } else { \
            for (int i = 0; i < count; i++) \
                means[i] = (float)(sums[4 * i] + sums[4 * i + 1] + sums[4 * i + 2] + sums[4 * i + 3]) * scale; \
        } \
    }
DEFINE_MEANS(means8, uint8_t, uint16_t)
DEFINE_MEANS(means16, uint16_t, uint32_t)

// Samples as they are, each for two columns where the plane has half of them.
#define DEFINE_SAMPLES(name, Sample) \
    static void name(const CNukeHEIF_Plane *plane, int x, int y, int count, float *samples) { \
        const Sample *row = (const Sample *)(plane->bytes + (size_t)(y >> plane->shiftY) * plane->stride); \
        if (plane->shiftX == 0) { \
            for (int i = 0; i < count; i++) samples[i] = (float)row[x + i]; \
            return; \
        } \
        row += x / 2; \
        for (int i = 0; i < count / 2; i++) samples[2 * i] = samples[2 * i + 1] = (float)row[i]; \
        if (count & 1) samples[count - 1] = (float)row[count / 2]; \
    }
DEFINE_SAMPLES(samples8, uint8_t)
DEFINE_SAMPLES(samples16, uint16_t)

// Reads samples of `count` columns from `x` on, which is a multiple of the chunk.
static void load(const CNukeHEIF_Plane *plane, int x, int y, int count, int reduction, float *samples) {
    int columns = reduction >> plane->shiftX, rows = reduction >> plane->shiftY;
    if (columns * rows > 1 || reduction > 1) {
        (plane->bits > 8 ? means16 : means8)(plane, x, y, count, columns, rows, samples);
    } else {
        (plane->bits > 8 ? samples16 : samples8)(plane, x, y, count, samples);
    }
}

// value × scale + offset.
static void stretch(float *values, int count, float scale, float offset) {
    for (int i = 0; i < count; i++) values[i] = values[i] * scale + offset;
}

// Brings samples to 0…255, or to differences of -127.5…127.5 (H.273, 8.3: E and the "limited" ranges).
static void normalize(float *values, int count, int bits, int isFullRange, int isDifference) {
    float largest = (float)((1 << bits) - 1), unit = (float)(1 << bits) / 256.0f;
    if (isFullRange) {
        float scale = 255.0f / largest;
        stretch(values, count, scale, isDifference ? -128.0f * unit * scale : 0);
    } else {
        float scale = 255.0f / ((isDifference ? 224.0f : 219.0f) * unit);
        stretch(values, count, scale, (isDifference ? -128.0f : -16.0f) * unit * scale);
    }
}

static inline float clamp(float value, float limit) {
    value = value < 0 ? 0 : value;
    return value > limit ? limit : value;
}

static inline uint32_t packed(float red, float green, float blue) {
    return (uint32_t)(int32_t)(red + 0.5f) | (uint32_t)(int32_t)(green + 0.5f) << 8 |
        (uint32_t)(int32_t)(blue + 0.5f) << 16;
}

// Each pixel is a number whose low byte is red: the order in memory of a little-endian machine, as all are that Swift
// runs on.
static void store(
    const CNukeHEIF_Planes *planes, const float *first, const float *second, const float *third, int count,
    uint32_t *pixels) {
    switch (planes->kind) {
    case CNukeHEIF_KindGray:
        for (int i = 0; i < count; i++) {
            float gray = clamp(first[i], 255);
            pixels[i] = packed(gray, gray, gray) | 0xFF000000u;
        }
        return;
    case CNukeHEIF_KindRGB:
        for (int i = 0; i < count; i++) {
            pixels[i] = packed(clamp(third[i], 255), clamp(first[i], 255), clamp(second[i], 255)) | 0xFF000000u;
        }
        return;
    case CNukeHEIF_KindYCbCr: break;
    }
    const float redOfFirst = planes->redOfFirst, redOfSecond = planes->redOfSecond;
    const float greenOfFirst = planes->greenOfFirst, greenOfSecond = planes->greenOfSecond;
    const float blueOfFirst = planes->blueOfFirst, blueOfSecond = planes->blueOfSecond;
    for (int i = 0; i < count; i++) {
        float red = first[i] + redOfFirst * second[i] + redOfSecond * third[i];
        float green = first[i] + greenOfFirst * second[i] + greenOfSecond * third[i];
        float blue = first[i] + blueOfFirst * second[i] + blueOfSecond * third[i];
        pixels[i] = packed(clamp(red, 255), clamp(green, 255), clamp(blue, 255)) | 0xFF000000u;
    }
}

// Multiplies opaque pixels by alpha, or, where that was done before they were coded, sees that none is above it.
static void applyAlpha(const float *alphas, int isPremultiplied, int count, uint32_t *pixels) {
    for (int i = 0; i < count; i++) {
        uint32_t alpha = (uint32_t)(int32_t)(clamp(alphas[i], 255) + 0.5f), pixel = pixels[i];
        uint32_t colors[3] = {pixel & 255, pixel >> 8 & 255, pixel >> 16 & 255};
        for (int c = 0; c < 3; c++) {
            uint32_t product = colors[c] * alpha + 127;
            colors[c] = !isPremultiplied ? product / 255 : colors[c] > alpha ? alpha : colors[c];
        }
        pixels[i] = colors[0] | colors[1] << 8 | colors[2] << 16 | alpha << 24;
    }
}

// Puts samples of 8 bits beside each other.
static void interleave(const CNukeHEIF_Planes *planes, int x, int y, int count, uint32_t *pixels) {
    const uint8_t *rows[3];
    for (int index = 0; index < 3; index++) {
        rows[index] = planes->colors[index].bytes + (size_t)y * planes->colors[index].stride + x;
    }
    for (int i = 0; i < count; i++) {
        pixels[i] = rows[2][i] | (uint32_t)rows[0][i] << 8 | (uint32_t)rows[1][i] << 16 | 0xFF000000u;
    }
}

// Whether nothing has to be done to samples but to put them together.
static int isPlain(const CNukeHEIF_Planes *planes) {
    for (int index = 0; index < 3; index++) {
        const CNukeHEIF_Plane *plane = &planes->colors[index];
        if (plane->bits != 8 || plane->shiftX != 0 || plane->shiftY != 0) return 0;
    }
    return planes->kind == CNukeHEIF_KindRGB && planes->isFullRange;
}

static void convert(
    const CNukeHEIF_Planes *planes, int x, int y, int count, int reduction, uint32_t *pixels) {
    float samples[3][chunk];
    int planeCount = planes->kind == CNukeHEIF_KindGray ? 1 : 3;
    for (int index = 0; index < planeCount; index++) {
        const CNukeHEIF_Plane *plane = &planes->colors[index];
        load(plane, x, y, count, reduction, samples[index]);
        int isDifference = index > 0 && planes->kind == CNukeHEIF_KindYCbCr;
        normalize(samples[index], count, plane->bits, planes->isFullRange, isDifference);
    }
    store(planes, samples[0], samples[1], samples[2], count, pixels);
}

void CNukeHEIF_convertRow(const CNukeHEIF_Planes *planes, int y, int width, int reduction, uint8_t *row) {
    uint32_t pixels[chunk];
    float alphas[chunk];
    int canInterleave = reduction == 1 && isPlain(planes);
    for (int x = 0; x < width; x += chunk) {
        int count = width - x < chunk ? width - x : chunk;
        if (canInterleave) {
            interleave(planes, x, y, count, pixels);
        } else {
            convert(planes, x, y, count, reduction, pixels);
        }
        if (planes->alpha.bytes) {
            load(&planes->alpha, x, y, count, reduction, alphas);
            normalize(alphas, count, planes->alpha.bits, 1, 0);
            applyAlpha(alphas, planes->isPremultiplied, count, pixels);
        }
        memcpy(row + (size_t)x * 4, pixels, (size_t)count * 4);
    }
}
