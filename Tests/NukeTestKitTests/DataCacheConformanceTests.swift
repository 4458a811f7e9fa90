import FoundationEssentials
import NukeCore
import NukeTestKit
import Testing

// Many runs of a suite with many threads take their time where a sanitizer watches and others build.
@Suite("The conformance suite of data caches", .serialized, .timeLimit(.minutes(5)))
struct DataCacheConformanceTests {
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
