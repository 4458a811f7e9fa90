// The two halves of resampling pixels of four bytes: columns first, then rows. Swift's own vectors have no multiplication of
// pairs of 16-bit numbers that adds each pair, which is what makes this fast.
#include "CNukeCore.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Weights have 14 bits of fraction; what lies between the two halves has 6.
enum { weightBits = 14, middleBits = 6, columnShift = weightBits - middleBits, rowShift = weightBits + middleBits };

CNukeCore_Vectors CNukeCore_bestVectors(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? CNukeCore_avx2 : CNukeCore_sse2;
#else
    return CNukeCore_noVectors;
#endif
}

static int16_t middle(int32_t sum) {
    int32_t value = (sum + (1 << (columnShift - 1))) >> columnShift;
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

// The samples from `start` on, in blocks that compilers find vectors for.
static void filterColumnsPlainly(
    const uint8_t *rows, size_t bytesPerRow, const int16_t *weights, size_t rowCount, int16_t *target, size_t start,
    size_t count) {
    enum { blockSize = 32 };
    for (size_t block = start; block < count; block += blockSize) {
        size_t length = count - block < blockSize ? count - block : blockSize;
        int32_t sums[blockSize] = {0};
        for (size_t row = 0; row < rowCount; row++) {
            const uint8_t *samples = rows + row * bytesPerRow + block;
            if (length == blockSize)
                for (size_t i = 0; i < blockSize; i++) sums[i] += samples[i] * weights[row];
            else
                for (size_t i = 0; i < length; i++) sums[i] += samples[i] * weights[row];
        }
        for (size_t i = 0; i < length; i++) target[block + i] = middle(sums[i]);
    }
}

static uint8_t sample(int32_t sum, uint8_t limit) {
    int32_t value = (sum + (1 << (rowShift - 1))) >> rowShift;
    return (uint8_t)(value < 0 ? 0 : value > limit ? limit : value);
}

// Colour stays at or below alpha, as premultiplied samples must.
static void store(const int32_t *sums, uint8_t *target) {
    target[3] = sample(sums[3], 255);
    for (int channel = 0; channel < 3; channel++) target[channel] = sample(sums[channel], target[3]);
}

static void filterRowPlainly(
    const int16_t *source, const int32_t *firsts, const int16_t *weights, size_t taps, uint8_t *target, size_t count) {
    for (size_t x = 0; x < count; x++) {
        const int16_t *pixels = source + (size_t)firsts[x] * 4;
        int32_t sums[4] = {0};
        for (size_t tap = 0; tap < taps; tap++)
            for (int channel = 0; channel < 4; channel++)
                sums[channel] += pixels[tap * 4 + channel] * weights[x * taps + tap];
        store(sums, target + x * 4);
    }
}

#if defined(__x86_64__)

// Two weights in each 32 bits, for rows or pixels that lie in pairs.
static int32_t weightPair(const int16_t *weights, size_t index, size_t count) {
    uint16_t second = index + 1 < count ? (uint16_t)weights[index + 1] : 0;
    return (int32_t)((uint32_t)(uint16_t)weights[index] | (uint32_t)second << 16);
}

static size_t filterColumnsSSE2(
    const uint8_t *rows, size_t bytesPerRow, const int16_t *weights, size_t rowCount, int16_t *target, size_t count) {
    const __m128i zero = _mm_setzero_si128(), half = _mm_set1_epi32(1 << (columnShift - 1));
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128i a = half, b = half, c = half, d = half;
        for (size_t row = 0; row < rowCount; row += 2) {
            const uint8_t *first = rows + row * bytesPerRow + i;
            const uint8_t *second = row + 1 < rowCount ? first + bytesPerRow : first;
            __m128i pair = _mm_set1_epi32(weightPair(weights, row, rowCount));
            __m128i x = _mm_loadu_si128((const __m128i *)first), y = _mm_loadu_si128((const __m128i *)second);
            __m128i low = _mm_unpacklo_epi8(x, y), high = _mm_unpackhi_epi8(x, y);
            a = _mm_add_epi32(a, _mm_madd_epi16(_mm_unpacklo_epi8(low, zero), pair));
            b = _mm_add_epi32(b, _mm_madd_epi16(_mm_unpackhi_epi8(low, zero), pair));
            c = _mm_add_epi32(c, _mm_madd_epi16(_mm_unpacklo_epi8(high, zero), pair));
            d = _mm_add_epi32(d, _mm_madd_epi16(_mm_unpackhi_epi8(high, zero), pair));
        }
        __m128i left = _mm_packs_epi32(_mm_srai_epi32(a, columnShift), _mm_srai_epi32(b, columnShift));
        __m128i right = _mm_packs_epi32(_mm_srai_epi32(c, columnShift), _mm_srai_epi32(d, columnShift));
        _mm_storeu_si128((__m128i *)(target + i), left);
        _mm_storeu_si128((__m128i *)(target + i + 8), right);
    }
    return i;
}

__attribute__((target("avx2"))) static size_t filterColumnsAVX2(
    const uint8_t *rows, size_t bytesPerRow, const int16_t *weights, size_t rowCount, int16_t *target, size_t count) {
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (columnShift - 1));
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256i a = half, b = half, c = half, d = half;
        for (size_t row = 0; row < rowCount; row += 2) {
            const uint8_t *first = rows + row * bytesPerRow + i;
            const uint8_t *second = row + 1 < rowCount ? first + bytesPerRow : first;
            __m256i pair = _mm256_set1_epi32(weightPair(weights, row, rowCount));
            __m256i x = _mm256_loadu_si256((const __m256i *)first), y = _mm256_loadu_si256((const __m256i *)second);
            __m256i low = _mm256_unpacklo_epi8(x, y), high = _mm256_unpackhi_epi8(x, y);
            a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), pair));
            b = _mm256_add_epi32(b, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), pair));
            c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), pair));
            d = _mm256_add_epi32(d, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), pair));
        }
        // Unpacking and packing keep within halves of 128 bits: each result has eight samples of the first and of the second 16.
        __m256i left = _mm256_packs_epi32(_mm256_srai_epi32(a, columnShift), _mm256_srai_epi32(b, columnShift));
        __m256i right = _mm256_packs_epi32(_mm256_srai_epi32(c, columnShift), _mm256_srai_epi32(d, columnShift));
        _mm256_storeu_si256((__m256i *)(target + i), _mm256_permute2x128_si256(left, right, 0x20));
        _mm256_storeu_si256((__m256i *)(target + i + 16), _mm256_permute2x128_si256(left, right, 0x31));
    }
    return i;
}

static void filterRowSSE2(
    const int16_t *source, const int32_t *firsts, const int16_t *weights, size_t taps, uint8_t *target, size_t count) {
    const __m128i half = _mm_set1_epi32(1 << (rowShift - 1));
    for (size_t x = 0; x < count; x++) {
        const int16_t *pixels = source + (size_t)firsts[x] * 4;
        const int16_t *own = weights + x * taps;
        __m128i sum = half;
        for (size_t tap = 0; tap < taps; tap += 2) {
            __m128i two = _mm_loadu_si128((const __m128i *)(pixels + tap * 4));
            int32_t pair;
            memcpy(&pair, own + tap, sizeof pair);
            __m128i mixed = _mm_unpacklo_epi16(two, _mm_srli_si128(two, 8));
            sum = _mm_add_epi32(sum, _mm_madd_epi16(mixed, _mm_set1_epi32(pair)));
        }
        __m128i words = _mm_packs_epi32(_mm_srai_epi32(sum, rowShift), _mm_setzero_si128());
        __m128i bytes = _mm_packus_epi16(words, words);
        // Colour stays at or below alpha, as premultiplied samples must.
        uint32_t pixel = (uint32_t)_mm_cvtsi128_si32(bytes);
        __m128i alpha = _mm_cvtsi32_si128((int)((pixel >> 24) * 0x01010101u));
        pixel = (uint32_t)_mm_cvtsi128_si32(_mm_min_epu8(bytes, alpha));
        memcpy(target + x * 4, &pixel, sizeof pixel);
    }
}

#endif

void CNukeCore_filterColumns(
    CNukeCore_Vectors vectors, const uint8_t *rows, size_t bytesPerRow, const int16_t *weights, size_t rowCount,
    int16_t *target, size_t count) {
    size_t done = 0;
#if defined(__x86_64__)
    if (vectors == CNukeCore_avx2)
        done = filterColumnsAVX2(rows, bytesPerRow, weights, rowCount, target, count);
    else if (vectors == CNukeCore_sse2)
        done = filterColumnsSSE2(rows, bytesPerRow, weights, rowCount, target, count);
#endif
    filterColumnsPlainly(rows, bytesPerRow, weights, rowCount, target, done, count);
}

void CNukeCore_filterRow(
    CNukeCore_Vectors vectors, const int16_t *source, const int32_t *firsts, const int16_t *weights, size_t taps,
    uint8_t *target, size_t count) {
#if defined(__x86_64__)
    if (vectors != CNukeCore_noVectors) {
        filterRowSSE2(source, firsts, weights, taps, target, count);
        return;
    }
#endif
    filterRowPlainly(source, firsts, weights, taps, target, count);
}
