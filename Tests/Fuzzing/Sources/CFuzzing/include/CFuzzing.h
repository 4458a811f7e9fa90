// What a program calls to be run by libFuzzer from its own main function.
#ifndef CFUZZING_H
#define CFUZZING_H

#include <stddef.h>
#include <stdint.h>

// Parses libFuzzer's arguments, calls `callback` with one input after the other, and returns the exit status.
int LLVMFuzzerRunDriver(int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull callback)(const uint8_t *_Nullable data, size_t size));

#endif
