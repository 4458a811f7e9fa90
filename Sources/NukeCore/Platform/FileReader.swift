internal import CNukeCore
internal import Glibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Reads whole regular files with plain system calls; blocks, so it belongs on `CodecThreads.disk`.
enum FileReader {
    /// The bytes of the file at `path`, taken as bytes, never decoded.
    ///
    /// Throws a `DataLoadingError`: not found, not readable, not a regular file, or larger than `limit` bytes.
    static func contents(of path: String, limit: Int? = nil) throws(DataLoadingError) -> Data {
        try contents(of: Array(path.utf8), limit: limit)
    }

    /// The bytes of the file whose name is these bytes.
    static func contents(of name: [UInt8], limit: Int? = nil) throws(DataLoadingError) -> Data {
        let path = String(decoding: name, as: UTF8.self)
        guard !name.contains(0) else { throw .fileUnreadable(path, reason: "the path holds a NUL byte") }
        // SAFETY: the descriptor is closed on every way out; reads stay within the block allocated for them.
        let terminated = name.map { CChar(bitPattern: $0) } + [0]
        let descriptor = unsafe terminated.withUnsafeBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe CNukeCore_openForReading($0) } ?? -1
        }
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
        guard CNukeCore_isRegularFile(status.st_mode) != 0 else {
            let isDirectory = CNukeCore_isDirectory(status.st_mode) != 0
            throw .fileUnreadable(path, reason: isDirectory ? "it is a directory" : "it is not a regular file")
        }
        if let limit, status.st_size > limit { throw .exceededMaximumSize(limit) }
        return try read(descriptor, path: path, expected: Int(status.st_size), limit: limit ?? .max)
    }

    /// Reads to the end, whatever the size says: files of /proc tell 0, and a file may grow meanwhile.
    private static func read(
        _ descriptor: Int32, path: String, expected: Int, limit: Int
    ) throws(DataLoadingError) -> Data {
        // SAFETY: reads stay within the block, which the Data keeps.
        guard var block = MemoryBlock(byteCount: max(expected + 1, 4096), isZeroed: false, isReused: false) else {
            throw failure(path, ENOMEM)
        }
        var count = 0
        while true {
            if count == block.byteCount {
                guard let larger = MemoryBlock(byteCount: count * 2, isZeroed: false, isReused: false) else {
                    throw failure(path, ENOMEM)
                }
                unsafe larger.base.copyMemory(from: block.base, byteCount: count)
                block = larger
            }
            let step = unsafe Glibc.read(descriptor, block.base + count, block.byteCount - count)
            if step == 0 { break }
            if step < 0 {
                if errno == EINTR { continue }
                throw failure(path, errno)
            }
            count += step
            if count > limit { throw .exceededMaximumSize(limit) }
        }
        let whole = block
        return unsafe Data(bytesNoCopy: whole.base, count: count, deallocator: .custom { _, _ in _ = whole })
    }

    private static func failure(_ path: String, _ code: Int32) -> DataLoadingError {
        if code == ENOENT || code == ENOTDIR { return .fileNotFound(path) }
        return unsafe .fileUnreadable(path, reason: String(cString: strerror(code)))
    }
}
