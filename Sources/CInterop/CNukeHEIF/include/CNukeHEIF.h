// What NukeDecodersHEIF needs of libheif: the container's primary picture and its thumbnails, decoded by rows, and files
// of one picture.
//
// C is needed because the library is opened when a picture asks for it and never linked, because its errors are structs
// returned by value, and because the conversion of its planes is a loop over raw memory. No type of libheif is named
// here, so that Swift builds where its headers are missing.
#ifndef CNUKEHEIF_H
#define CNUKEHEIF_H

#include <stddef.h>
#include <stdint.h>

// Whether there is a libheif to use.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeHEIF_OpeningReady,
    CNukeHEIF_OpeningNotInstalled,   // no library of that name
    CNukeHEIF_OpeningTooOld,         // one without a function that is needed: older than 1.13
    CNukeHEIF_OpeningWithoutHeaders  // its headers were missing when this was built
} CNukeHEIF_Opening;

typedef struct CNukeHEIF_Library CNukeHEIF_Library;

// Opens a library by its name. Any thread.
const CNukeHEIF_Library *_Nullable CNukeHEIF_openLibrary(const char *_Nonnull name, CNukeHEIF_Opening *_Nonnull opening);

// Forgets the functions that were found; the library itself stays open, as what has started in it may still run.
void CNukeHEIF_forgetLibrary(const CNukeHEIF_Library *_Nonnull library);

// The version of the open library, such as "1.15.1".
const char *_Nonnull CNukeHEIF_libraryVersion(const CNukeHEIF_Library *_Nonnull library);

// The version of the headers that this was built with; opens nothing. NULL where there were none.
const char *_Nullable CNukeHEIF_headerVersion(void);

// How the pixels of a picture are coded.
typedef enum __attribute__((enum_extensibility(closed))) { CNukeHEIF_CodecHEVC, CNukeHEIF_CodecAV1 } CNukeHEIF_Codec;

// Whether the library, or a plug-in of it, decodes or encodes that; 1 or 0.
int CNukeHEIF_decodes(const CNukeHEIF_Library *_Nonnull library, CNukeHEIF_Codec codec);
int CNukeHEIF_encodes(const CNukeHEIF_Library *_Nonnull library, CNukeHEIF_Codec codec);

// What became of a call.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeHEIF_StatusOK,
    CNukeHEIF_StatusCorrupt,
    CNukeHEIF_StatusTruncated,
    CNukeHEIF_StatusUnsupported,
    CNukeHEIF_StatusNoCodec,  // nothing decodes or encodes pixels that are coded so
    CNukeHEIF_StatusLimitExceeded,
    CNukeHEIF_StatusOutOfMemory
} CNukeHEIF_Status;

// MARK: Decoding

typedef struct CNukeHEIF_Decoder CNukeHEIF_Decoder;

// Code points of ITU-T H.273; 2 is "unspecified".
typedef struct {
    uint16_t primaries;
    uint16_t transfer;
    uint16_t matrix;
    int isFullRange;
} CNukeHEIF_Coding;

// What the container tells of a picture.
typedef struct {
    int32_t width, height;            // as it is to be shown: cropped, turned and mirrored
    int32_t codedWidth, codedHeight;  // as it is stored
    int32_t bitDepth;
    int hasAlpha;
    int32_t thumbnailCount;
    size_t profileCount;  // bytes of the ICC profile, 0 without one
    size_t exifCount;     // bytes of the first item of EXIF data of the primary picture, 0 without one
} CNukeHEIF_Picture;

// NULL without memory. The calls for one decoder must not overlap.
CNukeHEIF_Decoder *_Nullable CNukeHEIF_createDecoder(const CNukeHEIF_Library *_Nonnull library);
void CNukeHEIF_destroyDecoder(CNukeHEIF_Decoder *_Nonnull decoder);

// Reads the container. The bytes must stay where they are until the decoder is destroyed.
CNukeHEIF_Status CNukeHEIF_openData(
    CNukeHEIF_Decoder *_Nonnull decoder, const uint8_t *_Nonnull bytes, size_t count, int32_t sideLimit);

// Chooses what the calls below are about: the primary picture, which it is to begin with, or its largest thumbnail.
CNukeHEIF_Status CNukeHEIF_selectThumbnail(CNukeHEIF_Decoder *_Nonnull decoder);

// What the container tells of the chosen picture.
void CNukeHEIF_getPicture(CNukeHEIF_Decoder *_Nonnull decoder, CNukeHEIF_Picture *_Nonnull picture);

// Copies the ICC profile, of which there are `profileCount` bytes.
CNukeHEIF_Status CNukeHEIF_copyProfile(CNukeHEIF_Decoder *_Nonnull decoder, uint8_t *_Nonnull profile);

// Copies the item of EXIF data, of which there are `exifCount` bytes: four that tell how many to pass over, big-endian,
// then these and the TIFF structure.
CNukeHEIF_Status CNukeHEIF_copyExif(CNukeHEIF_Decoder *_Nonnull decoder, uint8_t *_Nonnull exif);

// What the container tells of colours, if it does so by code points; returns 1 if it does.
int CNukeHEIF_getCoding(CNukeHEIF_Decoder *_Nonnull decoder, CNukeHEIF_Coding *_Nonnull coding);

// Decodes all pixels of the chosen picture; says how large it is, at most what width and height are before, since coded
// pictures may be padded to whole blocks, and in what coding it was.
CNukeHEIF_Status CNukeHEIF_decode(
    CNukeHEIF_Decoder *_Nonnull decoder, int32_t *_Nonnull width, int32_t *_Nonnull height,
    CNukeHEIF_Coding *_Nonnull coding);

// Writes `width` pixels of row `y` as RGBA of 8 bits a sample, premultiplied.
//
// With a reduction of 2 or 4 a pixel is the mean of that many columns and rows, and `y` and `width` count such pixels; the
// last column and row may be of fewer. For pictures without alpha only. Rows and columns must lie within what was decoded.
void CNukeHEIF_readRow(
    CNukeHEIF_Decoder *_Nonnull decoder, int32_t y, int32_t width, int32_t reduction, uint8_t *_Nonnull row);

// Why the last call failed; valid until the next.
const char *_Nonnull CNukeHEIF_message(const CNukeHEIF_Decoder *_Nonnull decoder);

// MARK: Encoding

// What to write, and how.
typedef struct {
    CNukeHEIF_Codec codec;
    int32_t width, height;
    int channelCount;  // 1: luminance, 3: RGB, 4: RGBA that is not premultiplied; 8 bits each
    int quality;       // 0 to 100
    int isChromaHalved;
    const uint8_t *_Nullable profile;
    size_t profileCount;
} CNukeHEIF_EncodingOptions;

typedef struct CNukeHEIF_Encoder CNukeHEIF_Encoder;

// NULL without memory.
CNukeHEIF_Encoder *_Nullable CNukeHEIF_createEncoder(const CNukeHEIF_Library *_Nonnull library);
void CNukeHEIF_destroyEncoder(CNukeHEIF_Encoder *_Nonnull encoder);

// Makes room for the pixels.
CNukeHEIF_Status CNukeHEIF_start(CNukeHEIF_Encoder *_Nonnull encoder, const CNukeHEIF_EncodingOptions *_Nonnull options);

// Where row `y` is to be written: width × channelCount bytes. NULL outside the picture.
uint8_t *_Nullable CNukeHEIF_encoderRow(CNukeHEIF_Encoder *_Nonnull encoder, int32_t y);

// Encodes what was written and makes the file.
CNukeHEIF_Status CNukeHEIF_finish(
    CNukeHEIF_Encoder *_Nonnull encoder, const uint8_t *_Nullable exif, size_t exifCount);

// The file, which the caller has to free(); NULL if there is none.
uint8_t *_Nullable CNukeHEIF_takeFile(CNukeHEIF_Encoder *_Nonnull encoder, size_t *_Nonnull count);

// Why the last call failed; valid until the next.
const char *_Nonnull CNukeHEIF_encoderMessage(const CNukeHEIF_Encoder *_Nonnull encoder);

#endif
