// What NukeColorManagement needs of Little CMS: the way from a profile's colours to sRGB.
//
// C is needed because the library is opened when a picture asks for it and never linked, and because its pixel formats are
// macros. No type of the library is named here, so that Swift builds where its headers are missing.
#ifndef CNUKECOLOR_H
#define CNUKECOLOR_H

#include <stddef.h>
#include <stdint.h>

// Whether there is a library to use.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeColor_OpeningReady,
    CNukeColor_OpeningNotInstalled,   // no library of that name
    CNukeColor_OpeningTooOld,         // one without a function that is needed: older than 2.8
    CNukeColor_OpeningWithoutHeaders  // its headers were missing when this was built
} CNukeColor_Opening;

typedef struct CNukeColor_Library CNukeColor_Library;

// Opens a library by its name. Any thread.
const CNukeColor_Library *_Nullable CNukeColor_openLibrary(
    const char *_Nonnull name, CNukeColor_Opening *_Nonnull opening);

// Forgets the functions that were found; the library itself stays open.
void CNukeColor_forgetLibrary(const CNukeColor_Library *_Nonnull library);

// The version of the open library: 2140 for 2.14.
int CNukeColor_libraryVersion(const CNukeColor_Library *_Nonnull library);

// The version of the headers that this was built with, likewise; 0 without.
int CNukeColor_headerVersion(void);

// How samples lie.
typedef enum __attribute__((enum_extensibility(closed))) {
    CNukeColor_SamplesRGBA8,   // straight alpha, which stays
    CNukeColor_SamplesRGBA16,  // the same, of 16 bits
    CNukeColor_SamplesGray8,
    CNukeColor_SamplesCMYK8    // 1 - C and so on; becomes RGBA with alpha 255
} CNukeColor_Samples;

typedef struct CNukeColor_Transform CNukeColor_Transform;

// Makes the way from a profile to sRGB, relative colorimetric, from CMYK perceptual. NULL where the profile is damaged, says nothing about such samples, or
// there is no memory. Keeps no pointer to the profile. Any thread.
CNukeColor_Transform *_Nullable CNukeColor_createTransform(
    const CNukeColor_Library *_Nonnull library, const uint8_t *_Nonnull profile, size_t count,
    CNukeColor_Samples samples);

void CNukeColor_destroyTransform(CNukeColor_Transform *_Nonnull transform);

// Converts pixels in place. Any number of threads may do so at once with one transform.
void CNukeColor_convert(
    const CNukeColor_Transform *_Nonnull transform, uint8_t *_Nonnull pixels, size_t pixelCount);

#endif
