import Dispatch
import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// How long entries live, and what happens when they and caches go.
@Suite(.timeLimit(.minutes(5)))
struct ImageCacheLifetimeTests {
    private let image = ImageContainer(image: .mock(width: 1, height: 1))

    private func key(_ name: String) -> ImageCacheKey { ImageCacheKey(key: name) }

    /// A cache whose clock the test moves.
    private func cache(_ time: Locked<Double>) -> ImageCache {
        ImageCache(costLimit: .max, countLimit: .max, now: { time.withLock { $0 } })
    }

    @Test("a negative time to live is over at once [MEM-19]")
    func negativeTimeToLive() {
        let cache = cache(Locked(100))
        cache.ttl = -5
        cache[key("a")] = image
        #expect(cache[key("a")] == nil && cache.totalCount == 0)
    }

    @Test("the default applies to later writes, and an entry's own time to live beats it [MEM-20]")
    func ownTimeToLive() {
        let time = Locked(0.0)
        let cache = cache(time)
        cache[key("before")] = image
        cache.ttl = 10
        cache[key("ten")] = image
        cache.ttl = 1000
        cache.store(image, for: key("five"), ttl: 5)
        cache.store(image, for: key("forever"), ttl: nil)
        func present() -> [String] { ["before", "ten", "five", "forever"].filter { cache[key($0)] != nil } }
        time.withLock { $0 = 4 }
        #expect(present() == ["before", "ten", "five", "forever"])
        time.withLock { $0 = 6 }
        #expect(present() == ["before", "ten", "forever"])
        time.withLock { $0 = 2000 }
        #expect(present() == ["before", "forever"])
    }

    @Test("an expired entry goes when it is read; others stay until then [MEM-21]")
    func expiry() {
        let time = Locked(0.0)
        let cache = cache(time)
        cache.ttl = 1
        for name in ["a", "b"] { cache[key(name)] = image }
        time.withLock { $0 = 2 }
        #expect(cache.totalCount == 2 && cache.totalCost == 8)
        #expect(cache[key("a")] == nil && cache.totalCount == 1 && cache.totalCost == 4)
        cache[key("b")] = image
        #expect(cache[key("b")] != nil && cache.totalCount == 1)
    }

    @Test("removing everything leaves nothing, and the cache goes on [MEM-22]")
    func removeAll() {
        let cache = ImageCache()
        for index in 0..<100 { cache[key("\(index)")] = image }
        cache.removeAll()
        #expect(cache.totalCount == 0 && cache.totalCost == 0 && cache[key("5")] == nil)
        cache[key("5")] = image
        #expect(cache.totalCount == 1 && cache[key("5")] != nil)
    }

    @Test("a thousand caches come and go, and none stays [MEM-26]")
    func manyCaches() {
        struct Weak { weak var cache: ImageCache? }
        var caches: [Weak] = []
        for index in 0..<1000 {
            let cache = ImageCache()
            cache[key("\(index)")] = image
            caches.append(Weak(cache: cache))
        }
        #expect(caches.count { $0.cache != nil } == 0)
    }

    @Test("a cache of very many images goes without overflowing the stack, with all of them [MEM-27]")
    func manyImages() {
        weak var first: Bitmap?
        do {
            let cache = ImageCache(costLimit: .max)
            for index in 0..<200_000 {
                let container = index == 0 ? ImageContainer(image: .mock(width: 1, height: 1)) : image
                if index == 0 { first = container.image }
                cache[key("\(index)")] = container
            }
            #expect(cache.totalCount == 200_000 && first != nil)
        }
        #expect(first == nil)
    }

    @Test("the shared cache is not made if every pipeline has another [MEM-28]")
    func laziness() async {
        await #expect(processExitsWith: .success) {
            // Every cache takes the next number among those that observe pressure.
            let own = ImageCache()
            let before = MemoryPressure.Observer().number
            let pipelines = [ImagePipeline { $0.imageCache = own }, ImagePipeline { $0.imageCache = nil }]
            for pipeline in pipelines { _ = try? await pipeline.image(for: ImageRequest(url: nil)) }
            #expect(MemoryPressure.Observer().number == before + 1)
            _ = ImagePipeline()
            #expect(MemoryPressure.Observer().number == before + 3)
        }
    }

    /// Calls the cache when it goes, from another thread, which would wait for ever if a lock were held.
    private final class CallsCache: Sendable {
        let cache: ImageCache
        let outcomes: Locked<[DispatchTimeoutResult]>

        init(_ cache: ImageCache, _ outcomes: Locked<[DispatchTimeoutResult]>) {
            (self.cache, self.outcomes) = (cache, outcomes)
        }

        deinit {
            let isDone = DispatchSemaphore(value: 0)
            DispatchQueue(label: "deinit").async { [cache] in
                for index in 0..<100 { cache[ImageCacheKey(key: "\(index)")] = nil }
                cache.trim(toCount: .max)
                isDone.signal()
            }
            let outcome = isDone.wait(timeout: .now() + 20)
            outcomes.withLock { $0.append(outcome) }
        }
    }

    @Test("what is removed is let go of outside the locks [CON-04]")
    func deinitsOutsideLocks() {
        let outcomes = Locked<[DispatchTimeoutResult]>([])
        let time = Locked(0.0)
        let cache = cache(time)
        func store(_ name: String, ttl: Double? = nil) {
            let value = CallsCache(cache, outcomes)
            let container = ImageContainer(image: .mock(width: 1, height: 1), userInfo: ["value": value])
            cache.store(container, for: key(name), ttl: ttl)
        }
        let ways: [() -> Void] = [
            { cache[key("a")] = nil },
            { cache[key("a")] = image },
            { cache.trim(toCount: 0) },
            { cache.removeAll() },
            {
                time.withLock { $0 += 10 }
                _ = cache[key("a")]
            },
        ]
        for (index, way) in ways.enumerated() {
            cache.removeAll()
            store("a", ttl: 5)
            way()
            #expect(outcomes.withLock { $0 } == Array(repeating: .success, count: index + 1))
        }
    }
}
