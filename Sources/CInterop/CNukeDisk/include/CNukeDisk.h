// What NukeDiskCache needs of Linux that Glibc's Swift module does not show (variadic functions, macros, names that a
// struct hides), and the checksum of entries.
#ifndef CNUKEDISK_H
#define CNUKEDISK_H

#include <stddef.h>
#include <stdint.h>

// open(2) for reading: O_CLOEXEC; O_NOFOLLOW, as an entry is never a link; O_NONBLOCK, lest a FIFO hold the thread.
// -1 and errno on failure.
int CNukeDisk_openForReading(const char *_Nonnull path);

// open(2) for writing a file that must not be there yet, mode 0600, O_CLOEXEC. -1 and errno on failure.
int CNukeDisk_createFile(const char *_Nonnull path);

// flock(2) with LOCK_EX | LOCK_NB; in Swift the struct flock hides the function.
typedef enum CNukeDisk_LockStatus {
    CNukeDisk_locked,
    CNukeDisk_heldByAnother,
    // The file system knows no locks, or has none left.
    CNukeDisk_noLocks,
} CNukeDisk_LockStatus;
CNukeDisk_LockStatus CNukeDisk_lock(int descriptor);

// Sets when the file was last modified, in nanoseconds since 1970, and leaves the time of access: UTIME_OMIT does not
// import. 0, or -1 and errno.
int CNukeDisk_setModificationTime(int descriptor, int64_t nanoseconds);

// S_ISREG and S_ISDIR do not import.
int CNukeDisk_isRegularFile(unsigned int mode);
int CNukeDisk_isDirectory(unsigned int mode);

// opendir, readdir and closedir: the record of readdir may be shorter than the struct that Swift would copy. A name is
// valid until the next call on the directory; NULL at the end.
void *_Nullable CNukeDisk_openDirectory(const char *_Nonnull path);
const char *_Nullable CNukeDisk_nextName(void *_Nonnull directory);
int CNukeDisk_directoryDescriptor(void *_Nonnull directory);
void CNukeDisk_closeDirectory(void *_Nonnull directory);

// Blocks SIGXFSZ on the calling thread, so that a write beyond RLIMIT_FSIZE fails with EFBIG instead of ending the
// process. 1 if the signal has to be released again, 0 if it was blocked before.
int CNukeDisk_holdFileSizeSignal(void);

// Takes back what CNukeDisk_holdFileSizeSignal did, and drops the signal if one came.
void CNukeDisk_releaseFileSizeSignal(void);

// A checksum of 64 bits that finds flipped bits, zeroed or swapped sectors and cut ends; no protection from malice.
// Part of the format of files: a change of results needs a new version there. It differs by byte order.
//
// Words of 8 bytes go to eight lanes in turn. A lane takes the product of the word's two halves, after an exclusive or
// with a key that moves on every 64 bytes, and its neighbour takes the word itself: a word that differs changes the
// neighbour by the difference, for certain, and the moving key gives equal words at different places different products.
// In C for its speed: 0.025 ns a byte with AVX2, 0.05 without, and a debug build stays usable.
uint64_t CNukeDisk_checksum(const void *_Nullable bytes, size_t count, uint64_t seed);

// The same without AVX2, for tests.
uint64_t CNukeDisk_checksumPlainly(const void *_Nullable bytes, size_t count, uint64_t seed);

#endif
