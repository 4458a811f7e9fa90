// Planes of samples as libheif gives them, and their conversion to premultiplied RGBA of 8 bits a sample.
#ifndef CNUKEHEIF_PLANES_H
#define CNUKEHEIF_PLANES_H

#include <stddef.h>
#include <stdint.h>

// One plane: samples of one byte for up to 8 bits, else of two in the machine's order.
typedef struct {
    const uint8_t *bytes;  // NULL where there is no such plane
    size_t stride;
    int bits;
    int width, height;
    int shiftX, shiftY;  // by how much its columns and rows are fewer than the picture's: 0 or 1
} CNukeHEIF_Plane;

// How three samples are a colour.
typedef enum {
    CNukeHEIF_KindGray,
    CNukeHEIF_KindRGB,   // first green, second blue, third red: the order of matrix 0
    CNukeHEIF_KindYCbCr  // luma and two differences
} CNukeHEIF_Kind;

typedef struct {
    CNukeHEIF_Plane colors[3];
    CNukeHEIF_Plane alpha;
    int isPremultiplied;
    CNukeHEIF_Kind kind;
    int isFullRange;
    // What the two differences, -0.5 to 0.5, add to luma, 0 to 1.
    float redOfFirst, redOfSecond, greenOfFirst, greenOfSecond, blueOfFirst, blueOfSecond;
} CNukeHEIF_Planes;

// Sets kind and factors by a matrix of ITU-T H.273 and, for matrix 12, the primaries; returns 0 for those not known.
int CNukeHEIF_setMatrix(CNukeHEIF_Planes *planes, int matrix, int primaries);

// What CNukeHEIF_readRow says.
void CNukeHEIF_convertRow(const CNukeHEIF_Planes *planes, int y, int width, int reduction, uint8_t *row);

#endif
