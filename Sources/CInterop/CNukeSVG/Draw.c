#include "CNukeSVG.h"

#include "Guard.h"
#include "Library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    // cairo_format_t, cairo_status_t
    CairoARGB32 = 0,
    CairoNoMemory = 1,
    CairoInvalidSize = 32,
    // RsvgHandleFlags
    RsvgUnlimited = 1,
    // GZlibCompressorFormat, GConverterFlags, GConverterResult
    GioGzip = 1,
    GioInputAtEnd = 1,
    GioConverted = 1,
    GioFinished = 2,
    // GIOErrorEnum
    GioNoSpace = 12,
    GioCancelled = 19,
    GioPartialInput = 34
};

CNukeSVG_Status CNukeSVG_inflate(
    const CNukeSVG_Library *library, const uint8_t *bytes, size_t count, uint8_t *target, size_t capacity,
    size_t *length) {
    uint32_t domain = library->g_quark_from_static_string("g-io-error-quark");
    void *inflater = library->g_zlib_decompressor_new(GioGzip);
    CNukeSVG_Status status = CNukeSVG_StatusOutOfMemory;
    size_t taken = 0;
    *length = 0;
    while (inflater) {
        CNukeSVG_Error *error = NULL;
        // In small steps, at first in very small ones: of a step that meets damage nothing is kept.
        size_t step = *length < 512 ? 16 : 64 << 10;
        if (step > capacity - *length) step = capacity - *length;
        size_t read = 0, written = 0;
        int result = library->g_converter_convert(
            inflater, bytes + taken, count - taken, target + *length, step, GioInputAtEnd, &read, &written, &error);
        taken += read;
        *length += written;
        if (result == GioFinished) {
            status = CNukeSVG_StatusOK;
            break;
        }
        if (result == GioConverted && (read || written) && *length < capacity) continue;
        if (*length == capacity) {
            status = CNukeSVG_StatusLimitExceeded;
        } else {
            int isShort = error && error->domain == domain && error->code == GioPartialInput;
            status = isShort || taken == count ? CNukeSVG_StatusTruncated : CNukeSVG_StatusCorrupt;
        }
        if (error) library->g_error_free(error);
        break;
    }
    if (inflater) library->g_object_unref(inflater);
    return status;
}

// Words of librsvg that tell of its own limits, as its errors have one code for all.
static int tellsOfLimit(const char *message) {
    static const char *const words[] = {
        "exceeded", "too many", "too deep", "limit", "too big", "Huge input", "too large"};
    for (size_t index = 0; index < sizeof words / sizeof *words; index++) {
        if (strstr(message, words[index])) return 1;
    }
    return 0;
}

// Takes the words and the kind from an error, and frees it.
static CNukeSVG_Status statusOf(
    const CNukeSVG_Library *library, CNukeSVG_Error *error, void *interruption, char *message) {
    CNukeSVG_Status status = CNukeSVG_StatusCorrupt;
    if (error) {
        if (error->message) {
            snprintf(message, CNUKESVG_MESSAGE_CAPACITY, "%s", error->message);
            if (tellsOfLimit(error->message)) status = CNukeSVG_StatusLimitExceeded;
        }
        library->g_error_free(error);
    }
    return library->g_cancellable_is_cancelled(interruption) ? CNukeSVG_StatusInterrupted : status;
}

static CNukeSVG_Status statusOfCairo(const CNukeSVG_Library *library, int code, char *message) {
    if (code == 0) return CNukeSVG_StatusOK;
    snprintf(message, CNUKESVG_MESSAGE_CAPACITY, "%s", library->cairo_status_to_string(code));
    if (code == CairoNoMemory) return CNukeSVG_StatusOutOfMemory;
    return code == CairoInvalidSize ? CNukeSVG_StatusLimitExceeded : CNukeSVG_StatusCorrupt;
}

// What cairo calls ARGB32 is a word with alpha in its top byte: BGRA in memory where words begin with their low byte.
static bool makeRGBA(uint8_t *pixels, size_t count) {
    uint32_t all = UINT32_MAX;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t *words = (uint32_t *)(void *)pixels;
    for (size_t index = 0; index < count; index++) {
        uint32_t word = words[index];
        all &= word;
        words[index] = (word & 0xFF00FF00u) | (word >> 16 & 0xFFu) | (word & 0xFFu) << 16;
    }
    return all >> 24 == 0xFF;
#else
    for (size_t index = 0; index < count; index++, pixels += 4) {
        uint8_t alpha = pixels[0];
        memmove(pixels, pixels + 1, 3);
        pixels[3] = alpha;
        all &= alpha;
    }
    return (all & 0xFF) == 0xFF;
#endif
}

static void *openDocument(
    const CNukeSVG_Library *library, const CNukeSVG_Drawing *drawing, void *interruption, CNukeSVG_Error **error) {
    void *stream = library->g_memory_input_stream_new_from_data(drawing->bytes, (ptrdiff_t)drawing->count, NULL);
    // Without a file that it would come from there is nothing that addresses in it are relative to: nothing is loaded.
    void *handle = library->rsvg_handle_new_from_stream_sync(
        stream, NULL, drawing->isUnlimited ? RsvgUnlimited : 0, interruption, error);
    library->g_object_unref(stream);
    if (!handle) return NULL;
    library->rsvg_handle_set_dpi(handle, 96);
    if (drawing->stylesheet
        && !library->rsvg_handle_set_stylesheet(handle, drawing->stylesheet, drawing->stylesheetCount, error)) {
        library->g_object_unref(handle);
        return NULL;
    }
    if (library->rsvg_handle_set_cancellable_for_rendering) {
        library->rsvg_handle_set_cancellable_for_rendering(handle, interruption);
    }
    return handle;
}

static CNukeSVG_Status drawDocument(
    const CNukeSVG_Library *library, const CNukeSVG_Drawing *drawing, void *interruption, void *handle, void *surface,
    char *message) {
    CNukeSVG_Status status = statusOfCairo(library, library->cairo_surface_status(surface), message);
    if (status != CNukeSVG_StatusOK) return status;
    void *canvas = library->cairo_create(surface);
    // The whole of it is stretched, rather than laid out in the rounded size, which would leave a border.
    library->cairo_scale(canvas, drawing->width / drawing->naturalWidth, drawing->height / drawing->naturalHeight);
    CNukeSVG_Rectangle place = {0, 0, drawing->naturalWidth, drawing->naturalHeight};
    CNukeSVG_Error *error = NULL;
    status = library->rsvg_handle_render_document(handle, canvas, &place, &error)
        ? statusOfCairo(library, library->cairo_status(canvas), message)
        : statusOf(library, error, interruption, message);
    library->cairo_destroy(canvas);
    return status;
}

typedef struct {
    const CNukeSVG_Library *library;
    const CNukeSVG_Drawing *drawing;
    void *interruption;
    uint8_t *pixels;
    char *message;
    CNukeSVG_Status status;
} Work;

static void draw(void *context) {
    Work *work = context;
    const CNukeSVG_Library *library = work->library;
    const CNukeSVG_Drawing *drawing = work->drawing;
    CNukeSVG_Error *error = NULL;
    void *handle = openDocument(library, drawing, work->interruption, &error);
    if (!handle) {
        work->status = statusOf(library, error, work->interruption, work->message);
        return;
    }
    work->status = CNukeSVG_StatusInterrupted;
    if (!library->g_cancellable_is_cancelled(work->interruption)) {
        void *surface = library->cairo_image_surface_create_for_data(
            work->pixels, CairoARGB32, drawing->width, drawing->height, drawing->width * 4);
        work->status = drawDocument(library, drawing, work->interruption, handle, surface, work->message);
        library->cairo_surface_flush(surface);
        library->cairo_surface_finish(surface);
        library->cairo_surface_destroy(surface);
    }
    library->g_object_unref(handle);
}

// Has glibc keep the pages of a few layers of the picture's size from one to the next: on other threads than the main one it
// gives them back each time, and fresh ones cost a quarter of the whole. By mallopt(3), freeing a block that was mapped
// raises the thresholds to its size and twice that; never above 32 MB and 64.
static void keepPages(size_t byteCount) {
    enum { Most = 16 << 20 };
    void *volatile block = malloc(byteCount < Most / 4 ? byteCount * 4 : Most);
    free(block);
}

CNukeSVG_Status CNukeSVG_draw(
    const CNukeSVG_Library *library, const CNukeSVG_Drawing *drawing, CNukeSVG_Interruption *interruption,
    uint8_t *pixels, bool *isOpaque, char *message) {
    Work work = {library, drawing, (void *)interruption, pixels, message, CNukeSVG_StatusCorrupt};
    message[0] = 0;
    *isOpaque = false;
    keepPages((size_t)drawing->width * (size_t)drawing->height * 4);
    switch (CNukeSVG_callGuarded(draw, &work)) {
    case CNukeSVG_CallReturned: break;
    case CNukeSVG_CallBrokenOff:
        snprintf(message, CNUKESVG_MESSAGE_CAPACITY, "librsvg broke off on it");
        return CNukeSVG_StatusCorrupt;
    case CNukeSVG_CallWithoutThread: return CNukeSVG_StatusOutOfMemory;
    }
    if (work.status == CNukeSVG_StatusOK) {
        *isOpaque = makeRGBA(pixels, (size_t)drawing->width * (size_t)drawing->height);
    }
    return work.status;
}
