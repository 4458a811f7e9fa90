// What NukeVideo needs of libavformat, libavcodec and libswscale: the pictures of one video stream, in order or from a time
// on, from memory of which parts may still be missing, or from a file.
//
// C is needed because the libraries are opened when a video asks for them and never linked, because the layout of their
// structs is known only to their headers, and because they call back. No type of theirs is named here, so that Swift
// builds where the headers are missing. Nothing is ever printed: opening the libraries turns their messages off, for the
// whole process.
#ifndef CNUKEVIDEO_H
#define CNUKEVIDEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether there are libraries to use.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeVideo_OpeningReady,
    CNukeVideo_OpeningNotInstalled,   // one of them is not there
    CNukeVideo_OpeningUnfit,          // one lacks a function, or is of another version than the headers were
    CNukeVideo_OpeningWithoutHeaders  // headers were missing when this was built
} CNukeVideo_Opening;

typedef struct CNukeVideo_Library CNukeVideo_Library;

// Opens the libraries that belong to the headers, from `folder` or, if that is NULL, where the system has them. Any thread.
// `missing` becomes the name of the one that did not do, such as "libavformat59", which on Debian and Ubuntu is its package.
const CNukeVideo_Library *_Nullable CNukeVideo_openLibrary(
    const char *_Nullable folder, CNukeVideo_Opening *_Nonnull opening, const char *_Nullable *_Nonnull missing);

// The version of the headers' libavformat, such as "59.27.100"; opens nothing. NULL where there were none.
const char *_Nullable CNukeVideo_headerVersion(void);

// What became of a call.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeVideo_StatusOK,
    CNukeVideo_StatusEnd,            // no more pictures
    CNukeVideo_StatusCorrupt,
    CNukeVideo_StatusTruncated,      // bytes are lacking behind the end of the data
    CNukeVideo_StatusMissing,        // bytes are lacking that have not come yet; see CNukeVideo_missingOffset
    CNukeVideo_StatusUnsupported,
    CNukeVideo_StatusNoVideo,        // nothing in it is a video
    CNukeVideo_StatusNoDecoder,      // libavcodec has no decoder for how it is coded
    CNukeVideo_StatusLimitExceeded,
    CNukeVideo_StatusInterrupted,
    CNukeVideo_StatusOutOfMemory
} CNukeVideo_Status;

typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeVideo_ContainerISOMedia,    // MPEG-4, QuickTime, HEIF
    CNukeVideo_ContainerMatroska
} CNukeVideo_Container;

// The bytes [start, end).
typedef struct {
    int64_t start;
    int64_t end;
} CNukeVideo_Range;

// Where bytes are read; valid for one call.
typedef struct {
    const uint8_t *_Nullable bytes;  // all bytes from the first on; NULL: a file
    size_t count;                    // how many
    int64_t size;                    // of the whole, which may be more than there is
    int64_t arrived;                 // so many from the first on are not just room
    const CNukeVideo_Range *_Nullable ranges;  // further on, these are there too
    size_t rangeCount;
    int file;                        // the descriptor, if there are no bytes
} CNukeVideo_Input;

typedef struct CNukeVideo_Reader CNukeVideo_Reader;

// A reader. `isOver` is asked now and then during calls; when it says true they end with StatusInterrupted. NULL: no memory.
CNukeVideo_Reader *_Nullable CNukeVideo_createReader(
    const CNukeVideo_Library *_Nonnull library, bool (*_Nonnull isOver)(void *_Nonnull), void *_Nonnull context);
void CNukeVideo_destroyReader(CNukeVideo_Reader *_Nonnull reader);

typedef struct {
    CNukeVideo_Container container;
    int64_t pixelCount;    // a picture may have so many at most
    int32_t stream;        // which to read, from 0; -1: the one that is the video
    int32_t cropWidth;     // so much of coded pictures is shown, from the top left; 0: all
    int32_t cropHeight;
    bool takesCutPictures; // whether pictures are decoded whose data ends too early
} CNukeVideo_Choice;

// What the container tells of the stream that is read.
typedef struct {
    int32_t width;              // columns as coded
    int32_t height;             // rows as coded
    double duration;            // seconds; 0: unknown
    double frameRate;           // pictures a second; 0: unknown
    int32_t aspectNumerator;    // a pixel's width by; 0: unknown
    int32_t aspectDenominator;  // its height
    int32_t matrix[9];          // the display matrix, as ISO/IEC 14496-12 has it
    bool hasMatrix;
    bool isPicture;             // a picture that goes with sound, such as the cover of an album
    bool hasAudio;
    const char *_Nullable codec; // such as "h264"; a literal of the library
} CNukeVideo_Description;

// Reads what stands before the pictures, and opens the decoders. Once per reader.
CNukeVideo_Status CNukeVideo_open(
    CNukeVideo_Reader *_Nonnull reader, const CNukeVideo_Input *_Nonnull input, const CNukeVideo_Choice *_Nonnull choice,
    CNukeVideo_Description *_Nonnull description);

// Goes to the last picture at or before a time that can be decoded without others, by what the file says of them.
CNukeVideo_Status CNukeVideo_seek(
    CNukeVideo_Reader *_Nonnull reader, const CNukeVideo_Input *_Nonnull input, double seconds);

// Goes to before the first picture, whatever the file says: opens it again.
CNukeVideo_Status CNukeVideo_restart(CNukeVideo_Reader *_Nonnull reader, const CNukeVideo_Input *_Nonnull input);

typedef struct {
    double time;          // seconds from the start
    double duration;      // seconds; 0: unknown
    int32_t width;        // as decoded
    int32_t height;
    int32_t bitDepth;     // of a sample
    bool hasAlpha;        // whether there are samples of alpha
    bool isDamaged;       // the decoder has made something up
    bool isInterlaced;
    int32_t primaries;    // code points of ITU-T H.273; 2: unspecified
    int32_t transfer;
    int32_t aspectNumerator;
    int32_t aspectDenominator;
} CNukeVideo_Frame;

// Decodes the next picture. After StatusEnd, and after errors, the one before is still there.
//
// With `isLast` no picture will be read after this one unless CNukeVideo_seek comes first: the decoder then need not see
// what follows, to know what comes before it.
CNukeVideo_Status CNukeVideo_readFrame(
    CNukeVideo_Reader *_Nonnull reader, const CNukeVideo_Input *_Nonnull input, bool isLast,
    CNukeVideo_Frame *_Nonnull frame);

// Scales the picture to a size and writes it as RGBA: with full alpha or, where there is a reader of alpha, whose picture
// has that as its luma, premultiplied. The rows are `rowBytes` apart, and libswscale writes whole vectors: up to 64 bytes
// behind a row's end.
CNukeVideo_Status CNukeVideo_copyPixels(
    CNukeVideo_Reader *_Nonnull reader, CNukeVideo_Reader *_Nullable alpha, int32_t width, int32_t height,
    uint8_t *_Nonnull target, size_t rowBytes);

// The first byte that the last call with StatusMissing was in want of.
int64_t CNukeVideo_missingOffset(const CNukeVideo_Reader *_Nonnull reader);

// Why the last call failed; empty if the library said nothing.
const char *_Nonnull CNukeVideo_message(const CNukeVideo_Reader *_Nonnull reader);

#endif
