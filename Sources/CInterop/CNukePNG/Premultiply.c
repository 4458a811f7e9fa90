#include "CNukePNG.h"

#include <string.h>

typedef uint8_t Bytes __attribute__((vector_size(16)));
typedef uint16_t Words __attribute__((vector_size(32)));

// Four pixels, by the lanes of 16 bits in which a product with alpha fits: with n = c × a + 128, (n + n ÷ 256) ÷ 256 is
// c × a ÷ 255 rounded, for every c and a up to 255. Alpha itself is multiplied by 255, which leaves it as it is.
static inline Bytes premultiplied(Bytes pixels) {
    const Words colors = {~0, ~0, ~0, 0, ~0, ~0, ~0, 0, ~0, ~0, ~0, 0, ~0, ~0, ~0, 0};
    const Words full = {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255};
    Words samples = __builtin_convertvector(pixels, Words);
    Words alphas = __builtin_shufflevector(samples, samples, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
    Words products = samples * ((alphas & colors) | full) + 128;
    return __builtin_convertvector((products + (products >> 8)) >> 8, Bytes);
}

void CNukePNG_premultiply(uint8_t *row, size_t count) {
    size_t place = 0;
    for (; count - place >= sizeof(Bytes); place += sizeof(Bytes)) {
        Bytes pixels;
        memcpy(&pixels, row + place, sizeof pixels);
        if ((pixels[3] & pixels[7] & pixels[11] & pixels[15]) == 255) continue;
        pixels = premultiplied(pixels);
        memcpy(row + place, &pixels, sizeof pixels);
    }
    Bytes rest = {0};
    memcpy(&rest, row + place, count - place);
    rest = premultiplied(rest);
    memcpy(row + place, &rest, count - place);
}
