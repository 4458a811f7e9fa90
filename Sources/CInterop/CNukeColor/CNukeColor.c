#include "CNukeColor.h"

#if __has_include(<lcms2.h>)
#include <dlfcn.h>
#include <lcms2.h>
#include <stdlib.h>

#define CNUKECOLOR_FUNCTIONS(X) \
    X(GetEncodedCMMversion) \
    X(CreateContext) \
    X(DeleteContext) \
    X(OpenProfileFromMemTHR) \
    X(CreateRGBProfileTHR) \
    X(BuildParametricToneCurve) \
    X(FreeToneCurve) \
    X(CloseProfile) \
    X(GetColorSpace) \
    X(CreateTransformTHR) \
    X(DoTransform) \
    X(DeleteTransform)

struct CNukeColor_Library {
#define CNUKECOLOR_MEMBER(name) __typeof__(cms##name) *name;
    CNUKECOLOR_FUNCTIONS(CNUKECOLOR_MEMBER)
#undef CNUKECOLOR_MEMBER
};

struct CNukeColor_Transform {
    const CNukeColor_Library *library;
    CNukeColor_Samples samples;
    cmsContext context;
    cmsHTRANSFORM raw;
    uint8_t grays[256];  // for gray: what each value becomes
};

const CNukeColor_Library *CNukeColor_openLibrary(const char *name, CNukeColor_Opening *opening) {
    *opening = CNukeColor_OpeningNotInstalled;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return NULL;
    *opening = CNukeColor_OpeningTooOld;
    CNukeColor_Library *library = calloc(1, sizeof *library);
    if (!library) return NULL;
#define FIND(function) \
    if (!(*(void **)&library->function = dlsym(handle, "cms" #function))) { \
        free(library); \
        return NULL; \
    }
    CNUKECOLOR_FUNCTIONS(FIND)
#undef FIND
    // Before 2.8 alpha was not copied.
    if (library->GetEncodedCMMversion() < 2080) {
        free(library);
        return NULL;
    }
    *opening = CNukeColor_OpeningReady;
    return library;
}

void CNukeColor_forgetLibrary(const CNukeColor_Library *library) { free((void *)library); }

int CNukeColor_libraryVersion(const CNukeColor_Library *library) { return library->GetEncodedCMMversion(); }

int CNukeColor_headerVersion(void) { return LCMS_VERSION; }

// sRGB (IEC 61966-2-1): primaries, white and curve.
static cmsHPROFILE createSRGB(const CNukeColor_Library *library, cmsContext context) {
    static const cmsFloat64Number parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    static const cmsCIExyY white = {0.3127, 0.3290, 1};
    static const cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *curve = library->BuildParametricToneCurve(context, 4, parameters);
    if (!curve) return NULL;
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile = library->CreateRGBProfileTHR(context, &white, &primaries, curves);
    library->FreeToneCurve(curve);
    return profile;
}

static cmsHTRANSFORM createRaw(
    const CNukeColor_Library *library, cmsContext context, cmsHPROFILE source, CNukeColor_Samples samples) {
    cmsUInt32Number from = TYPE_RGBA_8, to = TYPE_RGBA_8;
    cmsColorSpaceSignature space = cmsSigRgbData;
    // As the core converts profiles of curves and a matrix.
    cmsUInt32Number intent = INTENT_RELATIVE_COLORIMETRIC;
    switch (samples) {
    case CNukeColor_SamplesRGBA8: break;
    case CNukeColor_SamplesRGBA16: from = to = TYPE_RGBA_16; break;
    case CNukeColor_SamplesGray8:
        from = TYPE_GRAY_8;
        to = TYPE_RGB_8;
        space = cmsSigGrayData;
        break;
    case CNukeColor_SamplesCMYK8:
        from = TYPE_CMYK_8_REV;
        space = cmsSigCmykData;
        // Ink on paper has neither sRGB's black nor its colours: what the profile's maker thought best of. sRGB's being
        // of version 4, the library maps black to black.
        intent = INTENT_PERCEPTUAL;
        break;
    }
    if (library->GetColorSpace(source) != space) return NULL;
    cmsHPROFILE target = createSRGB(library, context);
    if (!target) return NULL;
    // Without the memory of the last pixel a transform is never written to, so threads may share it. Alpha is an extra
    // channel, which stays as it is where pixels are converted in place.
    cmsHTRANSFORM raw =
        library->CreateTransformTHR(context, source, from, target, to, intent, cmsFLAGS_NOCACHE);
    library->CloseProfile(target);
    return raw;
}

CNukeColor_Transform *CNukeColor_createTransform(
    const CNukeColor_Library *library, const uint8_t *profile, size_t count, CNukeColor_Samples samples) {
    if (count < 132 || count > INT32_MAX) return NULL;
    CNukeColor_Transform *transform = calloc(1, sizeof *transform);
    if (!transform) return NULL;
    transform->library = library;
    transform->samples = samples;
    // Of its own, so that what it reports, which is dropped, and its memory are nobody else's.
    transform->context = library->CreateContext(NULL, NULL);
    cmsHPROFILE source =
        transform->context
            ? library->OpenProfileFromMemTHR(transform->context, profile, (cmsUInt32Number)count)
            : NULL;
    if (source) {
        transform->raw = createRaw(library, transform->context, source, samples);
        library->CloseProfile(source);
    }
    if (!transform->raw) {
        CNukeColor_destroyTransform(transform);
        return NULL;
    }
    if (samples == CNukeColor_SamplesGray8) {
        uint8_t values[256], colors[256 * 3];
        for (int i = 0; i < 256; i++) values[i] = (uint8_t)i;
        library->DoTransform(transform->raw, values, colors, 256);
        for (int i = 0; i < 256; i++) transform->grays[i] = colors[i * 3 + 1];
    }
    return transform;
}

void CNukeColor_destroyTransform(CNukeColor_Transform *transform) {
    if (transform->raw) transform->library->DeleteTransform(transform->raw);
    if (transform->context) transform->library->DeleteContext(transform->context);
    free(transform);
}

void CNukeColor_convert(const CNukeColor_Transform *transform, uint8_t *pixels, size_t pixelCount) {
    if (transform->samples == CNukeColor_SamplesGray8) {
        for (size_t i = 0; i < pixelCount; i++) pixels[i] = transform->grays[pixels[i]];
        return;
    }
    size_t bytesPerPixel = transform->samples == CNukeColor_SamplesRGBA16 ? 8 : 4;
    // The library counts in 32 bits.
    for (size_t done = 0, step; done < pixelCount; done += step) {
        step = pixelCount - done < 1 << 24 ? pixelCount - done : 1 << 24;
        uint8_t *start = pixels + done * bytesPerPixel;
        transform->library->DoTransform(transform->raw, start, start, (cmsUInt32Number)step);
        if (transform->samples != CNukeColor_SamplesCMYK8) continue;
        for (size_t i = 0; i < step; i++) start[i * 4 + 3] = 255;
    }
}

#else
// Without headers nothing is opened, so none of the functions that need an open library is ever called.

const CNukeColor_Library *CNukeColor_openLibrary(const char *name, CNukeColor_Opening *opening) {
    (void)name;
    *opening = CNukeColor_OpeningWithoutHeaders;
    return NULL;
}
void CNukeColor_forgetLibrary(const CNukeColor_Library *library) { (void)library; }
int CNukeColor_libraryVersion(const CNukeColor_Library *library) {
    (void)library;
    return 0;
}
int CNukeColor_headerVersion(void) { return 0; }
CNukeColor_Transform *CNukeColor_createTransform(
    const CNukeColor_Library *library, const uint8_t *profile, size_t count, CNukeColor_Samples samples) {
    (void)library, (void)profile, (void)count, (void)samples;
    return NULL;
}
void CNukeColor_destroyTransform(CNukeColor_Transform *transform) { (void)transform; }
void CNukeColor_convert(const CNukeColor_Transform *transform, uint8_t *pixels, size_t pixelCount) {
    (void)transform, (void)pixels, (void)pixelCount;
}
#endif
