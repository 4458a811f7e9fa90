// W8: librsvg from memory to premultiplied pixels of a square: limit-svg FILE SIDE PASSES
// One uncounted pass, then a line "<cpu ms> <wall ms>" for each.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <librsvg/rsvg.h>

static double milliseconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static int draw(const guint8 *bytes, gsize count, int side) {
    RsvgHandle *handle = rsvg_handle_new_from_data(bytes, count, NULL);
    if (!handle) return 0;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, side, side);
    cairo_t *cairo = cairo_create(surface);
    RsvgRectangle viewport = {0, 0, side, side};
    int isDrawn = rsvg_handle_render_document(handle, cairo, &viewport, NULL);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    g_object_unref(handle);
    return isDrawn;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    gchar *bytes;
    gsize count;
    if (!g_file_get_contents(argv[1], &bytes, &count, NULL)) return 1;
    for (int pass = 0; pass <= atoi(argv[3]); pass++) {
        double cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID), wall = milliseconds(CLOCK_MONOTONIC);
        if (!draw((const guint8 *)bytes, count, atoi(argv[2]))) return 1;
        cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        wall = milliseconds(CLOCK_MONOTONIC) - wall;
        if (pass > 0) printf("%.6f %.6f\n", cpu, wall);
    }
    return 0;
}
