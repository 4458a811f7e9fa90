import FoundationEssentials
import NukeCore
import Testing

@testable import NukeDiskCache

@Suite("DataCache", .serialized, .timeLimit(.minutes(5)))
struct DataCacheTests {
    private let folder: TemporaryFolder
    private let cache: DataCache
    private let small = Data([1, 2, 3])
    private let large = Data((0..<500_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) })

    init() throws {
        folder = try TemporaryFolder()
        cache = try DataCache(path: folder.path + "/cache")
    }

    @Test("The folder is made with the cache, for its owner only, and `path` returns it [DSK-01] [DSK-02]")
    func folderIsMade() throws {
        #expect(cache.path == folder.path + "/cache")
        #expect(try permissions(cache.path) == 0o700)
        cache["key"] = small
        cache.flush()
        #expect(try permissions(cache.path(for: "key")) == 0o600)
    }

    @Test("The limit is 150 MB and automatic sweeps are on, unless set otherwise [DSK-03]")
    func defaults() {
        #expect(cache.sizeLimit == 157_286_400)
        #expect(cache.isSweepEnabled)
        #expect(cache.failureCount == 0)
        #expect(cache.lastError == nil)
        cache.sizeLimit = -5
        #expect(cache.sizeLimit == 0)
    }

    @Test("The empty key has no file, and nothing is stored under it [DSK-05]")
    func emptyKey() throws {
        cache.storeData(small, for: "")
        cache.flush(for: "")
        cache.flush()
        #expect(cache.url(for: "") == nil)
        #expect(cache.path(for: "") == nil)
        #expect(cache.cachedData(for: "") == nil)
        #expect(!cache.containsData(for: ""))
        cache.removeData(for: "")
        #expect(try folder.files().isEmpty)
    }

    @Test("What was stored is read at once and after it was written")
    func storesAndReads() {
        cache.storeData(small, for: "a")
        cache.storeData(large, for: "b")
        #expect(cache.cachedData(for: "a") == small)
        #expect(cache.cachedData(for: "b") == large)
        cache.flush()
        #expect(cache.cachedData(for: "a") == small)
        #expect(cache.cachedData(for: "b") == large)
        #expect(cache.containsData(for: "a"))
        #expect(!cache.containsData(for: "c"))
        #expect(cache.totalCount == 2)
    }

    @Test("500 KB come back as they were [DSK-47]")
    func largeData() throws {
        cache["key"] = large
        cache.flush()
        #expect(try DataCache(path: cache.path)["key"] == large)
    }

    @Test("A large value replaced by a small one leaves exactly the small one [DSK-25]")
    func replacedBySmaller() throws {
        cache["key"] = large
        cache.flush()
        cache["key"] = small
        cache.flush()
        #expect(cache["key"] == small)
        #expect(cache.totalCount == 1)
        #expect(try contents(cache.path(for: "key")).count < 100)
    }

    @Test("Removing what is not there, or twice, is harmless [DSK-13]")
    func removingTwice() {
        cache.removeData(for: "never there")
        cache["key"] = small
        cache.removeData(for: "key")
        cache.removeData(for: "key")
        cache.flush()
        cache.removeData(for: "key")
        cache.flush()
        #expect(cache["key"] == nil)
        #expect(cache.failureCount == 0)
    }

    @Test("The subscript reads, stores and removes [DSK-46]")
    func subscripting() {
        cache["key"] = small
        #expect(cache.cachedData(for: "key") == small)
        cache["key"] = nil
        #expect(!cache.containsData(for: "key"))
        #expect(cache["key"] == nil)
    }

    @Test("Counts and sizes are of files: of the cache's own, and not of what waits [DSK-39] [DSK-31]")
    func totals() throws {
        #expect(cache.totalCount == 0)
        #expect(cache.totalSize == 0)
        #expect(cache.totalAllocatedSize == 0)
        for number in 0..<3 { cache["key \(number)"] = large }
        cache.flush()
        try Data(count: 100_000).write(to: URL(filePath: cache.path + "/foreign"))
        try Data(count: 100_000).write(to: URL(filePath: cache.path(for: "key 0").map { $0 + ".bak" } ?? ""))
        #expect(cache.totalCount == 3)
        #expect(cache.totalSize >= 1_500_000 && cache.totalSize < 1_501_000)
        #expect(cache.totalAllocatedSize >= 1_500_000 && cache.totalAllocatedSize < 1_800_000)
    }

    @Test("Removing everything leaves the files of others alone")
    func foreignFiles() throws {
        cache["key"] = small
        cache.flush()
        let shard = try #require(cache.path(for: "key")).dropLast(62)
        let foreign = [cache.path + "/README", shard + "notes.txt", shard + ".hidden", shard + "ABCDEF"]
        for path in foreign { try overwrite(String(path), [1]) }
        cache.removeAll()
        cache.sizeLimit = 0
        cache.flush()
        cache.sweep()
        #expect(cache.totalCount == 0)
        for path in foreign { #expect(try contents(String(path)) == [1]) }
        #expect(try folder.files().count == 4)
    }

    @Test("Storing, reading and flushing from many threads at once is safe [DSK-45]")
    func manyThreads() async {
        let cache = cache
        let threads = CodecThreads(name: "test", count: 5)
        await withTaskGroup { group in
            for thread in 0..<5 {
                group.addTask {
                    await threads.run {
                        for number in 0..<500 {
                            let key = "key \((number * 7 + thread * 100) % 500)"
                            cache.storeData(Data(key.utf8), for: key)
                            if let data = cache.cachedData(for: "key \(number)") {
                                #expect(data == Data("key \(number)".utf8))
                            }
                            if number % 100 == thread { cache.flush() }
                        }
                    }
                }
            }
        }
        cache.flush()
        #expect(cache.totalCount == 500)
        for number in 0..<500 { #expect(cache["key \(number)"] == Data("key \(number)".utf8)) }
        #expect(cache.failureCount == 0)
    }

    @Test("Two caches in one folder see what the other has written [DSK-44] [pitfall 95]")
    func twoCaches() throws {
        let other = try DataCache(path: cache.path)
        cache["a"] = small
        cache.flush()
        #expect(other["a"] == small)
        other["a"] = large
        other["b"] = small
        other.flush()
        #expect(cache["a"] == large)
        other.removeAll()
        other["c"] = small
        other.flush()
        #expect(cache["a"] == nil)
        #expect(cache["b"] == nil)
        #expect(cache["c"] == small)
    }

    @Test("Bytes are kept as they are, whatever they are [pitfall 106]")
    func anyBytes() {
        let animation = Data(Array("GIF89a".utf8) + (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        cache["animation"] = animation
        cache.flush()
        #expect(cache["animation"] == animation)
    }

    @Test("Keys that look the same but have other bytes are different keys")
    func equivalentKeys() {
        cache["\u{e9}"] = Data([1])
        cache["e\u{301}"] = Data([2])
        #expect(cache["\u{e9}"] == Data([1]))
        cache.flush()
        #expect(cache["\u{e9}"] == Data([1]))
        #expect(cache["e\u{301}"] == Data([2]))
    }
}
