internal import CNukeDisk
internal import Glibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The number of a failed system call.
struct SystemError: Error, Equatable {
    let code: Int32

    /// The error of the call that has just failed on this thread.
    static var last: SystemError { SystemError(code: errno) }

    static let noSuchFile = SystemError(code: ENOENT)
    static let notADirectory = SystemError(code: ENOTDIR)
    static let fileExists = SystemError(code: EEXIST)
    static let fileTooLarge = SystemError(code: EFBIG)
    /// Another holds the lock.
    static let wouldBlock = SystemError(code: EWOULDBLOCK)

    /// The failure in the cache's terms and the system's words.
    func error(_ code: DataCacheError.Code, path: FilePath) -> DataCacheError {
        // SAFETY: the thread's own text of the error, copied at once.
        DataCacheError(code, path: path.text, reason: unsafe String(cString: strerror(self.code)))
    }
}

/// The bytes of a path, as the system takes them.
struct FilePath: Sendable {
    /// All bytes and a NUL.
    private(set) var bytes: [CChar]

    init(_ text: String) { bytes = text.utf8.map { CChar(bitPattern: $0) } + [0] }

    /// Bytes that end in NUL, and hold none otherwise.
    init(terminated bytes: [CChar]) { self.bytes = bytes }

    var text: String { String(decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }

    /// The path without its last part; nil for the root and for a single part.
    var parent: FilePath? {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        guard let end = bytes.lastIndex(of: slash), end > 0 else { return nil }
        return FilePath(terminated: bytes[..<end] + [0])
    }
}

/// What the system knows of a file.
struct FileStatus {
    let isRegularFile: Bool
    let isDirectory: Bool
    /// Bytes of the file.
    let length: Int
    /// Bytes that the file takes on disk: `st_blocks` counts 512 each, whatever the block size.
    let allocated: Int
    /// Nanoseconds since 1970.
    let modified: Int64
    /// No two files of a machine that exist at one time have the same.
    let identity: Identity

    struct Identity: Equatable {
        let device: UInt
        let inode: UInt
    }

    init(_ status: stat) {
        isRegularFile = CNukeDisk_isRegularFile(status.st_mode) != 0
        isDirectory = CNukeDisk_isDirectory(status.st_mode) != 0
        length = Int(status.st_size)
        allocated = Int(status.st_blocks) * 512
        modified = FileSystem.nanoseconds(status.st_mtim)
        identity = Identity(device: UInt(status.st_dev), inode: UInt(status.st_ino))
    }
}

/// System calls on paths, and the rest that the cache needs of the system.
enum FileSystem {
    /// The status of a file, of a link itself.
    static func status(of path: FilePath) throws(SystemError) -> FileStatus {
        // SAFETY: the path ends in NUL; the struct outlives the call.
        var status = stat()
        guard unsafe lstat(path.bytes, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    static func remove(_ path: FilePath) throws(SystemError) {
        // SAFETY: the path ends in NUL.
        guard unsafe unlink(path.bytes) == 0 else { throw .last }
    }

    /// Gives a file a name, in place of the file that had it.
    static func move(_ path: FilePath, to target: FilePath) throws(SystemError) {
        // SAFETY: the paths end in NUL.
        guard unsafe rename(path.bytes, target.bytes) == 0 else { throw .last }
    }

    /// Makes a folder, with those above it that are not there, for nobody but their owner; one that is there is as good.
    static func makeFolder(_ path: FilePath) throws(SystemError) {
        // SAFETY: the path ends in NUL; the struct outlives the call.
        if unsafe mkdir(path.bytes, 0o700) == 0 { return }
        let failure = SystemError.last
        if failure == .noSuchFile, let parent = path.parent {
            try makeFolder(parent)
            if unsafe mkdir(path.bytes, 0o700) == 0 { return }
            if SystemError.last != .fileExists { throw .last }
        } else if failure != .fileExists {
            throw failure
        }
        var status = stat()
        guard unsafe stat(path.bytes, &status) == 0 else { throw .last }
        guard FileStatus(status).isDirectory else { throw .notADirectory }
    }

    /// Nanoseconds since 1970.
    static var now: Int64 {
        // SAFETY: the struct outlives the call, which fills it.
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return nanoseconds(time)
    }

    static func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) }

    static func writeToStandardError(_ message: String) {
        // SAFETY: the array outlives the call.
        let bytes = Array(message.utf8)
        unsafe write(2, bytes, bytes.count)
    }

    /// Runs `body` so that a file beyond RLIMIT_FSIZE is a failure and not the end of the process.
    static func withoutFileSizeSignal(_ body: () -> Void) {
        let isHeld = CNukeDisk_holdFileSizeSignal() != 0
        defer { if isHeld { CNukeDisk_releaseFileSizeSignal() } }
        body()
    }

    /// The checksum of bytes, as `CNukeDisk.h` has it.
    static func checksum(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
        // SAFETY: the function reads the bytes of the span and no more.
        unsafe bytes.withUnsafeBytes { unsafe CNukeDisk_checksum($0.baseAddress, $0.count, seed) }
    }

    /// The checksum of data, as `CNukeDisk.h` has it.
    static func checksum(_ data: Data, seed: UInt64) -> UInt64 {
        // SAFETY: the function reads the bytes of the data and no more.
        unsafe data.withUnsafeBytes { unsafe CNukeDisk_checksum($0.baseAddress, $0.count, seed) }
    }
}
