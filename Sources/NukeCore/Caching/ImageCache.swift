internal import Synchronization

/// A cache of decoded images in memory that keeps what was used last.
///
/// Entries are spread over 16 shards, each with a lock of its own, so that threads rarely wait for one another; every use
/// stamps the entry, and the oldest stamp of all goes first: an exact least-recently-used order. Usable from any thread.
public final class ImageCache: ImageCaching {
    /// The cache that pipelines use unless their configuration names another.
    public static let shared = ImageCache()

    private struct Settings {
        var costLimit: Int
        var countLimit: Int
        var ttl: Double?
        var entryCostLimit = 0.1
    }

    private let shards: InlineArray<16, ImageCacheShard>
    private let settings: Lock<Settings>
    private let eviction = Lock(())
    private let totals = ImageCacheShard.Totals()
    private let now: @Sendable () -> Double
    private let pressureObserver = MemoryPressure.Observer()

    /// What a cache holds before it asks the kernel to tell when memory is short: less would not help.
    private static let watchedCost = 32 << 20

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - costLimit: Bytes to keep, counted by `ImageContainer.memoryCost`; `defaultCostLimit` by default.
    ///   - countLimit: Images to keep; no limit by default.
    public convenience init(costLimit: Int = ImageCache.defaultCostLimit, countLimit: Int = .max) {
        self.init(costLimit: costLimit, countLimit: countLimit, now: { MonotonicClock.now })
    }

    /// Creates a cache whose time is told by `now`, in seconds.
    init(costLimit: Int, countLimit: Int, now: @escaping @Sendable () -> Double) {
        let totals = totals
        shards = InlineArray { _ in ImageCacheShard(totals: totals, now: now) }
        settings = Lock(Settings(costLimit: costLimit, countLimit: countLimit))
        self.now = now
        pressureObserver.start { [weak self] in self?.respond(to: $0) }
    }

    deinit { pressureObserver.cancel() }

    /// 15 % of the memory that the machine, the cgroup and the resource limits allow this process; at most 768 MiB.
    public static var defaultCostLimit: Int { min(HostLimits.memory / 100 * 15, 768 << 20) }

    /// Bytes to keep; lowering it removes entries at once.
    public var costLimit: Int {
        get { settings.withLock { $0.costLimit } }
        set {
            settings.withLock { $0.costLimit = newValue }
            trim(toCost: newValue)
        }
    }

    /// Images to keep; lowering it removes entries at once.
    public var countLimit: Int {
        get { settings.withLock { $0.countLimit } }
        set {
            settings.withLock { $0.countLimit = newValue }
            trim(toCount: newValue)
        }
    }

    /// Seconds after which an entry counts as gone; nil, the default: never; 0: at once.
    ///
    /// Applies to later writes.
    public var ttl: Double? {
        get { settings.withLock { $0.ttl } }
        set { settings.withLock { $0.ttl = newValue } }
    }

    /// The part of the cost limit that one entry has to stay below, 0…1; 0.1 by default.
    public var entryCostLimit: Double {
        get { settings.withLock { $0.entryCostLimit } }
        set { settings.withLock { $0.entryCostLimit = newValue } }
    }

    /// Images stored.
    public var totalCount: Int { totals.count.load(ordering: .relaxed) }

    /// Bytes stored.
    public var totalCost: Int { totals.cost.load(ordering: .relaxed) }

    /// The image stored under a key; reading counts as a use, assigning nil removes.
    public subscript(key: ImageCacheKey) -> ImageContainer? {
        get { shards[shardNumber(of: key)].read(key) }
        set {
            if let newValue { store(newValue, for: key, ttl: ttl) } else { shards[shardNumber(of: key)].remove(key) }
        }
    }

    /// Removes everything.
    public func removeAll() {
        for number in shards.indices { shards[number].removeAll() }
    }

    /// Removes the least recently used images until at most `limit` bytes are left.
    public func trim(toCost limit: Int) { evict { self.totalCost > limit } }

    /// Removes the least recently used images until at most `limit` of them are left.
    public func trim(toCount limit: Int) { evict { self.totalCount > limit } }

    /// Gives memory up: `moderate` trims to a tenth of both limits, `warning` and `critical` empty, `normal` does nothing.
    ///
    /// Every cache does so when pressure is reported to `MemoryPressure`; call it where one cache alone is meant.
    public func respond(to pressure: MemoryPressure) {
        switch pressure {
        case .normal: break
        case .moderate:
            trim(toCost: costLimit / 10)
            trim(toCount: countLimit / 10)
        case .warning, .critical: removeAll()
        }
    }

    /// Stores an image with a time to live of its own, in seconds; nil: for ever.
    ///
    /// Of a video of more than `ImageVideo.keptByteCount` bytes the poster is stored, with a reference to what was loaded.
    public func store(_ container: ImageContainer, for key: ImageCacheKey, ttl: Double?) {
        let settings = settings.withLock { $0 }
        let container = container.withoutLargeVideo
        let cost = container.memoryCost
        let share = min(max(settings.entryCostLimit, 0), 1)
        let isWelcome =
            settings.countLimit > 0 && settings.entryCostLimit >= 0
            && Double(cost) < Double(settings.costLimit) * share
        guard isWelcome else {
            // What was stored before is older than the image that could not be: it must not be taken for it.
            shards[shardNumber(of: key)].remove(key)
            return
        }
        let deadline = ttl.map { now() + $0 } ?? .infinity
        shards[shardNumber(of: key)].write(container, for: key, cost: cost, deadline: deadline)
        if totalCost >= Self.watchedCost { MemoryPressure.watchKernel() }
        if totalCost > settings.costLimit || totalCount > settings.countLimit {
            evict { self.totalCost > settings.costLimit || self.totalCount > settings.countLimit }
        }
    }

    /// Removes the least recently used image while there is too much.
    ///
    /// One at a time: each is let go of outside the lock, as the deinit of a user's value may call the cache.
    private func evict(while isOver: () -> Bool) {
        var isDone = false
        while !isDone {
            let removed = eviction.withLock { _ -> ImageContainer? in
                isDone = !isOver()
                return isDone ? nil : removeOldest()
            }
            if removed == nil { isDone = true }
        }
    }

    private func removeOldest() -> ImageContainer? {
        var oldest: (number: Int, stamp: UInt64)?
        for number in shards.indices {
            guard let stamp = shards[number].oldestStamp, stamp < oldest?.stamp ?? .max else { continue }
            oldest = (number, stamp)
        }
        return oldest.flatMap { shards[$0.number].removeOldest() }
    }

    /// The tables of the shards go by the low bits of the hash; these are the high four.
    private func shardNumber(of key: ImageCacheKey) -> Int {
        Int(truncatingIfNeeded: UInt(bitPattern: key.storedHash) >> 60)
    }
}
