#include "CNukeVideo.h"

#include "Library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CNUKEVIDEO_HAS_HEADERS

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

// Opens one library; it is never closed, as what has started in it may still run.
static void *openOne(const char *folder, const char *name, const char *version) {
    char path[4096];
    const char *format = folder ? "%s/%s.so.%s" : "%s%s.so.%s";
    int length = snprintf(path, sizeof path, format, folder ? folder : "", name, version);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

const CNukeVideo_Library *CNukeVideo_openLibrary(
    const char *folder, CNukeVideo_Opening *opening, const char **missing) {
    *missing = NULL;
    CNukeVideo_Library *library = calloc(1, sizeof *library);
    if (!library) {
        *opening = CNukeVideo_OpeningNotInstalled;
        return NULL;
    }
#define FIND(function) \
    if (!(*(void **)&library->function = dlsym(handle, #function))) { \
        *opening = CNukeVideo_OpeningUnfit; \
        free(library); \
        return NULL; \
    }
#define OPEN(name, major, functions, versionFunction) \
    { \
        *missing = name TEXT(major); \
        void *handle = openOne(folder, name, TEXT(major)); \
        if (!handle) { \
            *opening = CNukeVideo_OpeningNotInstalled; \
            free(library); \
            return NULL; \
        } \
        functions; \
        if (library->versionFunction() >> 16 != major) { \
            *opening = CNukeVideo_OpeningUnfit; \
            free(library); \
            return NULL; \
        } \
    }
    OPEN("libavutil", LIBAVUTIL_VERSION_MAJOR, CNUKEVIDEO_UTIL_FUNCTIONS(FIND), avutil_version)
    OPEN("libavcodec", LIBAVCODEC_VERSION_MAJOR, CNUKEVIDEO_CODEC_FUNCTIONS(FIND), avcodec_version)
    OPEN("libavformat", LIBAVFORMAT_VERSION_MAJOR,
         CNUKEVIDEO_FORMAT_FUNCTIONS(FIND) CNUKEVIDEO_SIDE_DATA_FUNCTION(FIND), avformat_version)
    OPEN("libswscale", LIBSWSCALE_VERSION_MAJOR, CNUKEVIDEO_SCALE_FUNCTIONS(FIND), swscale_version)
#undef OPEN
#undef FIND
    library->av_log_set_level(AV_LOG_QUIET);
    *missing = NULL;
    *opening = CNukeVideo_OpeningReady;
    return library;
}

const char *CNukeVideo_headerVersion(void) {
    return TEXT(LIBAVFORMAT_VERSION_MAJOR) "." TEXT(LIBAVFORMAT_VERSION_MINOR) "." TEXT(LIBAVFORMAT_VERSION_MICRO);
}

#else
// Without headers nothing is opened, so none of the functions that need an open library is ever called.

const CNukeVideo_Library *CNukeVideo_openLibrary(
    const char *folder, CNukeVideo_Opening *opening, const char **missing) {
    (void)folder;
    *opening = CNukeVideo_OpeningWithoutHeaders;
    *missing = NULL;
    return NULL;
}
const char *CNukeVideo_headerVersion(void) { return NULL; }
#endif
