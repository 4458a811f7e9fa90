import FoundationEssentials
import Glibc
import Testing

@testable import NukeDiskCache

@Suite("DataCache: the size limit", .serialized, .timeLimit(.minutes(5)))
struct DataCacheSweepTests {
    private let folder: TemporaryFolder
    private let clock = ManualClock()
    private let cache: DataCache
    private let megabyte = Data(count: 1 << 20)

    init() throws {
        folder = try TemporaryFolder()
        let clock = clock
        cache = try DataCache(path: folder.path, settings: DataCache.Settings(now: { clock.now }, sweepProgress: 0))
        cache.isSweepEnabled = false
    }

    private func store(_ keys: String..., size: Int = 1 << 20) {
        for key in keys {
            clock.advance(by: 100)
            cache[key] = Data(count: size)
            cache.flush()
        }
    }

    private func keysLeft(of keys: [String]) -> [String] { keys.filter { cache.containsData(for: $0) } }

    @Test("Beyond the limit, the entries used longest ago go until 70 % is left [DSK-28]")
    func trims() {
        store("a", "b", "c", "d")
        cache.sizeLimit = 3 << 20
        cache.sweep()
        #expect(keysLeft(of: ["a", "b", "c", "d"]) == ["c", "d"])
        #expect(cache.totalAllocatedSize <= Int(Double(3 << 20) * 0.7))
        #expect(cache.totalSize > 2 << 20)
    }

    @Test("At the limit exactly nothing goes, nor from an empty cache [DSK-29]")
    func atTheLimit() {
        cache.sizeLimit = 0
        cache.sweep()
        store("a", "b", "c")
        cache.sizeLimit = max(cache.totalAllocatedSize, cache.totalSize)
        cache.sweep()
        #expect(cache.totalCount == 3)
        cache.sizeLimit -= 1
        cache.sweep()
        #expect(keysLeft(of: ["a", "b", "c"]) == ["b", "c"])
    }

    @Test("Reading counts as a use, whatever the mount does with access times [DSK-26] [pitfall 104]")
    func readsCount() {
        store("a", "b", "c", "d")
        clock.advance(by: 100)
        #expect(cache["a"] == megabyte)
        clock.advance(by: 100)
        #expect(cache["c"] == megabyte)
        cache.sizeLimit = 3 << 20
        cache.sweep()
        #expect(keysLeft(of: ["a", "b", "c", "d"]) == ["a", "c"])
    }

    @Test("Uses within a second are told apart too [DSK-26] [pitfall 104]")
    func readsWithinASecondCount() throws {
        // The system's clock, as in real use.
        let cache = try DataCache(path: folder.path)
        for key in ["a", "b", "c", "d"] { cache[key] = megabyte }
        cache.flush()
        #expect(cache["a"] == megabyte)
        #expect(cache["b"] == megabyte)
        #expect(cache["a"] == megabyte)
        cache.sizeLimit = 3 << 20
        cache.sweep()
        #expect(keysLeft(of: ["a", "b", "c", "d"]) == ["a", "b"])
    }

    @Test("A use is noted in the file when that is off by more than a minute, so that other processes see it")
    func usesAreStored() throws {
        func modified(_ key: String) throws -> Int64 {
            try FileSystem.status(of: FilePath(#require(cache.path(for: key)))).modified
        }
        store("a")
        clock.advance(by: 1000)
        let now = clock.now
        #expect(cache["a"] == megabyte)
        #expect(try modified("a") == now)
        clock.advance(by: 59)
        #expect(cache["a"] == megabyte)
        #expect(try modified("a") == now)
        clock.advance(by: 2)
        #expect(cache["a"] == megabyte)
        #expect(try modified("a") == now + 61_000_000_000)
        // A clock that was wrong once does not keep an entry for ever.
        clock.advance(by: -5000)
        #expect(cache["a"] == megabyte)
        #expect(try modified("a") == clock.now)
        let other = try DataCache(path: folder.path)
        store("b", "c", "d")
        clock.advance(by: 200)
        #expect(cache["a"] == megabyte)
        #expect(cache["c"] == megabyte)
        #expect(cache["d"] == megabyte)
        other.sizeLimit = 4 << 20
        other.sweep()
        #expect(keysLeft(of: ["a", "b", "c", "d"]) != ["b", "c", "d"])
    }

    @Test("An entry larger than the limit goes first and takes no other with it")
    func tooLargeEntry() {
        store("a", "b")
        store("huge", size: 6 << 20)
        cache.sizeLimit = 4 << 20
        cache.sweep()
        #expect(keysLeft(of: ["a", "b", "huge"]) == ["a", "b"])
    }

    @Test("What waits to be written does not count, nor do files of others [DSK-32]")
    func ignoresStaged() throws {
        let waiting = try DataCache(path: folder.path, settings: DataCache.Settings(isWritingAutomatic: false))
        waiting.sizeLimit = 2 << 20
        for key in ["a", "b", "c", "d"] { waiting[key] = megabyte }
        try overwrite(folder.path + "/foreign", [UInt8](repeating: 0, count: 5 << 20))
        try overwrite(folder.path + "/.hidden", [UInt8](repeating: 0, count: 5 << 20))
        waiting.sweep()
        #expect(waiting["a"] == megabyte)
        store("e")
        waiting.sweep()
        #expect(waiting["e"] == megabyte)
    }

    @Test("A sweep comes by itself when 5 % of the limit was written, again and again [DSK-35] [DSK-37]")
    func sweepsByItself() throws {
        cache.isSweepEnabled = true
        cache.sizeLimit = 4 << 20
        for round in 0..<3 {
            for number in 0..<8 { store("key \(round) \(number)") }
            // The sweep runs on its own thread: the time limit ends a wait without end.
            while cache.totalCount > 4 {}
            #expect(cache["key \(round) 7"] == megabyte)
        }
        #expect(cache.failureCount == 0)
    }

    @Test("Without automatic sweeps only `sweep()` sweeps [DSK-36]")
    func disabled() {
        cache.sizeLimit = 1 << 20
        store("a", "b", "c", "d")
        #expect(cache.totalCount == 4)
        cache.sweep()
        #expect(cache.totalCount == 0)
    }

    @Test("How much was written counts towards a sweep in parts of the limit of the moment")
    func progress() {
        var state = DataCache.State(sweepProgress: 0)
        func write(_ bytes: Int) -> Bool { state.noteWritten(bytes) }
        state.sizeLimit = 1000
        #expect(!write(49))
        #expect(write(1))
        state.sweepProgress = 0
        #expect(!write(1000))  // One is under way.
        var isDue = state.needsSweepAgain()
        #expect(isDue)
        state.sweepProgress = 0
        #expect(!write(49))
        isDue = state.needsSweepAgain()
        #expect(!isDue)
        #expect(write(1))
        isDue = state.needsSweepAgain()
        #expect(isDue)
        state.sweepProgress = 0
        isDue = state.needsSweepAgain()
        #expect(!isDue)
        state.sizeLimit = 100_000
        #expect(!write(4000))
        state.isSweepEnabled = false
        #expect(!write(4000))
        state.isSweepEnabled = true
        #expect(write(1))
        // Short-lived processes, each of which writes a tenth of what makes a sweep due, sweep about one time in ten.
        let due = (0..<4000).filter { _ in
            var state = DataCache.State(sweepProgress: DataCache.Settings().sweepProgress)
            state.sizeLimit = 100_000
            return state.noteWritten(500)
        }
        #expect((200...800).contains(due.count))
    }

    @Test("Notes of uses are bounded")
    func recentUses() {
        var uses = RecentUses()
        for number in 0..<20_000 {
            uses.note(EntryName(key: Array("\(number)".utf8)), at: Int64(number))
            #expect(uses[EntryName(key: Array("\(number)".utf8))] == Int64(number))
        }
        #expect(uses[EntryName(key: Array("0".utf8))] == nil)
        #expect(uses.count <= 8192)
    }

    @Test("Entries replaced or used since a sweep listed them stay")
    func changedMeanwhile() throws {
        store("a", "b", "c")
        let listed = cache.files.list().entries
        #expect(listed.count == 3)
        cache["a"] = Data([1])
        cache.flush()
        clock.advance(by: 500)
        #expect(cache["b"] == megabyte)
        cache["c"] = nil
        cache.flush()
        let removed = try listed.map { try cache.files.remove($0) }
        #expect(removed.filter { $0 }.count == 1)
        #expect(cache["a"] == Data([1]))
        #expect(cache["b"] == megabyte)
    }
}
