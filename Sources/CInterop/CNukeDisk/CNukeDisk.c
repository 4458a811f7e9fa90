#define _GNU_SOURCE
#include "CNukeDisk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int CNukeDisk_openForReading(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); }

int CNukeDisk_createFile(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

CNukeDisk_LockStatus CNukeDisk_lock(int descriptor) {
    int status;
    do status = flock(descriptor, LOCK_EX | LOCK_NB);
    while (status != 0 && errno == EINTR);
    if (status == 0) return CNukeDisk_locked;
    return errno == EWOULDBLOCK ? CNukeDisk_heldByAnother : CNukeDisk_noLocks;
}

int CNukeDisk_setModificationTime(int descriptor, int64_t nanoseconds) {
    struct timespec times[2] = {{0, UTIME_OMIT}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return futimens(descriptor, times);
}

int CNukeDisk_isRegularFile(unsigned int mode) { return S_ISREG(mode); }
int CNukeDisk_isDirectory(unsigned int mode) { return S_ISDIR(mode); }

void *CNukeDisk_openDirectory(const char *path) { return opendir(path); }

const char *CNukeDisk_nextName(void *directory) {
    struct dirent *entry = readdir(directory);
    return entry ? entry->d_name : NULL;
}

int CNukeDisk_directoryDescriptor(void *directory) { return dirfd(directory); }
void CNukeDisk_closeDirectory(void *directory) { closedir(directory); }

int CNukeDisk_holdFileSizeSignal(void) {
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    return pthread_sigmask(SIG_BLOCK, &signals, &before) == 0 && !sigismember(&before, SIGXFSZ);
}

void CNukeDisk_releaseFileSizeSignal(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    struct timespec atOnce = {0, 0};
    while (sigtimedwait(&signals, NULL, &atOnce) == SIGXFSZ) {}
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

// Four lanes of 8 bytes, two registers where there is no AVX2.
typedef uint64_t Lanes __attribute__((vector_size(32)));

typedef struct {
    Lanes lanes[2], keys[2];
} Checksum;

static const uint64_t checksumStep = 0x9e3779b97f4a7c15;   // 2^64 divided by the golden ratio, odd
static const uint64_t checksumFactor = 0xd1342543de82ef95; // a multiplier with good spectral figures (Steele, Vigna)

static inline __attribute__((always_inline)) void addStripes(Checksum *sum, const uint8_t *bytes, size_t count) {
    const Lanes low = (Lanes){} + 0xffffffff;
    Checksum current = *sum;
    for (; count > 0; count--, bytes += 64) {
        for (int i = 0; i < 2; i++) {
            Lanes word;
            memcpy(&word, bytes + 32 * i, 32);
            Lanes swapped = __builtin_shufflevector(word, word, 1, 0, 3, 2), mixed = word ^ current.keys[i];
            current.lanes[i] += swapped + (mixed & low) * (mixed >> 32);
            current.keys[i] += checksumStep;
        }
    }
    *sum = current;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void addStripesAVX2(Checksum *sum, const uint8_t *bytes, size_t count) {
    addStripes(sum, bytes, count);
}
#endif

static void addStripesPlainly(Checksum *sum, const uint8_t *bytes, size_t count) { addStripes(sum, bytes, count); }

static uint64_t scramble(uint64_t x) {
    x ^= x >> 32;
    x *= checksumFactor;
    x ^= x >> 29;
    return x;
}

static uint64_t checksum(
    const uint8_t *bytes, size_t count, uint64_t seed, void (*add)(Checksum *, const uint8_t *, size_t)) {
    Checksum sum;
    for (int i = 0; i < 8; i++) {
        uint64_t start = scramble(seed + (i + 1) * checksumStep);
        sum.lanes[i / 4][i % 4] = start;
        sum.keys[i / 4][i % 4 ^ 1] = start * checksumFactor;
    }
    add(&sum, bytes, count / 64);
    if (count % 64 > 0) {
        uint8_t last[64] = {0};
        memcpy(last, bytes + count / 64 * 64, count % 64);
        add(&sum, last, 1);
    }
    uint64_t result = scramble(seed ^ count * checksumFactor);
    for (int i = 0; i < 8; i++) {
        result = (result ^ scramble(sum.lanes[i / 4][i % 4])) * checksumFactor;
        result = result << 31 | result >> 33;
    }
    return scramble(result);
}

uint64_t CNukeDisk_checksum(const void *bytes, size_t count, uint64_t seed) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return checksum(bytes, count, seed, addStripesAVX2);
#endif
    return checksum(bytes, count, seed, addStripesPlainly);
}

uint64_t CNukeDisk_checksumPlainly(const void *bytes, size_t count, uint64_t seed) {
    return checksum(bytes, count, seed, addStripesPlainly);
}
