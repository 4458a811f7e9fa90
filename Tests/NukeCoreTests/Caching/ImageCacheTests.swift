import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ImageCacheTests {
    private func key(_ name: String) -> ImageCacheKey { ImageCacheKey(key: name) }

    /// A container that costs 4 bytes of pixels and the rest of data.
    private func container(cost: Int) -> ImageContainer {
        ImageContainer(image: .mock(width: 1, height: 1), data: cost > 4 ? Data(count: cost - 4) : nil)
    }

    private func cache(cost: Int = .max, count: Int = .max, share: Double = 1) -> ImageCache {
        let cache = ImageCache(costLimit: cost, countLimit: count)
        cache.entryCostLimit = share
        return cache
    }

    @Test("the defaults [MEM-01]")
    func defaults() {
        let cache = ImageCache()
        #expect(cache.costLimit == min(HostLimits.memory / 100 * 15, 805_306_368) && cache.countLimit == .max)
        #expect(cache.ttl == nil && cache.entryCostLimit == 0.1)
    }

    @Test("set, get, remove; counts and costs follow [MEM-02]")
    func basics() {
        let cache = cache()
        #expect(cache[key("a")] == nil)
        let stored = container(cost: 10)
        cache[key("a")] = stored
        #expect(cache[key("a")]?.image === stored.image && cache.totalCount == 1 && cache.totalCost == 10)
        cache[key("a")] = nil
        #expect(cache[key("a")] == nil && cache.totalCount == 0 && cache.totalCost == 0)
    }

    @Test("the cost is the pixels and the data [MEM-03] [MEM-04]")
    func cost() {
        #expect(ImageContainer(image: .mock(width: 640, height: 480)).memoryCost == 1_228_800)
        #expect(ImageContainer(image: .mock(width: 1, height: 1), data: Data(count: 5)).memoryCost == 9)
    }

    @Test("what exceeds count or cost goes at once [MEM-05]")
    func limits() {
        let counted = cache(count: 2)
        for name in ["a", "b", "c"] { counted[key(name)] = container(cost: 4) }
        #expect(counted.totalCount == 2 && counted[key("a")] == nil)
        let costed = cache(cost: 20)
        for name in ["a", "b", "c"] { costed[key(name)] = container(cost: 8) }
        #expect(costed.totalCost == 16 && costed[key("a")] == nil)
    }

    @Test("lowering a limit removes at once [MEM-06]")
    func loweredLimits() {
        let cache = cache()
        for index in 0..<10 { cache[key("\(index)")] = container(cost: 10) }
        cache.countLimit = 5
        #expect(cache.totalCount == 5)
        cache.costLimit = 25
        #expect(cache.totalCost == 20)
        #expect(cache[key("9")] != nil && cache[key("8")] != nil && cache[key("7")] == nil)
    }

    @Test("a limit of 0 keeps nothing [MEM-07]")
    func zeroLimits() {
        for cache in [cache(cost: 0), cache(count: 0)] {
            cache[key("a")] = container(cost: 4)
            #expect(cache[key("a")] == nil && cache.totalCount == 0)
        }
    }

    @Test("an entry has to stay below its share of the cost [MEM-08]")
    func entryLimit() {
        let cache = cache(cost: 100, share: 0.1)
        for (cost, isStored) in [(9, true), (10, false), (11, false)] {
            cache[key("a")] = container(cost: cost)
            #expect((cache[key("a")] != nil) == isStored)
        }
    }

    @Test("the share is clamped for the check and reads back as set; a negative one refuses all [MEM-09]")
    func clampedShare() {
        let cache = cache(cost: 100, share: 2)
        #expect(cache.entryCostLimit == 2)
        cache[key("a")] = container(cost: 99)
        #expect(cache[key("a")] != nil)
        cache.entryCostLimit = -1
        cache[key("b")] = container(cost: 4)
        #expect(cache[key("b")] == nil)
    }

    @Test("the whole share still refuses the whole limit [MEM-10]")
    func wholeLimit() {
        let cache = cache(cost: 100, share: 1)
        cache[key("a")] = container(cost: 100)
        #expect(cache[key("a")] == nil)
    }

    @Test("no limit does not overflow [MEM-11]")
    func noLimit() {
        let cache = cache(cost: .max)
        cache[key("a")] = container(cost: 1000)
        #expect(cache[key("a")] != nil)
    }

    @Test("overwriting replaces the cost, and counts as a use [MEM-12]")
    func overwriting() {
        let cache = cache(count: 2)
        cache[key("a")] = container(cost: 10)
        cache[key("b")] = container(cost: 10)
        cache[key("a")] = container(cost: 20)
        #expect(cache.totalCost == 30 && cache.totalCount == 2)
        cache[key("c")] = container(cost: 4)
        #expect(cache[key("b")] == nil && cache[key("a")] != nil)
    }

    @Test("a write that is too large removes what it would have replaced [MEM-13]")
    func oversizeWrite() {
        let cache = cache(cost: 100, share: 0.5)
        cache[key("a")] = container(cost: 10)
        cache[key("a")] = container(cost: 90)
        #expect(cache[key("a")] == nil && cache.totalCost == 0)
    }

    @Test("the least recently used goes first; reading is using [MEM-14]")
    func order() {
        let cache = cache(count: 3)
        for name in ["a", "b", "c"] { cache[key(name)] = container(cost: 4) }
        _ = cache[key("a")]
        cache[key("d")] = container(cost: 4)
        #expect(cache[key("b")] == nil && cache[key("a")] != nil && cache[key("c")] != nil && cache[key("d")] != nil)
    }

    @Test("a new entry is never the one that goes [MEM-15]")
    func newEntry() {
        let cache = cache(count: 100)
        for index in 0..<100 { cache[key("\(index)")] = container(cost: 4) }
        for index in 0..<100 { _ = cache[key("\(index)")] }
        cache[key("new")] = container(cost: 4)
        #expect(cache[key("new")] != nil && cache[key("0")] == nil && cache[key("1")] != nil)
    }

    @Test("the order is exact over many keys and shards")
    func exactOrder() {
        let cache = cache(count: 500)
        for index in 0..<2000 { cache[key("\(index)")] = container(cost: 4) }
        for index in 0..<2000 { #expect((cache[key("\(index)")] != nil) == (index >= 1500)) }
    }

    @Test("trimming goes down to the limit, 0 empties [MEM-16]")
    func trimming() {
        let cache = cache()
        for index in 0..<10 { cache[key("\(index)")] = container(cost: 10) }
        cache.trim(toCost: 55)
        #expect(cache.totalCost == 50 && cache[key("4")] == nil)
        cache.trim(toCount: 2)
        #expect(cache.totalCount == 2)
        cache.trim(toCount: 0)
        #expect(cache.totalCount == 0 && cache.totalCost == 0)
        cache[key("a")] = container(cost: 10)
        cache.removeAll()
        #expect(cache.totalCount == 0 && cache.totalCost == 0 && cache[key("a")] == nil)
    }

    @Test("a time to live: nil is for ever, 0 is at once [MEM-17] [MEM-18]")
    func timeToLive() {
        let time = Locked(0.0)
        let cache = ImageCache(costLimit: .max, countLimit: .max, now: { time.withLock { $0 } })
        cache[key("forever")] = container(cost: 4)
        time.withLock { $0 = 1e9 }
        #expect(cache[key("forever")] != nil)
        cache.ttl = 10
        cache[key("ten")] = container(cost: 4)
        time.withLock { $0 += 9.9 }
        #expect(cache[key("ten")] != nil)
        time.withLock { $0 += 0.1 }
        #expect(cache[key("ten")] == nil && cache.totalCount == 1)
        cache.ttl = 0
        cache[key("now")] = container(cost: 4)
        #expect(cache[key("now")] == nil)
    }

    @Test("many threads at once keep counts and limits right [MEM-25]")
    func concurrency() async {
        let cache = cache(cost: 4000)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    for index in 0..<2000 {
                        let key = ImageCacheKey(key: "\((index * 7 + thread) % 300)")
                        switch index % 4 {
                        case 0: cache[key] = ImageContainer(image: .mock(width: 1, height: 1), data: Data(count: 20))
                        case 1: cache[key] = nil
                        case 2 where index % 500 == 2: cache.trim(toCount: 20)
                        case 2 where index % 500 == 102: cache.trim(toCost: 480)
                        case 2 where index % 1000 == 202: cache.removeAll()
                        default: _ = cache[key]
                        }
                    }
                }
            }
        }
        #expect(cache.totalCost <= 4000 && cache.totalCost == cache.totalCount * 24)
        cache.removeAll()
        #expect(cache.totalCost == 0 && cache.totalCount == 0)
    }
}
