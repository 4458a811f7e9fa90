#define _GNU_SOURCE
#include "CNukeCore.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t hugePage = (size_t)2 << 20;

void CNukeCore_setThreadName(const char *name) {
    char kept[16] = {0};
    strncpy(kept, name, sizeof kept - 1);
    pthread_setname_np(pthread_self(), kept);
}

int CNukeCore_processorCount(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int CNukeCore_processor(void) { return sched_getcpu(); }

int CNukeCore_isAddressSanitized(void) {
#if defined(__SANITIZE_ADDRESS__)
    return 1;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer);
#else
    return 0;
#endif
}

// The last 2 MiB are a huge page if three quarters of them are needed; else they are of small pages, as many as are: of 64 KiB,
// the largest that a kernel has, so that the length ends with a page everywhere.
static size_t mappedLength(size_t size) {
    size_t tail = size % hugePage, unit = tail >= hugePage / 4 * 3 ? hugePage : (size_t)64 << 10;
    return (size + unit - 1) & ~(unit - 1);
}

void *CNukeCore_mapHugePages(size_t size) {
    if (size == 0 || size > SIZE_MAX - 2 * hugePage) return NULL;
    size_t length = mappedLength(size), reserved = length + hugePage;
    char *start = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = (hugePage - (uintptr_t)start % hugePage) % hugePage, after = reserved - before - length;
    if (before > 0) munmap(start, before);
    if (after > 0) munmap(start + before + length, after);
    madvise(start + before, length, MADV_HUGEPAGE);
    return start + before;
}

void CNukeCore_unmapHugePages(void *address, size_t size) { munmap(address, mappedLength(size)); }

int CNukeCore_openForReading(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

int CNukeCore_openForReadingAndWriting(const char *path) { return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK); }

int CNukeCore_isRegularFile(unsigned int mode) { return S_ISREG(mode); }
int CNukeCore_isDirectory(unsigned int mode) { return S_ISDIR(mode); }
