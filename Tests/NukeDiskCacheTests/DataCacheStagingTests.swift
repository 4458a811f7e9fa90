import Dispatch
import FoundationEssentials
import NukeCore
import Testing

@testable import NukeDiskCache

/// The cache writes nothing here before it is told to, so that what is in memory and what is on disk can be told apart.
@Suite("DataCache: from memory to disk", .serialized, .timeLimit(.minutes(5)))
struct DataCacheStagingTests {
    private let folder: TemporaryFolder
    private let cache: DataCache
    private let one = Data([1])
    private let two = Data([2, 2])
    private let three = Data([3, 3, 3])

    init() throws {
        folder = try TemporaryFolder()
        cache = try DataCache(path: folder.path, settings: DataCache.Settings(isWritingAutomatic: false))
    }

    /// What the file of a key holds; nil if there is none.
    private func onDisk(_ key: String) throws -> Data? { try DataCache(path: folder.path).cachedData(for: key) }

    @Test("What was stored is read before any file exists [DSK-07] [DSK-08] [DSK-39]")
    func readsStaged() throws {
        cache["key"] = one
        #expect(cache["key"] == one)
        #expect(cache.containsData(for: "key"))
        #expect(cache.totalCount == 0)
        #expect(try folder.files().isEmpty)
        cache.removeData(for: "key")
        #expect(!cache.containsData(for: "key"))
        #expect(cache["key"] == nil)
    }

    @Test("The last of two values is the one that is written [DSK-09]")
    func storesTwice() throws {
        cache["key"] = one
        cache["key"] = two
        #expect(cache["key"] == two)
        cache.flush()
        #expect(try onDisk("key") == two)
        #expect(cache.totalCount == 1)
    }

    @Test("A value replaced in memory is old on disk and new to readers until it is written [DSK-10]")
    func replacesFlushed() throws {
        cache["key"] = one
        cache.flush()
        cache["key"] = two
        #expect(cache["key"] == two)
        #expect(try onDisk("key") == one)
        cache.flush()
        #expect(try onDisk("key") == two)
    }

    @Test("Removed before it was written, it is never written [DSK-11]")
    func removesStaged() throws {
        cache["key"] = one
        cache["key"] = nil
        #expect(cache["key"] == nil)
        cache.flush()
        #expect(try folder.files().isEmpty)
    }

    @Test("Removed after it was written, it is gone at once and its file at the next flush [DSK-12] [DSK-08]")
    func removesFlushed() throws {
        cache["key"] = one
        cache.flush()
        cache["key"] = nil
        #expect(cache["key"] == nil)
        #expect(!cache.containsData(for: "key"))
        #expect(try onDisk("key") == one)
        cache.flush()
        #expect(try folder.files().isEmpty)
    }

    @Test("Removed and stored again, it is there [DSK-14]")
    func removesThenStores() throws {
        cache["key"] = one
        cache.flush()
        cache["key"] = nil
        cache["key"] = two
        cache.flush()
        #expect(cache["key"] == two)
        #expect(try onDisk("key") == two)
    }

    @Test(
        "Removing everything empties memory at once and the disk at the flush; what is stored later stays [DSK-15] [DSK-17]"
    )
    func removesAll() throws {
        cache["flushed"] = one
        cache["again"] = one
        cache.flush()
        cache["staged"] = one
        cache.removeAll()
        cache["again"] = two
        cache["later"] = three
        #expect(cache["flushed"] == nil)
        #expect(cache["staged"] == nil)
        #expect(cache["again"] == two)
        #expect(try onDisk("flushed") == one)
        cache.flush()
        #expect(try onDisk("flushed") == nil)
        #expect(try onDisk("staged") == nil)
        #expect(try onDisk("again") == two)
        #expect(try onDisk("later") == three)
    }

    @Test("Removing everything twice removes what was stored in between [DSK-16]")
    func removesAllTwice() throws {
        cache.removeAll()
        cache["key"] = one
        cache.removeAll()
        #expect(cache["key"] == nil)
        cache.flush()
        #expect(try folder.files().isEmpty)
    }

    @Test("A flush of nothing returns at once [DSK-18]")
    func flushesNothing() {
        cache.flush()
        cache.flush(for: "key")
        #expect(cache.totalCount == 0)
    }

    @Test("A flush of one key writes that one; the others wait [DSK-19]")
    func flushesOneKey() throws {
        cache["a"] = one
        cache["b"] = two
        cache["c"] = three
        cache.flush(for: "b")
        #expect(try onDisk("a") == nil)
        #expect(try onDisk("b") == two)
        #expect(try onDisk("c") == nil)
        cache["b"] = nil
        cache.flush(for: "b")
        #expect(try onDisk("b") == nil)
        cache.flush(for: "unknown")
        #expect(cache.totalCount == 0)
        cache.flush()
        #expect(cache.totalCount == 2)
    }

    @Test("After everything was removed, a key that is stored and flushed alone survives [DSK-20]")
    func flushesOneKeyAfterRemovingAll() throws {
        cache["old"] = one
        cache["key"] = one
        cache.flush()
        cache.removeAll()
        cache["key"] = two
        cache.flush(for: "key")
        #expect(cache["key"] == two)
        #expect(try onDisk("key") == two)
        #expect(try onDisk("old") == nil)
        cache.flush()
        #expect(try onDisk("key") == two)
    }

    @Test("Without a flush, changes are written too, those that come meanwhile as well [DSK-21]")
    func writesByItself() throws {
        let writing = try DataCache(path: folder.path)
        for number in 0..<300 { writing["key \(number)"] = one }
        // The file appears by itself: the time limit ends a wait without end.
        while try onDisk("key 299") == nil {}
        #expect(try onDisk("key 0") == one)
        writing.flush()
    }

    @Test("The bytes that wait are bounded: who stores more waits until half is written")
    func backPressure() throws {
        let settings = DataCache.Settings(isWritingAutomatic: false, stagingLimit: 100_000)
        let cache = try DataCache(path: folder.path, settings: settings)
        let value = Data(count: 30_000)
        for number in 0..<3 { cache["key \(number)"] = value }
        #expect(cache.totalCount == 0)
        cache["key 3"] = value
        #expect(cache.totalCount >= 3)
        cache["huge"] = Data(count: 5_000_000)
        #expect(try onDisk("huge") == Data(count: 5_000_000))
        for number in 0..<200 { cache["key \(number)"] = value }
        #expect(cache.totalCount >= 197)
        cache.flush()
        #expect(cache.totalCount == 201)
    }

    @Test("Reads do not wait for what is being written [DSK-27]")
    func readsWhileWriting() throws {
        cache["key"] = one
        cache.flush()
        // The clock is asked when the writing of an entry begins: here it stops there.
        let gate = Gate()
        let settings = DataCache.Settings(now: { gate.pass() }, isWritingAutomatic: true)
        let writing = try DataCache(path: folder.path, settings: settings)
        writing["other"] = two
        gate.waitUntilReached()
        #expect(writing["other"] == two)
        writing["other"] = three
        #expect(writing["other"] == three)
        #expect(writing["key"] == one)
        gate.open()
        writing.flush()
        #expect(try onDisk("other") == three)
    }
}

/// Stops the first that passes until it is opened.
private final class Gate: Sendable {
    private let reached = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)
    private let isFirst = Lock(true)

    func pass() -> Int64 {
        let stops = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if stops {
            reached.signal()
            opened.wait()
        }
        return FileSystem.now
    }

    func waitUntilReached() { reached.wait() }
    func open() { opened.signal() }
}
