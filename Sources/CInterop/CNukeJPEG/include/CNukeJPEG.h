// What NukeDecodersJPEG needs of libjpeg-turbo, without any type of the library.
//
// libjpeg reports errors by longjmp. Every call that can fail is made here, behind a setjmp, and comes back with a
// status: no Swift frame lies between, and nothing here calls back into Swift. Nothing is ever printed.
//
// A decoder keeps no pointer to the input between calls: each call is given all bytes received so far, from the first
// one on, wherever they lie by then. A call that needs more of them says `needsInput` and goes on where it was when it
// is made again. Arithmetic-coded pictures can't wait: they are `unsupported` unless the input is complete.
#ifndef CNUKEJPEG_H
#define CNUKEJPEG_H

#include <stddef.h>
#include <stdint.h>

// How a call ended. After a failure (anything but ok and needsInput) the object only repeats it.
typedef enum __attribute__((enum_extensibility(closed))) CNukeJPEG_Status {
    CNukeJPEG_StatusOk,
    CNukeJPEG_StatusNeedsInput,     // the input ends here and is not complete
    CNukeJPEG_StatusCorrupt,        // the data breaks the format's rules
    CNukeJPEG_StatusTruncated,      // the input is complete and lacks data, which is not tolerated
    CNukeJPEG_StatusUnsupported,    // a part of the format that the library does not do
    CNukeJPEG_StatusLimitExceeded,  // more scans, segments, metadata or memory than allowed
    CNukeJPEG_StatusOutOfMemory,
    CNukeJPEG_StatusUnavailable,    // built without the library, or with headers of another one
} CNukeJPEG_Status;

// Whether this was built with libjpeg-turbo.
int CNukeJPEG_isAvailable(void);

// The version of libjpeg-turbo that this was built with, such as "2.1.5"; empty without it.
const char *_Nonnull CNukeJPEG_version(void);

// MARK: Decoding

typedef struct CNukeJPEG_Decoder CNukeJPEG_Decoder;

// Everything received so far.
typedef struct CNukeJPEG_Input {
    const uint8_t *_Nullable bytes;
    size_t count;
    int isComplete;
} CNukeJPEG_Input;

// What a decode may take, and whether it makes do with less than the whole.
typedef struct CNukeJPEG_Limits {
    int scanCount;
    int segmentCount;      // marker segments, headers and tables included
    size_t metadataBytes;  // of EXIF and ICC segments
    size_t memoryBytes;    // that the library may allocate
    int isLenient;         // whether a picture is kept of which data is lacking
} CNukeJPEG_Limits;

// A part of the input.
typedef struct CNukeJPEG_Range {
    size_t offset;
    size_t count;
} CNukeJPEG_Range;

// The model of the stored samples.
typedef enum __attribute__((enum_extensibility(closed))) CNukeJPEG_ColorModel {
    CNukeJPEG_ColorModelUnknown,
    CNukeJPEG_ColorModelGray,
    CNukeJPEG_ColorModelRGB,
    CNukeJPEG_ColorModelCMYK,
} CNukeJPEG_ColorModel;

// What a number of pixels of the density is to.
typedef enum __attribute__((enum_extensibility(closed))) CNukeJPEG_DensityUnit {
    CNukeJPEG_DensityUnitNone,
    CNukeJPEG_DensityUnitInch,
    CNukeJPEG_DensityUnitCentimetre,
} CNukeJPEG_DensityUnit;

// What the header tells.
typedef struct CNukeJPEG_Header {
    int width;   // stored, in pixels
    int height;
    int bitDepth;
    CNukeJPEG_ColorModel colorModel;
    int isProgressive;
    int hasMultipleScans;       // whether the coefficients of the whole picture are held while it is read
    uint64_t coefficientBytes;  // what they take
    CNukeJPEG_Range exif;       // content of the first EXIF segment, after its "Exif" header; count 0: none
    int iccChunkCount;          // ICC segments before the picture
    CNukeJPEG_DensityUnit densityUnit;  // of the JFIF segment; none: no density told
    int densityX;
    int densityY;
} CNukeJPEG_Header;

// Creates a decoder; NULL if there is no memory for it. What else went wrong the first call tells.
CNukeJPEG_Decoder *_Nullable CNukeJPEG_decoderCreate(CNukeJPEG_Limits limits);

void CNukeJPEG_decoderDestroy(CNukeJPEG_Decoder *_Nonnull decoder);

// What a failed call has to say; valid until the decoder is destroyed.
const char *_Nonnull CNukeJPEG_decoderMessage(const CNukeJPEG_Decoder *_Nonnull decoder);

// Warnings so far: damage that the library coped with.
long CNukeJPEG_decoderWarningCount(const CNukeJPEG_Decoder *_Nonnull decoder);

// Whether data was found to be lacking, where that is tolerated.
int CNukeJPEG_decoderIsTruncated(const CNukeJPEG_Decoder *_Nonnull decoder);

// Reads up to the first scan.
CNukeJPEG_Status CNukeJPEG_decoderReadHeader(
    CNukeJPEG_Decoder *_Nonnull decoder, CNukeJPEG_Input input, CNukeJPEG_Header *_Nonnull header);

// The content of an ICC segment, after its "ICC_PROFILE" header: sequence number, count, then a part of the profile.
CNukeJPEG_Range CNukeJPEG_decoderICCChunk(const CNukeJPEG_Decoder *_Nonnull decoder, int index);

// Begins to decode to RGBA, 8 bits a sample, alpha 255, at 1/denominator (1, 2, 4, 8) of the size, rounded up.
//
// CMYK becomes RGB by the plain formula, (1 - C)(1 - K) and so on, the stored samples being 1 - C, as Adobe's programs
// write them and every browser reads them, whether the file says so or not.
CNukeJPEG_Status CNukeJPEG_decoderStart(
    CNukeJPEG_Decoder *_Nonnull decoder, CNukeJPEG_Input input, int denominator, int *_Nonnull width,
    int *_Nonnull height);

// From the next row on CMYK stays as it is stored, four samples a pixel, instead of becoming RGBA by the plain formula.
void CNukeJPEG_decoderKeepCMYK(CNukeJPEG_Decoder *_Nonnull decoder);

// How far the scans have been taken in.
typedef struct CNukeJPEG_Progress {
    int isFinished;    // there are no more
    int showableScan;  // the last scan that is there as a whole, once all components are; 0: none
} CNukeJPEG_Progress;

// With multiple scans: takes in `steps` rows of blocks or markers. Tells the progress when more input is needed too.
CNukeJPEG_Status CNukeJPEG_decoderConsume(
    CNukeJPEG_Decoder *_Nonnull decoder, CNukeJPEG_Input input, int steps, CNukeJPEG_Progress *_Nonnull progress);

// With multiple scans: begins to show what has been taken in, up to a showable scan; 0: all of it, once finished.
//
// May be called again and again; rows of the last pass that were not read are left out.
CNukeJPEG_Status CNukeJPEG_decoderStartPass(
    CNukeJPEG_Decoder *_Nonnull decoder, CNukeJPEG_Input input, int scan);

// Writes the next rows, at most `count`, `bytesPerRow` apart; *rowsRead tells how many there were.
CNukeJPEG_Status CNukeJPEG_decoderReadRows(
    CNukeJPEG_Decoder *_Nonnull decoder, CNukeJPEG_Input input, uint8_t *_Nonnull rows, size_t bytesPerRow, int count,
    int *_Nonnull rowsRead);

// MARK: Encoding

typedef struct CNukeJPEG_Encoder CNukeJPEG_Encoder;

// What to write, and how.
typedef struct CNukeJPEG_EncodingOptions {
    int width;
    int height;
    int isGray;          // rows of one byte a pixel, else of four: red, green, blue and one that is ignored
    int quality;         // 1…100
    int isChromaHalved;  // 4:2:0, else 4:4:4
    int isProgressive;
    const uint8_t *_Nullable iccProfile;
    size_t iccProfileCount;
    const uint8_t *_Nullable exif;  // a TIFF structure; at most 65,527 bytes
    size_t exifCount;
} CNukeJPEG_EncodingOptions;

// Creates an encoder; NULL if there is no memory for it. What else went wrong the first call tells.
CNukeJPEG_Encoder *_Nullable CNukeJPEG_encoderCreate(void);

void CNukeJPEG_encoderDestroy(CNukeJPEG_Encoder *_Nonnull encoder);

// What a failed call has to say; valid until the encoder is destroyed.
const char *_Nonnull CNukeJPEG_encoderMessage(const CNukeJPEG_Encoder *_Nonnull encoder);

// Writes the headers.
CNukeJPEG_Status CNukeJPEG_encoderStart(
    CNukeJPEG_Encoder *_Nonnull encoder, const CNukeJPEG_EncodingOptions *_Nonnull options);

// Takes the next `count` rows, `bytesPerRow` apart.
CNukeJPEG_Status CNukeJPEG_encoderWriteRows(
    CNukeJPEG_Encoder *_Nonnull encoder, const uint8_t *_Nonnull rows, size_t bytesPerRow, int count);

// Writes what is left, once all rows are given.
CNukeJPEG_Status CNukeJPEG_encoderFinish(CNukeJPEG_Encoder *_Nonnull encoder);

// The file, after a finish that succeeded; valid until the encoder is destroyed.
const uint8_t *_Nullable CNukeJPEG_encoderBytes(const CNukeJPEG_Encoder *_Nonnull encoder, size_t *_Nonnull count);

#endif
