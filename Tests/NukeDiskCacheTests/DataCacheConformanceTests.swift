import FoundationEssentials
import NukeCore
import NukeDiskCache
import NukeTestKit
import Testing

@Suite("DataCache: conformance", .timeLimit(.minutes(5)))
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
}

private final class Caches: Sendable {
    let all = Lock<[DataCache]>([])
}
