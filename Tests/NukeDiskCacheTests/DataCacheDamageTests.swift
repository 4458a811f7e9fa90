import FoundationEssentials
import Glibc
import Testing

@testable import NukeDiskCache

@Suite("DataCache: damaged files and folders", .serialized, .timeLimit(.minutes(5)))
struct DataCacheDamageTests {
    private let folder: TemporaryFolder
    private let cache: DataCache
    private let value = Data((0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws {
        folder = try TemporaryFolder()
        cache = try DataCache(path: folder.path + "/cache")
        cache["key"] = value
        cache.flush()
    }

    private func exists(_ key: String) throws -> Bool { access(try #require(cache.path(for: key)), F_OK) == 0 }

    /// Expects a miss that removes the file, is counted unless it is no damage, and does not stand in the way.
    private func expectMiss(
        _ key: String = "key", isFailure: Bool = true, _ comment: Comment? = nil, line: Int = #line
    ) throws {
        let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        let count = cache.failureCount
        #expect(cache[key] == nil, comment, sourceLocation: location)
        #expect(try !exists(key), comment, sourceLocation: location)
        #expect(cache.failureCount == count + (isFailure ? 1 : 0), comment, sourceLocation: location)
        if isFailure { #expect(cache.lastError?.code == .entryDamaged, comment, sourceLocation: location) }
        cache[key] = value
        cache.flush()
        #expect(cache[key] == value, comment, sourceLocation: location)
    }

    @Test("A bit flipped anywhere in an entry makes it a miss and removes it [pitfall 97]")
    func flippedBits() throws {
        let whole = try contents(cache.path(for: "key"))
        #expect(whole.count == 32 + 16 + 300)
        for position in whole.indices {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            try overwrite(cache.path(for: "key"), bytes)
            // Another version is no damage.
            try expectMiss(isFailure: !(6...7).contains(position), "byte \(position)")
        }
    }

    @Test(
        "An entry cut anywhere, empty, or with something behind it, is a miss and removed [pitfall 92] [pitfall 94] [DSK-40]"
    )
    func cutEntries() throws {
        let whole = try contents(cache.path(for: "key"))
        for count in stride(from: 0, to: whole.count, by: 5) {
            try overwrite(cache.path(for: "key"), Array(whole.prefix(count)))
            try expectMiss("key", "\(count) bytes")
        }
        try overwrite(cache.path(for: "key"), whole + [0])
        try expectMiss()
    }

    @Test("A large entry that is cut, or whose header lies about its length, is a miss and removed")
    func largeEntries() throws {
        cache["large"] = Data(count: 3_000_000)
        cache.flush()
        let whole = try contents(cache.path(for: "large"))
        var lying = whole
        lying[21] = 0x7f
        for bytes in [
            Array(whole.dropLast()), Array(whole.prefix(300_000)), lying, [UInt8](repeating: 7, count: 1 << 20),
        ] {
            try overwrite(cache.path(for: "large"), bytes)
            try expectMiss("large")
        }
    }

    @Test("A sparse file of a terabyte is turned down before memory is taken, whatever its header says")
    func hugeFile() throws {
        let path = try #require(cache.path(for: "key"))
        let whole = try contents(path)
        #expect(truncate(path, 1 << 40) == 0)
        try expectMiss()
        // A header that agrees with the file's length: 2^40, less the 48 bytes before the data.
        var lying = whole
        lying.replaceSubrange(16..<24, with: [0xd0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0])
        try overwrite(path, lying)
        #expect(truncate(path, 1 << 40) == 0)
        #expect(
            EntryFormat.defect(ofHeader: lying.span.bytes, key: Array("key".utf8), fileLength: 1 << 40) == .wrongLength)
        try expectMiss()
    }

    @Test("An entry under another key's name is a miss and removed [DSK-04]")
    func swappedFiles() throws {
        cache["yek"] = Data([1])
        cache.flush()
        try overwrite(cache.path(for: "key"), contents(cache.path(for: "yek")))
        try expectMiss()
        #expect(cache.lastError?.reason.contains("another key") == true)
        #expect(cache["yek"] == Data([1]))
    }

    @Test("Something else under an entry's name is a miss and removed")
    func foreignContent() throws {
        for text in ["", "x", "{\"lastSweepDate\": 715000000.123}", String(repeating: "\u{ff}", count: 500)] {
            try overwrite(cache.path(for: "key"), Array(text.utf8))
            try expectMiss("key", Comment(rawValue: text))
        }
    }

    @Test("Entries of an older or a newer format are misses and make room, without harm [pitfall 98]")
    func otherVersions() throws {
        let whole = try contents(cache.path(for: "key"))
        for version in [UInt8(0), 2, 200] {
            var bytes = whole
            bytes[6] = version
            bytes[8...] = ArraySlice(repeatElement(0xee, count: bytes.count - 8))
            try overwrite(cache.path(for: "key"), bytes)
            try expectMiss(isFailure: false)
        }
    }

    @Test("A link, a folder or a FIFO under an entry's name is a miss and holds nobody up")
    func specialFiles() throws {
        let path = try #require(cache.path(for: "key"))
        let target = folder.path + "/target"
        try overwrite(target, contents(path))
        #expect(unlink(path) == 0 && symlink(target, path) == 0)
        #expect(cache["key"] == nil)
        #expect(try contents(target).count == 348)
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(!cache.containsData(for: "key"))
        #expect(cache["key"] == nil)
        unlink(path)
        #expect(mkdir(path, 0o700) == 0)
        #expect(cache["key"] == nil)
        cache["key"] = value
        cache.flush()
        #expect(cache.lastError?.code == .writeFailed)
        cache.sweep()
        cache.removeAll()
        cache.flush()
        #expect(rmdir(path) == 0)
        cache["key"] = value
        cache.flush()
        #expect(cache["key"] == value)
    }

    @Test("A folder removed by somebody is made again, and the write is done [DSK-24] [pitfall 100]")
    func removedFolder() throws {
        try FileManager.default.removeItem(atPath: cache.path)
        #expect(cache["key"] == nil)
        #expect(cache.totalCount == 0)
        cache.sweep()
        cache["key"] = value
        cache.flush()
        #expect(cache["key"] == value)
        #expect(try permissions(cache.path) == 0o700)
        // One of its folders alone.
        try FileManager.default.removeItem(atPath: String(#require(cache.path(for: "key")).dropLast(63)))
        cache["key"] = value
        cache.flush()
        #expect(try DataCache(path: cache.path)["key"] == value)
        cache.removeAll()
        try FileManager.default.removeItem(atPath: cache.path)
        cache.flush()
        #expect(cache.failureCount == 0)
    }

    @Test("A folder replaced by a file is a failure that is counted, and ends with its cause [DSK-43]")
    func folderReplacedByFile() throws {
        try FileManager.default.removeItem(atPath: cache.path)
        try overwrite(cache.path, [1])
        #expect(cache["key"] == nil)
        cache["key"] = value
        cache.flush()
        #expect(cache["key"] == nil)
        #expect(cache.failureCount > 0)
        #expect(cache.lastError != nil)
        unlink(cache.path)
        cache["key"] = value
        cache.flush()
        #expect(cache["key"] == value)
    }

    @Test("Files half written by a dead process go at the next sweep, those that somebody writes stay")
    func abandonedFiles() throws {
        let shard = try String(#require(cache.path(for: "key")).dropLast(62))
        let (abandoned, held) = (shard + ".writing-00000000000000aa", shard + ".writing-00000000000000bb")
        try overwrite(abandoned, [1, 2, 3])
        try overwrite(held, [1, 2, 3])
        try overwrite(shard + ".writing-by-another-program", [1])
        // As a process that writes holds it; a lock belongs to the opening of a file, not to the process.
        do {
            let writer = try OpenFile(reading: FilePath(held))
            try #require(try writer.lock())
            cache.sweep()
            cache.removeAll()
            cache.flush()
            #expect(access(abandoned, F_OK) != 0)
            #expect(access(held, F_OK) == 0)
            _ = writer
        }
        cache.sweep()
        #expect(access(held, F_OK) != 0)
        #expect(try folder.files().count == 1)
    }

    private static func mount(on folder: String) -> Bool { Glibc.mount("tmpfs", folder, "tmpfs", 0, "size=256k") == 0 }

    /// Only root may; a limit on the size of files is the same failure for everybody, see `DataCacheProcessTests`.
    private static let canMount: Bool = {
        guard let folder = try? TemporaryFolder(), mount(on: folder.path) else { return false }
        // The folder can be removed once nothing is mounted on it.
        return withExtendedLifetime(folder) { umount2(folder.path, Int32(MNT_DETACH)) == 0 }
    }()

    @Test(
        "On a full disk a failure is counted, the old value is gone, and the cache goes on [DSK-43] [pitfall 101]",
        .enabled(if: canMount))
    func fullDisk() throws {
        let disk = folder.path + "/disk"
        #expect(mkdir(disk, 0o700) == 0)
        try #require(Self.mount(on: disk))
        defer { umount2(disk, Int32(MNT_DETACH)) }
        let cache = try DataCache(path: disk + "/cache")
        cache["key"] = value
        cache.flush()
        #expect(cache.failureCount == 0)
        cache["large"] = Data(count: 1 << 20)
        cache["key"] = Data(count: 1 << 20)
        cache.flush()
        #expect(cache.failureCount == 2)
        #expect(cache.lastError?.code == .writeFailed)
        #expect(cache["large"] == nil)
        #expect(cache["key"] == nil)
        cache["key"] = value
        cache.flush()
        #expect(cache["key"] == value)
        #expect(cache.totalCount == 1)
    }
}
