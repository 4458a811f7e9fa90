#include "CNukeHEIF.h"

#include "Library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CNUKEHEIF_HAS_HEADERS

const CNukeHEIF_Library *CNukeHEIF_openLibrary(const char *name, CNukeHEIF_Opening *opening) {
    *opening = CNukeHEIF_OpeningNotInstalled;
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) return NULL;
    *opening = CNukeHEIF_OpeningTooOld;
    CNukeHEIF_Library *library = calloc(1, sizeof *library);
    if (!library) return NULL;
#define FIND(function) \
    if (!(*(void **)&library->function = dlsym(handle, "heif_" #function))) { \
        free(library); \
        return NULL; \
    }
    CNUKEHEIF_FUNCTIONS(FIND)
#undef FIND
    // From 1.16 on codecs may be plug-ins, which this looks for; the library never has to be put away.
    struct heif_error (*initialize)(struct heif_init_params *);
    *(void **)&initialize = dlsym(handle, "heif_init");
    if (initialize) initialize(NULL);
    *opening = CNukeHEIF_OpeningReady;
    return library;
}

void CNukeHEIF_forgetLibrary(const CNukeHEIF_Library *library) { free((void *)library); }

const char *CNukeHEIF_libraryVersion(const CNukeHEIF_Library *library) { return library->get_version(); }

const char *CNukeHEIF_headerVersion(void) { return LIBHEIF_VERSION; }

static enum heif_compression_format format(CNukeHEIF_Codec codec) {
    return codec == CNukeHEIF_CodecAV1 ? heif_compression_AV1 : heif_compression_HEVC;
}

int CNukeHEIF_decodes(const CNukeHEIF_Library *library, CNukeHEIF_Codec codec) {
    return library->have_decoder_for_format(format(codec)) != 0;
}

int CNukeHEIF_encodes(const CNukeHEIF_Library *library, CNukeHEIF_Codec codec) {
    return library->have_encoder_for_format(format(codec)) != 0;
}

CNukeHEIF_Status CNukeHEIF_statusOf(struct heif_error error, char *message, size_t size) {
    if (error.code == heif_error_Ok) return CNukeHEIF_StatusOK;
    snprintf(message, size, "%s", error.message ? error.message : "");
    if (error.subcode == heif_suberror_Security_limit_exceeded) return CNukeHEIF_StatusLimitExceeded;
    switch (error.code) {
    case heif_error_Memory_allocation_error: return CNukeHEIF_StatusOutOfMemory;
    case heif_error_Unsupported_filetype: return CNukeHEIF_StatusUnsupported;
    case heif_error_Unsupported_feature:
        return error.subcode == heif_suberror_Unsupported_codec ? CNukeHEIF_StatusNoCodec : CNukeHEIF_StatusUnsupported;
    case heif_error_Plugin_loading_error: return CNukeHEIF_StatusNoCodec;
    case heif_error_Invalid_input:
        return error.subcode == heif_suberror_End_of_data ? CNukeHEIF_StatusTruncated : CNukeHEIF_StatusCorrupt;
    default: return CNukeHEIF_StatusCorrupt;
    }
}

#else
// Without headers nothing is opened, so none of the functions that need an open library is ever called.

const CNukeHEIF_Library *CNukeHEIF_openLibrary(const char *name, CNukeHEIF_Opening *opening) {
    (void)name;
    *opening = CNukeHEIF_OpeningWithoutHeaders;
    return NULL;
}
void CNukeHEIF_forgetLibrary(const CNukeHEIF_Library *library) { (void)library; }
const char *CNukeHEIF_libraryVersion(const CNukeHEIF_Library *library) {
    (void)library;
    return "";
}
const char *CNukeHEIF_headerVersion(void) { return NULL; }
int CNukeHEIF_decodes(const CNukeHEIF_Library *library, CNukeHEIF_Codec codec) {
    (void)library, (void)codec;
    return 0;
}
int CNukeHEIF_encodes(const CNukeHEIF_Library *library, CNukeHEIF_Codec codec) {
    (void)library, (void)codec;
    return 0;
}
#endif
