// What NukeSVG needs of librsvg, cairo and GIO: a picture drawn at a size, and gzip undone.
//
// C is needed because the libraries are opened when a picture asks for them and never linked, and C++ because librsvg may
// give up on a file. Their functions are declared here, as they have been for ten years and more, so that no headers are
// needed to build this.
#ifndef CNUKESVG_H
#define CNUKESVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether there are libraries to use.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeSVG_OpeningReady,
    CNukeSVG_OpeningNotInstalled,  // one of them is not there
    CNukeSVG_OpeningUnfit          // one lacks a function
} CNukeSVG_Opening;

typedef struct CNukeSVG_Library CNukeSVG_Library;

// Opens the libraries, from `folder` or, if that is NULL, where the system has them. Any thread. Never closed.
// `missing` becomes the name of the one that did not do, such as "librsvg-2.so.2".
const CNukeSVG_Library *_Nullable CNukeSVG_openLibrary(
    const char *_Nullable folder, CNukeSVG_Opening *_Nonnull opening, const char *_Nullable *_Nonnull missing);

// The version of librsvg: three numbers.
void CNukeSVG_getVersion(const CNukeSVG_Library *_Nonnull library, int32_t *_Nonnull version);

// What became of a call.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeSVG_StatusOK,
    CNukeSVG_StatusCorrupt,
    CNukeSVG_StatusTruncated,
    CNukeSVG_StatusLimitExceeded,
    CNukeSVG_StatusInterrupted,
    CNukeSVG_StatusOutOfMemory
} CNukeSVG_Status;

// Undoes gzip, up to `capacity` bytes. `length` becomes how many there are; truncated: the data ends before they do;
// limit exceeded: there are more.
CNukeSVG_Status CNukeSVG_inflate(
    const CNukeSVG_Library *_Nonnull library, const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull target,
    size_t capacity, size_t *_Nonnull length);

// Asks a drawing to end, from another thread: while it reads the file and, from librsvg 2.59 on, while it draws.
typedef struct CNukeSVG_Interruption CNukeSVG_Interruption;
CNukeSVG_Interruption *_Nullable CNukeSVG_createInterruption(const CNukeSVG_Library *_Nonnull library);
void CNukeSVG_interrupt(const CNukeSVG_Library *_Nonnull library, CNukeSVG_Interruption *_Nonnull interruption);
void CNukeSVG_destroyInterruption(
    const CNukeSVG_Library *_Nonnull library, CNukeSVG_Interruption *_Nonnull interruption);

typedef struct {
    const uint8_t *_Nonnull bytes;
    size_t count;
    bool isUnlimited;                    // whether libxml2's own limits are lifted
    const uint8_t *_Nullable stylesheet; // applied before the file's own
    size_t stylesheetCount;
    double naturalWidth;                 // the size that the picture gives itself
    double naturalHeight;
    int32_t width;                       // columns to draw, to which that is stretched
    int32_t height;
} CNukeSVG_Drawing;

#define CNUKESVG_MESSAGE_CAPACITY 256

// Draws a picture into rows of zeros, as premultiplied RGBA; `isOpaque` becomes whether every alpha is full. What fails
// says why in `message`, or leaves it empty. Nothing but the bytes is read, as there is no address to refer from.
CNukeSVG_Status CNukeSVG_draw(
    const CNukeSVG_Library *_Nonnull library, const CNukeSVG_Drawing *_Nonnull drawing,
    CNukeSVG_Interruption *_Nonnull interruption, uint8_t *_Nonnull pixels, bool *_Nonnull isOpaque,
    char *_Nonnull message);

// How many fonts there are; -1: not to be told.
int32_t CNukeSVG_countFonts(const CNukeSVG_Library *_Nonnull library);

#endif
