internal import CNukeDisk
internal import Glibc

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An open file; closed with its last use.
struct OpenFile: ~Copyable {
    private let descriptor: Int32

    /// Opens a file that is there for reading; never follows a link or waits for a FIFO.
    init(reading path: FilePath) throws(SystemError) {
        // SAFETY: the path ends in NUL.
        descriptor = unsafe CNukeDisk_openForReading(path.bytes)
        if descriptor < 0 { throw .last }
    }

    /// Makes a file that is not there for writing, readable to nobody but its owner.
    init(creating path: FilePath) throws(SystemError) {
        // SAFETY: the path ends in NUL.
        descriptor = unsafe CNukeDisk_createFile(path.bytes)
        if descriptor < 0 { throw .last }
    }

    deinit { close(descriptor) }

    func status() throws(SystemError) -> FileStatus {
        // SAFETY: the struct outlives the call.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    /// Takes the file's lock without waiting; returns false where the file system has no locks.
    ///
    /// Throws `wouldBlock` if another holds it. The lock ends when the file is closed, by whatever ends the process.
    @discardableResult
    func lock() throws(SystemError) -> Bool {
        switch CNukeDisk_lock(descriptor) {
        case CNukeDisk_locked: return true
        case CNukeDisk_heldByAnother: throw .wouldBlock
        default: return false
        }
    }

    /// Sets the time of the last modification; not possible on the files of others, which is no harm.
    func setModified(_ time: Int64) { CNukeDisk_setModificationTime(descriptor, time) }

    /// Appends two pieces in as few calls as the system allows.
    func write(_ header: [UInt8], _ data: Data) throws(SystemError) {
        // SAFETY: the pieces point at the bytes of both buffers not written yet, while both are borrowed.
        let failure = unsafe header.withUnsafeBytes { first in
            unsafe data.withUnsafeBytes { second -> SystemError? in
                let start = unsafe UnsafeMutableRawPointer(mutating: first.baseAddress)
                let rest = unsafe UnsafeMutableRawPointer(mutating: second.baseAddress)
                var written = 0
                while written < first.count + second.count {
                    let inFirst = min(written, first.count)
                    let inSecond = written - inFirst
                    let pieces = unsafe [
                        iovec(iov_base: start.map { unsafe $0 + inFirst }, iov_len: first.count - inFirst),
                        iovec(iov_base: rest.map { unsafe $0 + inSecond }, iov_len: second.count - inSecond),
                    ]
                    let count = unsafe writev(descriptor, pieces, Int32(pieces.count))
                    if count < 0, errno != EINTR { return .last }
                    if count == 0 { return SystemError(code: EIO) }
                    written += max(0, count)
                }
                return nil
            }
        }
        if let failure { throw failure }
    }

    /// The first bytes of the file, fewer if it is shorter.
    func start(_ count: Int) throws(SystemError) -> FileBlock { try FileBlock(first: count, of: descriptor) }
}

/// The first bytes of a file, in memory of their own: never a map of a file that somebody could cut short.
@safe
struct FileBlock: ~Copyable {
    /// What malloc gave.
    private let memory: UnsafeMutableRawPointer
    /// Where the bytes start in it.
    private let base: UnsafeMutableRawPointer
    private let count: Int

    /// A cache line.
    ///
    /// What malloc gives for large blocks starts 16 bytes into a page, and to copy from the page cache to such
    /// a place takes some processors twice as long (AMD, "rep movsb" between addresses that are near modulo 4096).
    private static let alignment = 64

    fileprivate init(first capacity: Int, of descriptor: Int32) throws(SystemError) {
        // SAFETY: reads stay within the block, which is freed here or in deinit; count is what was filled.
        guard let memory = unsafe malloc(capacity + Self.alignment) else { throw SystemError(code: ENOMEM) }
        let base = unsafe memory.alignedUp(toMultipleOf: Self.alignment)
        var position = 0
        while position < capacity {
            let step = unsafe pread(descriptor, base + position, capacity - position, off_t(position))
            if step == 0 { break }
            if step < 0, errno != EINTR {
                let failure = SystemError.last
                unsafe free(memory)
                throw failure
            }
            position += max(0, step)
        }
        unsafe self.memory = memory
        unsafe self.base = base
        count = position
    }

    deinit { unsafe free(memory) }

    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            // SAFETY: count bytes of the block are initialised, and it lives as long as self.
            let span = unsafe RawSpan(_unsafeStart: base, byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// What is wrong with the bytes as the whole file of a key's entry; nil if nothing.
    func defect(asEntryOf key: [UInt8]) -> EntryFormat.Defect? { EntryFormat.defect(of: bytes, key: key) }

    /// Hands over the bytes from an offset on, without a copy.
    consuming func data(from offset: Int) -> Data {
        // SAFETY: the memory now belongs to the Data, which frees it from its start; the offset is within it.
        let (memory, start, count) = unsafe (memory, base + offset, max(0, count - offset))
        discard self
        guard count > 0 else {
            unsafe free(memory)
            return Data()
        }
        let distance = unsafe start - memory
        return unsafe Data(
            bytesNoCopy: start, count: count, deallocator: .custom { bytes, _ in unsafe free(bytes - distance) })
    }
}

/// A folder whose files are gone through; closed with its last use.
@safe
struct OpenFolder: ~Copyable {
    private let directory: UnsafeMutableRawPointer

    init(_ path: FilePath) throws(SystemError) {
        // SAFETY: the path ends in NUL.
        guard let opened = unsafe CNukeDisk_openDirectory(path.bytes) else { throw .last }
        unsafe directory = opened
    }

    deinit { unsafe CNukeDisk_closeDirectory(directory) }

    /// The first file from here on of whose name `transform` makes something; nil at the end.
    ///
    /// The second argument tells the status of the file; nil if it is gone meanwhile.
    mutating func next<Result>(_ transform: (_ name: Span<UInt8>, _ status: () -> FileStatus?) -> Result?) -> Result? {
        // SAFETY: the name ends in NUL and is used before the next call on the directory.
        while let name = unsafe CNukeDisk_nextName(directory) {
            let bytes = unsafe UnsafeBufferPointer(
                start: UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self), count: strlen(name))
            let result = unsafe transform(bytes.span) {
                var status = stat()
                let descriptor = unsafe CNukeDisk_directoryDescriptor(directory)
                let code = unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW)
                return code == 0 ? FileStatus(status) : nil
            }
            if let result { return result }
        }
        return nil
    }
}
