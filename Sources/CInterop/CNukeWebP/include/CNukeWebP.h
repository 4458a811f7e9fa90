// What NukeDecodersWebP calls of libwebp: coded pictures in and out. The container around them is read and written in
// Swift. No type of the library is named here, so this header serves where libwebp's own are missing; then every
// function fails with CNukeWebP_unavailable. Nothing here calls back into Swift.
#ifndef CNUKEWEBP_H
#define CNUKEWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CNukeWebP_Status {
    CNukeWebP_ok = 0,
    CNukeWebP_needsInput,   // the bytes end before the picture does
    CNukeWebP_corrupt,
    CNukeWebP_unsupported,
    CNukeWebP_outOfMemory,
    CNukeWebP_failed,       // the library gave up; for encoding only
    CNukeWebP_unavailable,  // built without libwebp, or running with one that does not fit
} CNukeWebP_Status;

// The version of the running library, 0x010204 for 1.2.4; 0 where this was built without it.
int CNukeWebP_version(void);

// Whether this was built with libwebp and runs with a library that takes its structures.
bool CNukeWebP_isAvailable(void);

// Decoding. A decoder keeps what it has read of one coded picture between calls, and no pointer that it follows later.

typedef struct CNukeWebP_Decoder CNukeWebP_Decoder;

typedef struct CNukeWebP_Target {
    int width;           // columns to write; of the coded picture, or fewer if it is reduced
    int height;          // rows to write
    bool isReduced;      // whether that is less than the picture has
    bool hasAlpha;       // whether colour is to be premultiplied
    bool fillsAlpha;     // whether alpha is to be full, whatever is stored
    size_t bytesPerRow;  // from one row to the next, 4 × width at least
} CNukeWebP_Target;

// A decoder of one picture; NULL if there is no memory or no library.
CNukeWebP_Decoder *_Nullable CNukeWebP_createDecoder(CNukeWebP_Target target);
void CNukeWebP_destroyDecoder(CNukeWebP_Decoder *_Nonnull decoder);

// Decodes as far as `count` bytes go. They begin with the header of the chunk ALPH, VP8 or VP8L, and with what earlier
// calls were given, which may lie elsewhere now. `pixels` begins with the first row and holds `capacity` bytes; rows
// written before stay in it. `rows` is set to how many rows are final now.
CNukeWebP_Status CNukeWebP_decode(
    CNukeWebP_Decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull pixels,
    size_t capacity, int *_Nonnull rows);

// Puts a row of premultiplied RGBA over another: c + d × (255 − a) ÷ 255, rounded to the nearest. `count` is in pixels.
void CNukeWebP_blend(uint8_t *_Nonnull row, const uint8_t *_Nonnull over, size_t count);

// Encoding. Order of calls: create, setRow for every row, encode, bytes, destroy.

typedef struct CNukeWebP_Encoder CNukeWebP_Encoder;

typedef struct CNukeWebP_EncodingOptions {
    bool isLossless;
    int effort;          // of a lossless picture, 0…9
    float quality;       // of a lossy one, 0…100
    bool isChromaSharp;  // whether chroma is made at a higher cost so that edges of colour stay sharp
} CNukeWebP_EncodingOptions;

// An encoder of one picture; NULL if there is no memory or no library, or a side is more than the format's 16,383.
CNukeWebP_Encoder *_Nullable CNukeWebP_createEncoder(int width, int height);
void CNukeWebP_destroyEncoder(CNukeWebP_Encoder *_Nonnull encoder);

// Takes row `y` of premultiplied RGBA; with `isOpaque` alpha does not count.
void CNukeWebP_setRow(CNukeWebP_Encoder *_Nonnull encoder, int y, const uint8_t *_Nonnull row, bool isOpaque);

CNukeWebP_Status CNukeWebP_encode(CNukeWebP_Encoder *_Nonnull encoder, CNukeWebP_EncodingOptions options);

// The file, owned by the encoder; NULL before there is one.
const uint8_t *_Nullable CNukeWebP_bytes(const CNukeWebP_Encoder *_Nonnull encoder, size_t *_Nonnull count);

// The library's number for why `encode` failed.
int CNukeWebP_encoderError(const CNukeWebP_Encoder *_Nonnull encoder);

#endif
