// What NukeCore needs of Linux that Glibc's Swift module does not show: calls behind _GNU_SOURCE, and macros; and the inner
// loops of resampling, for vector instructions that Swift does not have.
#ifndef CNUKECORE_H
#define CNUKECORE_H

#include <stddef.h>
#include <stdint.h>

// Names the calling thread (at most 15 bytes are kept). pthread_setname_np is behind _GNU_SOURCE.
void CNukeCore_setThreadName(const char *_Nonnull name);

// How many processors this process may run on; sched_getaffinity and CPU_COUNT are behind _GNU_SOURCE.
int CNukeCore_processorCount(void);

// The number of the processor that the calling thread runs on; sched_getcpu is behind _GNU_SOURCE.
int CNukeCore_processor(void);

// Whether this was built with the address sanitizer.
int CNukeCore_isAddressSanitized(void);

// Zeroed memory of at least `size` bytes that starts on a 2 MiB boundary and is advised for huge pages, or NULL.
// MAP_FAILED and the MADV_ constants do not import.
void *_Nullable CNukeCore_mapHugePages(size_t size);

// Gives back what CNukeCore_mapHugePages returned for the same size.
void CNukeCore_unmapHugePages(void *_Nonnull address, size_t size);

// open(2) with O_RDONLY | O_CLOEXEC: the variadic function does not import. O_NONBLOCK is set too, lest a FIFO hold the
// thread; regular files ignore it. -1 and errno on failure.
int CNukeCore_openForReading(const char *_Nonnull path);

// open(2) with O_RDWR | O_CLOEXEC | O_NONBLOCK of a file that exists: what takes triggers. -1 and errno on failure.
int CNukeCore_openForReadingAndWriting(const char *_Nonnull path);

// S_ISREG and S_ISDIR do not import.
int CNukeCore_isRegularFile(unsigned int mode);
int CNukeCore_isDirectory(unsigned int mode);

// The vector instructions to use: results are the same with all.
typedef enum {
    CNukeCore_noVectors,
    CNukeCore_sse2,
    CNukeCore_avx2
} CNukeCore_Vectors;

// The best that this processor has.
CNukeCore_Vectors CNukeCore_bestVectors(void);

// Adds up `count` samples of `rowCount` rows, each row times its weight: samples with 6 bits of fraction. Weights have 14, and
// those of one call add up to 1; negative ones together may come to -1.
void CNukeCore_filterColumns(
    CNukeCore_Vectors vectors, const uint8_t *_Nonnull rows, size_t bytesPerRow, const int16_t *_Nonnull weights,
    size_t rowCount, int16_t *_Nonnull target, size_t count);

// For each of `count` pixels adds up `taps` pixels from its first one on, each times its weight; `taps` is even. Rounded and cut
// to 0...255, and colour to alpha.
void CNukeCore_filterRow(
    CNukeCore_Vectors vectors, const int16_t *_Nonnull source, const int32_t *_Nonnull firsts,
    const int16_t *_Nonnull weights, size_t taps, uint8_t *_Nonnull target, size_t count);

#if defined(__x86_64__)
#include <x86intrin.h>

// The time stamp counter; builtins do not import. Not ordered with loads and stores, which would double its cost: it waits
// for nothing, so a thread's reads come in the order of its program all the same.
static inline uint64_t CNukeCore_timeStamp(void) { return __rdtsc(); }
#endif

// Looks up opaque RGBA8 pixels, on a machine with the lowest byte first: `pairs` has for each green and red value the new ones and the
// steps of blue light without blue's, `blueSteps` has blue's, and `encoded` the new blue of each sum of steps.
void CNukeCore_convertOpaquePixels(
    uint32_t *_Nonnull pixels, size_t count, const uint32_t *_Nonnull pairs, const uint32_t *_Nonnull blueSteps,
    const uint8_t *_Nonnull encoded);

#endif
