// GIO, GObject, cairo and librsvg as their functions are called here: by a table that is filled when they are opened.
#ifndef CNUKESVG_LIBRARY_H
#define CNUKESVG_LIBRARY_H

#include "CNukeSVG.h"

typedef struct {
    uint32_t domain;
    int code;
    char *message;
} CNukeSVG_Error;

typedef struct {
    double x, y, width, height;
} CNukeSVG_Rectangle;

// Of fontconfig, whose first member is the one of interest.
typedef struct {
    int count;
} CNukeSVG_FontSet;

// Name, result, parameters. What GLib calls gsize is size_t, gssize ptrdiff_t, gboolean int.
#define CNUKESVG_GLIB_FUNCTIONS(X) \
    X(g_error_free, void, (CNukeSVG_Error *)) \
    X(g_quark_from_static_string, uint32_t, (const char *))

#define CNUKESVG_GOBJECT_FUNCTIONS(X) X(g_object_unref, void, (void *))

#define CNUKESVG_GIO_FUNCTIONS(X) \
    X(g_cancellable_new, void *, (void)) \
    X(g_cancellable_cancel, void, (void *)) \
    X(g_cancellable_is_cancelled, int, (void *)) \
    X(g_memory_input_stream_new_from_data, void *, (const void *, ptrdiff_t, void (*)(void *))) \
    X(g_zlib_decompressor_new, void *, (int)) \
    X(g_converter_convert, int, \
      (void *, const void *, size_t, void *, size_t, int, size_t *, size_t *, CNukeSVG_Error **))

#define CNUKESVG_CAIRO_FUNCTIONS(X) \
    X(cairo_image_surface_create_for_data, void *, (unsigned char *, int, int, int, int)) \
    X(cairo_surface_status, int, (void *)) \
    X(cairo_surface_flush, void, (void *)) \
    X(cairo_surface_finish, void, (void *)) \
    X(cairo_surface_destroy, void, (void *)) \
    X(cairo_create, void *, (void *)) \
    X(cairo_status, int, (void *)) \
    X(cairo_scale, void, (void *, double, double)) \
    X(cairo_destroy, void, (void *)) \
    X(cairo_status_to_string, const char *, (int))

#define CNUKESVG_RSVG_FUNCTIONS(X) \
    X(rsvg_handle_new_from_stream_sync, void *, (void *, void *, int, void *, CNukeSVG_Error **)) \
    X(rsvg_handle_set_dpi, void, (void *, double)) \
    X(rsvg_handle_set_stylesheet, int, (void *, const uint8_t *, size_t, CNukeSVG_Error **)) \
    X(rsvg_handle_render_document, int, (void *, void *, const CNukeSVG_Rectangle *, CNukeSVG_Error **))

// What can be done without: what tells of fonts, and what librsvg has since 2.59.
#define CNUKESVG_FONT_FUNCTIONS(X) X(FcConfigGetFonts, const CNukeSVG_FontSet *, (void *, int))

#define CNUKESVG_NEW_RSVG_FUNCTIONS(X) X(rsvg_handle_set_cancellable_for_rendering, void, (void *, void *))

struct CNukeSVG_Library {
#define CNUKESVG_MEMBER(name, result, parameters) result(*name) parameters;
    CNUKESVG_GLIB_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_GOBJECT_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_GIO_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_CAIRO_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_RSVG_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_FONT_FUNCTIONS(CNUKESVG_MEMBER)
    CNUKESVG_NEW_RSVG_FUNCTIONS(CNUKESVG_MEMBER)
#undef CNUKESVG_MEMBER
    int32_t version[3];
};

#endif
