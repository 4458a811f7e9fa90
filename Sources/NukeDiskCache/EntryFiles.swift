internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The files of a cache's folder: system calls on paths, and no state but a counter.
///
/// Paths and no descriptors are kept, so that a folder that somebody removed is simply made again. Nothing is synced: a
/// rename shows an entry whole or not at all to every process, and after a loss of power the checksum tells.
final class EntryFiles: Sendable {
    /// The folder, absolute, without a slash at its end.
    let root: String

    /// The root, a slash, and room for an entry's name and a NUL.
    private let template: [CChar]
    /// Temporary names count up from a random number: no two processes, or machines on one volume, meet.
    private let lastTemporary = Atomic(UInt64.random(in: .min ... .max))

    /// Files up to this length are read in one call; of longer ones the header is read first, before memory is taken.
    private static let singleReadLength = 256 << 10

    init(root: String) {
        self.root = root
        let start = (root == "/" ? "/" : root + "/").utf8.map { CChar(bitPattern: $0) }
        template = start + [CChar](repeating: 0, count: EntryName.pathLength + 1)
    }

    // MARK: Reading

    enum ReadFailure: Error {
        case missing
        case defect(EntryFormat.Defect)
        case system(SystemError)

        init(_ error: SystemError) {
            self = error == .noSuchFile || error == .notADirectory ? .missing : .system(error)
        }
    }

    /// Reads and checks an entry; also says when it was last marked as used, in nanoseconds since 1970.
    ///
    /// An entry with a defect is removed, unless another has taken its place meanwhile. One last used more than `interval`
    /// nanoseconds from `now` is marked as used now.
    func read(
        _ name: EntryName, key: [UInt8], now: Int64, markingAfter interval: Int64
    ) throws(ReadFailure) -> (data: Data, lastUse: Int64) {
        let path = path(of: name)
        let file = try open(path)
        let status = try status(of: file)
        do throws(ReadFailure) {
            let data = try contents(of: file, status, key: key)
            if (status.modified - now).magnitude > interval.magnitude { file.setModified(now) }
            return (data, status.modified)
        } catch {
            // The file is open still, so that no other can have its identity.
            if case .defect = error, let present = try? FileSystem.status(of: path), present.identity == status.identity
            {
                try? FileSystem.remove(path)
            }
            throw error
        }
    }

    private func contents(
        of file: borrowing OpenFile, _ status: FileStatus, key: [UInt8]
    ) throws(ReadFailure) -> Data {
        guard status.isRegularFile else { throw .defect(.notAnEntry) }
        let offset = EntryFormat.dataOffset(keyLength: key.count)
        if status.length > Self.singleReadLength {
            let start = try block(offset, of: file)
            if let defect = EntryFormat.defect(ofHeader: start.bytes, key: key, fileLength: status.length) {
                throw .defect(defect)
            }
        }
        let whole = try block(status.length, of: file)
        if let defect = whole.defect(asEntryOf: key) { throw .defect(defect) }
        return whole.data(from: offset)
    }

    private func open(_ path: FilePath) throws(ReadFailure) -> OpenFile {
        do throws(SystemError) { return try OpenFile(reading: path) } catch { throw ReadFailure(error) }
    }

    private func status(of file: borrowing OpenFile) throws(ReadFailure) -> FileStatus {
        do throws(SystemError) { return try file.status() } catch { throw ReadFailure(error) }
    }

    private func block(_ count: Int, of file: borrowing OpenFile) throws(ReadFailure) -> FileBlock {
        do throws(SystemError) { return try file.start(count) } catch { throw ReadFailure(error) }
    }

    // MARK: Writing

    /// Writes an entry in place of what was there; returns the length of its file.
    ///
    /// The bytes go to a file aside, which nobody else removes while it is locked, and which then takes the entry's name.
    func write(_ name: EntryName, key: [UInt8], data: Data) throws(DataCacheError) -> Int {
        let header = EntryFormat.header(key: key, data: data)
        let path = path(of: name)
        guard header.count + data.count <= EntryFormat.maximumLength else {
            throw SystemError.fileTooLarge.error(.writeFailed, path: path)
        }
        var failure = SystemError.wouldBlock
        // A folder that was removed costs one more try, as does a sweep that comes between opening and locking: several in a
        // row have been seen where a small limit made three busy processes sweep all the time.
        for _ in 0..<16 {
            let number = lastTemporary.add(1, ordering: .relaxed).newValue
            let aside = temporaryPath(shard: name.shard, TemporaryName(number: number))
            do throws(SystemError) {
                try Self.write(header, data, aside: aside, path: path)
                return header.count + data.count
            } catch {
                failure = error
                if error == .noSuchFile { try makeFolder(folderPath(name.shard)) }
                if ![.noSuchFile, .fileExists, .wouldBlock].contains(error) { break }
            }
        }
        throw failure.error(.writeFailed, path: path)
    }

    /// Leaves no file aside.
    private static func write(_ header: [UInt8], _ data: Data, aside: FilePath, path: FilePath) throws(SystemError) {
        let file = try OpenFile(creating: aside)
        try file.lock()
        do throws(SystemError) {
            try file.write(header, data)
            try FileSystem.move(aside, to: path)
        } catch {
            try? FileSystem.remove(aside)
            throw error
        }
    }

    // MARK: Removing

    /// Removes an entry; one that is not there is as good.
    func remove(_ name: EntryName) throws(DataCacheError) {
        let path = path(of: name)
        do throws(SystemError) { try FileSystem.remove(path) } catch {
            if error == .noSuchFile || error == .notADirectory { return }
            throw error.error(.removalFailed, path: path)
        }
    }

    /// Removes an entry unless it was used or replaced since it was listed; returns whether it is gone.
    func remove(_ listed: ListedEntry) throws(DataCacheError) -> Bool {
        do throws(SystemError) {
            let present = try FileSystem.status(of: path(of: listed.name))
            if present.identity != listed.status.identity || present.modified != listed.status.modified { return false }
        } catch {
            if error == .noSuchFile { return true }
        }
        try remove(listed.name)
        return true
    }

    /// Whether a file bears an entry's name.
    func contains(_ name: EntryName) -> Bool { (try? FileSystem.status(of: path(of: name)))?.isRegularFile ?? false }

    // MARK: Paths

    /// Makes the cache's folder.
    func makeRoot() throws(DataCacheError) { try makeFolder(FilePath(root)) }

    private func makeFolder(_ path: FilePath) throws(DataCacheError) {
        do throws(SystemError) { try FileSystem.makeFolder(path) } catch {
            throw error.error(.directoryUnavailable, path: path)
        }
    }

    func path(of name: EntryName) -> FilePath {
        var bytes = template
        let offset = bytes.count - 1 - EntryName.pathLength
        var span = bytes.mutableSpan
        name.write(to: &span, at: offset)
        return FilePath(terminated: bytes)
    }

    /// One of the root's folders.
    func folderPath(_ shard: Int) -> FilePath {
        FilePath(terminated: template.dropLast(EntryName.pathLength + 1) + EntryName.folderDigits(shard) + [0])
    }

    func temporaryPath(shard: Int, _ name: TemporaryName) -> FilePath {
        let slash = CChar(bitPattern: UInt8(ascii: "/"))
        return FilePath(terminated: folderPath(shard).bytes.dropLast() + [slash] + name.bytes + [0])
    }
}
