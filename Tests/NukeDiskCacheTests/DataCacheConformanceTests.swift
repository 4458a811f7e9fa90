import FoundationEssentials
import Glibc
import NukeCore
import NukeDiskCache
import NukeTestKit
import Testing

// Nine runs of a suite with many threads take their time where a sanitizer watches and others build.
@Suite("The conformance suite of data caches", .serialized, .timeLimit(.minutes(5)))
struct DataCacheConformanceTests {
    @Test("DataCache keeps the promises of DataCaching")
    func dataCache() throws {
        let folder = try TemporaryFolder()
        let caches = Caches()
        let suite = DataCacheConformance {
            let cache = try DataCache(path: folder.path + "/" + UUID().uuidString)
            caches.all.withLock { $0.append(cache) }
            return cache
        } reopen: { cache in
            let cache = try #require(cache as? DataCache)
            cache.flush()
            return try DataCache(path: cache.path)
        }
        #expect(suite.violations().map(\.description) == [])
        // What still waits to be written would make the folder again after it was removed.
        for cache in caches.all.withLock({ $0 }) {
            cache.flush()
            #expect(cache.failureCount == 0)
        }
    }

    @Test("A dictionary with a lock keeps them too")
    func dictionary() {
        #expect(DataCacheConformance { MemoryCache() }.violations().map(\.description) == [])
    }

    @Test("A cache that cannot be made, or opened again, is found")
    func throwingFactory() {
        struct Failure: Error {}
        #expect(!DataCacheConformance { throw Failure() }.violations().isEmpty)
        let suite = DataCacheConformance {
            MemoryCache()
        } reopen: { _ in
            MemoryCache()
        }
        #expect(suite.violations().contains { $0.message.contains("kept") })
    }

    @Test("Broken caches are found, each by a check of its own", arguments: BrokenCache.Defect.allCases)
    func brokenCaches(defect: BrokenCache.Defect) {
        let violations = DataCacheConformance { BrokenCache(defect) }.violations()
        #expect(violations.contains { $0.check == defect.check }, "\(violations)")
    }
}

private final class Caches: Sendable {
    let all = Lock<[DataCache]>([])
}

/// Bytes of keys and not their meaning tell them apart, as on disk.
private final class MemoryCache: DataCaching {
    private let storage = Lock<[[UInt8]: Data]>([:])

    func cachedData(for key: String) -> Data? { storage.withLock { $0[Array(key.utf8)] } }
    func containsData(for key: String) -> Bool { cachedData(for: key) != nil }
    func storeData(_ data: Data, for key: String) { storage.withLock { $0[Array(key.utf8)] = data } }
    func removeData(for key: String) { storage.withLock { $0[Array(key.utf8)] = nil } }
    func removeAll() { storage.withLock { $0 = [:] } }
}

/// A cache in memory with one defect, of a kind that caches on disk have had.
final class BrokenCache: DataCaching {
    enum Defect: CaseIterable, CustomTestStringConvertible {
        case shortensKeys, leavesTail, showsHalf, forgetsRemovals, losesEmptyData, alwaysContains, keepsSomeAtRemoveAll

        /// The check that has to find it.
        var check: String {
            switch self {
            case .shortensKeys: "different keys never mix"
            case .leavesTail: "storing again replaces"
            case .showsHalf: "readers of a key see whole values only"
            case .forgetsRemovals: "removing removes"
            case .losesEmptyData: "data of any size is kept"
            case .alwaysContains: "an unknown key has nothing"
            case .keepsSomeAtRemoveAll: "removing all removes all"
            }
        }

        var testDescription: String { "\(self)" }
    }

    private let defect: Defect
    private let storage = Lock<[[UInt8]: Data]>([:])
    private let reads = Lock(0)

    init(_ defect: Defect) { self.defect = defect }

    private func bytes(_ key: String) -> [UInt8] {
        defect == .shortensKeys ? Array(key.utf8.prefix(255)) : Array(key.utf8)
    }

    func cachedData(for key: String) -> Data? {
        reads.withLock { $0 += 1 }
        return storage.withLock { $0[bytes(key)] }
    }

    func containsData(for key: String) -> Bool { defect == .alwaysContains || cachedData(for: key) != nil }

    func storeData(_ data: Data, for key: String) {
        switch defect {
        case .leavesTail:
            storage.withLock { storage in
                let old = storage[bytes(key)] ?? Data()
                storage[bytes(key)] = data + old.dropFirst(data.count)
            }
        case .showsHalf:
            storage.withLock { $0[bytes(key)] = data.prefix(data.count / 2) }
            // Somebody reads meanwhile, if anybody reads at all.
            let before = reads.withLock { $0 }
            for _ in 0..<200 where reads.withLock({ $0 }) == before { sched_yield() }
            storage.withLock { $0[bytes(key)] = data }
        case .losesEmptyData where data.isEmpty: break
        default: storage.withLock { $0[bytes(key)] = data }
        }
    }

    func removeData(for key: String) {
        if defect != .forgetsRemovals { storage.withLock { $0[bytes(key)] = nil } }
    }

    func removeAll() {
        storage.withLock { storage in
            storage = defect == .keepsSomeAtRemoveAll ? storage.filter { $0.key.count > 5 } : [:]
        }
    }
}
