// What NukeDecodersPNG calls of libpng. libpng reports errors by longjmp, which must not cross a Swift frame: every
// function here that can fail catches them and returns a status. Nothing is ever printed, no function calls back into
// Swift, and no type of the library is named here, so this header serves where libpng's own is missing. Then every
// function fails with CNukePNG_unavailable.
#ifndef CNUKEPNG_H
#define CNUKEPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CNukePNG_Status {
    CNukePNG_ok = 0,
    CNukePNG_truncated,    // the bytes end before the picture does
    CNukePNG_failed,       // libpng gave up; the message says why
    CNukePNG_outOfMemory,
    CNukePNG_unavailable,  // built without libpng, or running with another version than built for
} CNukePNG_Status;

// The version of the running library, such as "1.6.39"; NULL where this was built without it.
const char *_Nullable CNukePNG_version(void);

// Whether this was built with libpng and runs with a library of the same major and minor version.
bool CNukePNG_isAvailable(void);

// Decoding. Order of calls: create, readHeader, start, then readRow for every row of every pass, destroy. After a
// status other than CNukePNG_ok only the message may be asked for.

typedef struct CNukePNG_Decoder CNukePNG_Decoder;

typedef struct CNukePNG_Limits {
    uint32_t sideLength;     // pixels of either side
    size_t chunkBytes;       // bytes of one chunk that is kept, after decompression
    bool isAppleVariant;     // the stream's checksum is not there, and blue stands first in colours of 8 bits
} CNukePNG_Limits;

typedef struct CNukePNG_Header {
    uint32_t width;          // columns as stored
    uint32_t height;         // rows as stored
    bool hasAlpha;           // an alpha channel, or a tRNS chunk that holds
    const uint8_t *_Nullable profile;  // the ICC profile, owned by the decoder; NULL if there is none that holds
    uint32_t profileCount;
} CNukePNG_Header;

// A decoder of a standard PNG, or one of Apple's variant as far as the limits say, of `count` bytes, which have to outlive it; NULL if there is no memory or no library.
CNukePNG_Decoder *_Nullable CNukePNG_createDecoder(const uint8_t *_Nonnull bytes, size_t count, CNukePNG_Limits limits);
void CNukePNG_destroyDecoder(CNukePNG_Decoder *_Nonnull decoder);

// Reads all that stands before the picture. Chunks other than IHDR, PLTE, tRNS and iCCP are passed over unread.
CNukePNG_Status CNukePNG_readHeader(CNukePNG_Decoder *_Nonnull decoder, CNukePNG_Header *_Nonnull header);

// Asks for rows of RGBA, not premultiplied; says how often all rows are to be read: 7 for Adam7. Samples have 8 bits, or
// 16 in the machine's byte order if they are stored so and `keepsDepth` asks for it.
CNukePNG_Status CNukePNG_start(CNukePNG_Decoder *_Nonnull decoder, bool keepsDepth, int *_Nonnull passes);

// Reads the next row into `row`, which has room for `capacity` bytes: 4 or 8 × width at least. Of an interlaced picture only
// the pixels of the pass are written, so every pass is given what the pass before left.
CNukePNG_Status CNukePNG_readRow(CNukePNG_Decoder *_Nonnull decoder, uint8_t *_Nonnull row, size_t capacity);

// Multiplies colour by alpha in `count` bytes of RGBA: c × a ÷ 255, rounded to the nearest. In C for its
// vectors, which save 2 ms a megapixel over a loop in Swift.
void CNukePNG_premultiply(uint8_t *_Nonnull row, size_t count);

// Why the last call failed; empty if none did.
const char *_Nonnull CNukePNG_decoderMessage(const CNukePNG_Decoder *_Nonnull decoder);

// Encoding. Order of calls: create, start, then writeRow for every row of every pass, finish, takeBytes, destroy.

typedef struct CNukePNG_Encoder CNukePNG_Encoder;

typedef struct CNukePNG_Picture {
    uint32_t width;
    uint32_t height;
    int bitDepth;            // 8 or 16
    int channels;            // 1 gray, 3 RGB, 4 RGBA; 16-bit samples are big-endian
    bool isInterlaced;       // Adam7
    int compressionLevel;    // zlib's, 0…9
    const uint8_t *_Nullable profile;  // an ICC profile to store; passed over if libpng finds it broken
    uint32_t profileCount;
    const uint8_t *_Nullable exif;     // EXIF data to store, a TIFF structure
    size_t exifCount;
} CNukePNG_Picture;

// An encoder into memory; NULL if there is no memory or no library.
CNukePNG_Encoder *_Nullable CNukePNG_createEncoder(void);
void CNukePNG_destroyEncoder(CNukePNG_Encoder *_Nonnull encoder);

// Writes all that stands before the picture; says how often all rows are to be written: 7 for Adam7.
CNukePNG_Status CNukePNG_startPicture(
    CNukePNG_Encoder *_Nonnull encoder, const CNukePNG_Picture *_Nonnull picture, int *_Nonnull passes);

// Writes the next row of `count` bytes: width × channels × bytes a sample at least.
CNukePNG_Status CNukePNG_writeRow(CNukePNG_Encoder *_Nonnull encoder, const uint8_t *_Nonnull row, size_t count);

// Ends the file.
CNukePNG_Status CNukePNG_finishPicture(CNukePNG_Encoder *_Nonnull encoder);

// Hands over the file, in memory to be freed with free(3); NULL if there is none.
uint8_t *_Nullable CNukePNG_takeBytes(CNukePNG_Encoder *_Nonnull encoder, size_t *_Nonnull count);

// Why the last call failed; empty if none did.
const char *_Nonnull CNukePNG_encoderMessage(const CNukePNG_Encoder *_Nonnull encoder);

#endif
