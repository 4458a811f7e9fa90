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

// Two lanes of 8 bytes, which may start anywhere in memory.
typedef uint64_t Pair __attribute__((vector_size(16)));

typedef struct {
    Pair lanes[4], keys[4];
} Checksum;

static const uint64_t checksumStep = 0x9e3779b97f4a7c15;   // 2^64 divided by the golden ratio, odd
static const uint64_t checksumFactor = 0xd1342543de82ef95; // a multiplier with good spectral figures (Steele, Vigna)

static void addStripe(Checksum *sum, const uint8_t *bytes) {
    const Pair low = {0xffffffff, 0xffffffff}, step = {checksumStep, checksumStep};
    for (int i = 0; i < 4; i++) {
        Pair word;
        memcpy(&word, bytes + 16 * i, 16);
        Pair swapped = {word[1], word[0]}, mixed = word ^ sum->keys[i];
        sum->lanes[i] += swapped + (mixed & low) * (mixed >> 32);
        sum->keys[i] += step;
    }
}

static uint64_t scramble(uint64_t x) {
    x ^= x >> 32;
    x *= checksumFactor;
    x ^= x >> 29;
    return x;
}

uint64_t CNukeDisk_checksum(const void *start, size_t count, uint64_t seed) {
    const uint8_t *bytes = start;
    Checksum sum;
    for (int i = 0; i < 4; i++) {
        uint64_t first = scramble(seed + (2 * i + 1) * checksumStep);
        uint64_t second = scramble(seed + (2 * i + 2) * checksumStep);
        sum.lanes[i] = (Pair){first, second};
        sum.keys[i] = (Pair){second * checksumFactor, first * checksumFactor};
    }
    size_t left = count;
    for (; left >= 64; left -= 64, bytes += 64) addStripe(&sum, bytes);
    if (left > 0) {
        uint8_t last[64] = {0};
        memcpy(last, bytes, left);
        addStripe(&sum, last);
    }
    uint64_t result = scramble(seed ^ count * checksumFactor);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            result = (result ^ scramble(sum.lanes[i][j])) * checksumFactor;
            result = result << 31 | result >> 33;
        }
    }
    return scramble(result);
}
