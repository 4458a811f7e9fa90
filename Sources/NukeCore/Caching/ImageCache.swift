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

    private static let shardCount = 16

    private let shards: [ImageCacheShard]
    private let settings: Lock<Settings>
    private let eviction = Lock(())
    private let totals = ImageCacheShard.Totals()
    private let lastStamp = Atomic<UInt64>(0)
    private let now: @Sendable () -> Double

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - costLimit: Bytes of pixels and attached data to keep; `defaultCostLimit` by default.
    ///   - countLimit: Images to keep; no limit by default.
    public convenience init(costLimit: Int = ImageCache.defaultCostLimit, countLimit: Int = .max) {
        self.init(costLimit: costLimit, countLimit: countLimit, now: { MonotonicClock.now })
    }

    /// Creates a cache whose time is told by `now`, in seconds.
    init(costLimit: Int, countLimit: Int, now: @escaping @Sendable () -> Double) {
        let totals = totals
        shards = (0..<Self.shardCount).map { _ in ImageCacheShard(totals: totals) }
        settings = Lock(Settings(costLimit: costLimit, countLimit: countLimit))
        self.now = now
    }

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
        get { shard(of: key).read(key, stamp: nextStamp(), now: now) }
        set {
            guard let newValue else {
                shard(of: key).remove(key)
                return
            }
            store(newValue, for: key)
        }
    }

    /// Removes everything.
    public func removeAll() {
        for shard in shards { shard.removeAll() }
    }

    /// Removes the least recently used images until at most `limit` bytes are left.
    public func trim(toCost limit: Int) { evict { self.totalCost > limit } }

    /// Removes the least recently used images until at most `limit` of them are left.
    public func trim(toCount limit: Int) { evict { self.totalCount > limit } }

    private func store(_ container: ImageContainer, for key: ImageCacheKey) {
        let settings = settings.withLock { $0 }
        let cost = Self.cost(of: container)
        let share = min(max(settings.entryCostLimit, 0), 1)
        let isWelcome =
            settings.countLimit > 0 && settings.entryCostLimit >= 0
            && Double(cost) < Double(settings.costLimit) * share
        guard isWelcome else {
            // What was stored before is older than the image that could not be: it must not be taken for it.
            shard(of: key).remove(key)
            return
        }
        let deadline = settings.ttl.map { now() + $0 } ?? .infinity
        shard(of: key).write(container, for: key, cost: cost, deadline: deadline, stamp: nextStamp())
        if totalCost > settings.costLimit || totalCount > settings.countLimit {
            evict { self.totalCost > settings.costLimit || self.totalCount > settings.countLimit }
        }
    }

    /// Bytes of pixels and of attached data.
    static func cost(of container: ImageContainer) -> Int {
        container.image.byteCount + (container.data?.count ?? 0)
    }

    private func evict(while isOver: () -> Bool) {
        eviction.withLock { _ in
            while isOver() {
                let oldest = shards.compactMap { shard in shard.oldestStamp.map { (shard, $0) } }.min { $0.1 < $1.1 }
                guard let oldest else { return }
                oldest.0.removeOldest()
            }
        }
    }

    private func shard(of key: ImageCacheKey) -> ImageCacheShard {
        // The dictionary inside uses the low bits of a hash of this one; these are the high four.
        shards[Int(truncatingIfNeeded: UInt(bitPattern: key.storedHash) >> 60)]
    }

    private func nextStamp() -> UInt64 { lastStamp.wrappingAdd(1, ordering: .relaxed).newValue }
}
