#include "CNukeWebP.h"

#include <string.h>

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint16_t Words __attribute__((vector_size(32)));

// Four pixels, in lanes of 16 bits. With n = d × (255 − a) + 128, (n + n ÷ 256) ÷ 256 is the rounded quotient by 255. The
// sum stays within a byte, as no premultiplied sample is above its alpha.
static inline Bytes blended(Bytes below, Bytes over) {
    Words samples = __builtin_convertvector(over, Words);
    Words alphas = __builtin_shufflevector(samples, samples, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
    Words products = __builtin_convertvector(below, Words) * (255 - alphas) + 128;
    return over + __builtin_convertvector((products + (products >> 8)) >> 8, Bytes);
}

void CNukeWebP_blend(uint8_t *row, const uint8_t *over, size_t count) {
    size_t end = 4 * count, place = 0;
    for (; end - place >= sizeof(Bytes); place += sizeof(Bytes)) {
        Bytes below, above;
        memcpy(&above, over + place, sizeof above);
        memcpy(&below, row + place, sizeof below);
        below = blended(below, above);
        memcpy(row + place, &below, sizeof below);
    }
    Bytes below = {0}, above = {0};
    memcpy(&above, over + place, end - place);
    memcpy(&below, row + place, end - place);
    below = blended(below, above);
    memcpy(row + place, &below, end - place);
}
