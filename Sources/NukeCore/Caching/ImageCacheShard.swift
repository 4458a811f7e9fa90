internal import Synchronization

/// A part of an `ImageCache`, with a lock of its own.
///
/// What is removed is let go of outside the lock: the deinit of a user's value may call the cache.
struct ImageCacheShard: ~Copyable, Sendable {
    /// What all shards of a cache hold together.
    final class Totals: Sendable {
        let cost = Atomic<Int>(0)
        let count = Atomic<Int>(0)

        func add(cost costChange: Int, count countChange: Int) {
            cost.wrappingAdd(costChange, ordering: .relaxed)
            count.wrappingAdd(countChange, ordering: .relaxed)
        }
    }

    private let entries = BigReaderLock(ImageCacheEntries())
    private let totals: Totals
    private let now: @Sendable () -> Double

    init(totals: Totals, now: @escaping @Sendable () -> Double) {
        self.totals = totals
        self.now = now
    }

    /// When the entry that was used least recently was used.
    var oldestStamp: UInt64? { entries.write { $0.oldest()?.stamp } }

    /// The image of a key; the clock is read only where an entry has a deadline.
    func read(_ key: ImageCacheKey) -> ImageContainer? {
        let (found, hasExpired) = entries.read { entries, lane -> (ImageContainer?, Bool) in
            guard let slot = entries.slot(of: key) else { return (nil, false) }
            let deadline = entries.deadline(of: slot)
            if deadline < .infinity, now() >= deadline { return (nil, true) }
            return (entries.use(slot, lane: lane), false)
        }
        if hasExpired { removeExpired(key) }
        return found
    }

    /// Removes the entry of a key, unless a newer one took its place meanwhile.
    private func removeExpired(_ key: ImageCacheKey) {
        let removed = entries.write { entries -> ImageContainer? in
            guard let slot = entries.slot(of: key), now() >= entries.deadline(of: slot) else { return nil }
            return remove(slot, from: &entries)
        }
        withExtendedLifetime(removed) {}
    }

    func write(_ container: ImageContainer, for key: ImageCacheKey, cost: Int, deadline: Double) {
        let replaced = entries.write { entries -> ImageContainer? in
            // An older value goes as a whole: what replaces it is a new entry.
            let replaced = entries.slot(of: key).flatMap { remove($0, from: &entries) }
            entries.add(container, for: key, cost: cost, deadline: deadline)
            totals.add(cost: cost, count: 1)
            return replaced
        }
        withExtendedLifetime(replaced) {}
    }

    /// Removes the entry of a key and returns its image.
    @discardableResult
    func remove(_ key: ImageCacheKey) -> ImageContainer? {
        entries.write { entries in entries.slot(of: key).flatMap { remove($0, from: &entries) } }
    }

    /// Removes the entry that was used least recently and returns its image.
    func removeOldest() -> ImageContainer? {
        entries.write { entries in entries.oldest().flatMap { remove($0.slot, from: &entries) } }
    }

    func removeAll() {
        let removed = entries.write { entries -> ImageCacheEntries in
            totals.add(cost: -entries.cost, count: -entries.count)
            return exchange(&entries, with: ImageCacheEntries())
        }
        withExtendedLifetime(removed) {}
    }

    private func remove(_ slot: Int, from entries: inout ImageCacheEntries) -> ImageContainer? {
        let (container, cost) = entries.remove(slot)
        totals.add(cost: -cost, count: -1)
        return container
    }
}
