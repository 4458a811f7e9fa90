#include "CNukeSVG.h"

#include "Library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// Opens one library; it is never closed, as GLib can't be: its types stay registered.
static void *openOne(const char *folder, const char *name) {
    char path[4096];
    int length = snprintf(path, sizeof path, folder ? "%s/%s" : "%s%s", folder ? folder : "", name);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static void readVersion(void *handle, int32_t *version) {
    const unsigned *major = dlsym(handle, "rsvg_major_version");
    const unsigned *minor = dlsym(handle, "rsvg_minor_version");
    const unsigned *micro = dlsym(handle, "rsvg_micro_version");
    if (!major || !minor || !micro) return;
    version[0] = (int32_t)*major;
    version[1] = (int32_t)*minor;
    version[2] = (int32_t)*micro;
}

const CNukeSVG_Library *CNukeSVG_openLibrary(
    const char *folder, CNukeSVG_Opening *opening, const char **missing) {
    CNukeSVG_Library *library = calloc(1, sizeof *library);
    *missing = NULL;
    *opening = CNukeSVG_OpeningNotInstalled;
    if (!library) return NULL;
#define FIND_IF_THERE(function, result, parameters) *(void **)&library->function = dlsym(handle, #function);
#define FIND(function, result, parameters) \
    FIND_IF_THERE(function, result, parameters) \
    if (!library->function) { \
        *opening = CNukeSVG_OpeningUnfit; \
        free(library); \
        return NULL; \
    }
#define OPEN(name, functions) \
    { \
        *missing = name; \
        void *handle = openOne(folder, name); \
        if (!handle) { \
            free(library); \
            return NULL; \
        } \
        functions \
    }
    OPEN("libglib-2.0.so.0", CNUKESVG_GLIB_FUNCTIONS(FIND))
    OPEN("libgobject-2.0.so.0", CNUKESVG_GOBJECT_FUNCTIONS(FIND))
    OPEN("libgio-2.0.so.0", CNUKESVG_GIO_FUNCTIONS(FIND))
    OPEN("libcairo.so.2", CNUKESVG_CAIRO_FUNCTIONS(FIND))
    // librsvg has opened fontconfig, whose function dlsym finds among those of its dependencies.
    OPEN("librsvg-2.so.2",
         CNUKESVG_RSVG_FUNCTIONS(FIND) CNUKESVG_NEW_RSVG_FUNCTIONS(FIND_IF_THERE)
         CNUKESVG_FONT_FUNCTIONS(FIND_IF_THERE) readVersion(handle, library->version);)
#undef OPEN
#undef FIND
#undef FIND_IF_THERE
    *missing = NULL;
    *opening = CNukeSVG_OpeningReady;
    return library;
}

void CNukeSVG_getVersion(const CNukeSVG_Library *library, int32_t *version) {
    for (int part = 0; part < 3; part++) version[part] = library->version[part];
}

CNukeSVG_Interruption *CNukeSVG_createInterruption(const CNukeSVG_Library *library) {
    return library->g_cancellable_new();
}

void CNukeSVG_interrupt(const CNukeSVG_Library *library, CNukeSVG_Interruption *interruption) {
    library->g_cancellable_cancel(interruption);
}

void CNukeSVG_destroyInterruption(const CNukeSVG_Library *library, CNukeSVG_Interruption *interruption) {
    library->g_object_unref(interruption);
}

int32_t CNukeSVG_countFonts(const CNukeSVG_Library *library) {
    if (!library->FcConfigGetFonts) return -1;
    // FcSetSystem, of the configuration that Pango uses too.
    const CNukeSVG_FontSet *fonts = library->FcConfigGetFonts(NULL, 0);
    return fonts ? fonts->count : 0;
}
