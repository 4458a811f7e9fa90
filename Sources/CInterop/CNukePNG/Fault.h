// How libpng's errors, warnings and allocations are caught; shared by the decoder and the encoder.
#ifndef CNUKEPNG_FAULT_H
#define CNUKEPNG_FAULT_H

#include "CNukePNG.h"

#include <png.h>
#include <setjmp.h>

typedef struct CNukePNG_Fault {
    jmp_buf escape;        // where the function that Swift called waits for an error
    char message[128];
    bool isReadingRows;    // warnings are about the picture's own data
    bool isAtEnd;          // the bytes have run out
    bool isOutOfMemory;    // an allocation has failed
} CNukePNG_Fault;

// What an error that has just been caught amounts to.
CNukePNG_Status CNukePNG_status(const CNukePNG_Fault *fault);

// What libpng calls; the pointer it was given is a fault.
PNG_NORETURN void CNukePNG_onError(png_structp png, png_const_charp message);
void CNukePNG_onWarning(png_structp png, png_const_charp message);
png_voidp CNukePNG_allocate(png_structp png, png_alloc_size_t size);
void CNukePNG_release(png_structp png, png_voidp memory);

#endif
