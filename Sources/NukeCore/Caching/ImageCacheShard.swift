internal import Synchronization

/// A part of an `ImageCache`: entries in slots, linked in the order of their last use.
final class ImageCacheShard: Sendable {
    /// What all shards of a cache hold together.
    final class Totals: Sendable {
        let cost = Atomic<Int>(0)
        let count = Atomic<Int>(0)

        func add(cost costChange: Int, count countChange: Int) {
            cost.wrappingAdd(costChange, ordering: .relaxed)
            count.wrappingAdd(countChange, ordering: .relaxed)
        }
    }

    private struct Slot {
        var key: ImageCacheKey
        var container: ImageContainer?
        var cost: Int
        /// Infinity: for ever.
        var deadline: Double
        var stamp: UInt64
        var newer = -1
        var older = -1
    }

    private struct State {
        var index: [ImageCacheKey: Int] = [:]
        var slots: [Slot] = []
        var free: [Int] = []
        var newest = -1
        var oldest = -1
    }

    private let state = Lock(State())
    private let totals: Totals

    init(totals: Totals) { self.totals = totals }

    var oldestStamp: UInt64? {
        state.withLock { $0.oldest < 0 ? nil : $0.slots[$0.oldest].stamp }
    }

    /// The image of a key; `now` is asked only where an entry has a deadline.
    func read(_ key: ImageCacheKey, stamp: UInt64, now: () -> Double) -> ImageContainer? {
        state.withLock { state -> ImageContainer? in
            guard let slot = state.index[key] else { return nil }
            let deadline = state.slots[slot].deadline
            if deadline < .infinity, now() >= deadline {
                Self.remove(slot, from: &state, totals)
                return nil
            }
            state.slots[slot].stamp = stamp
            if state.newest != slot {
                Self.unlink(slot, from: &state)
                Self.link(slot, in: &state)
            }
            return state.slots[slot].container
        }
    }

    func write(_ container: ImageContainer, for key: ImageCacheKey, cost: Int, deadline: Double, stamp: UInt64) {
        state.withLock { state in
            // An older value goes as a whole: what replaces it is a new entry.
            if let slot = state.index[key] { Self.remove(slot, from: &state, totals) }
            let entry = Slot(key: key, container: container, cost: cost, deadline: deadline, stamp: stamp)
            let slot: Int
            if let free = state.free.popLast() {
                state.slots[free] = entry
                slot = free
            } else {
                slot = state.slots.count
                state.slots.append(entry)
            }
            state.index[key] = slot
            Self.link(slot, in: &state)
            totals.add(cost: cost, count: 1)
        }
    }

    func remove(_ key: ImageCacheKey) {
        state.withLock { state in
            if let slot = state.index[key] { Self.remove(slot, from: &state, totals) }
        }
    }

    func removeOldest() {
        state.withLock { state in
            if state.oldest >= 0 { Self.remove(state.oldest, from: &state, totals) }
        }
    }

    func removeAll() {
        state.withLock { state in
            let cost = state.index.values.reduce(0) { $0 + state.slots[$1].cost }
            totals.add(cost: -cost, count: -state.index.count)
            state = State()
        }
    }

    private static func remove(_ slot: Int, from state: inout State, _ totals: Totals) {
        totals.add(cost: -state.slots[slot].cost, count: -1)
        state.index[state.slots[slot].key] = nil
        unlink(slot, from: &state)
        state.slots[slot].container = nil
        state.free.append(slot)
    }

    private static func link(_ slot: Int, in state: inout State) {
        state.slots[slot].newer = -1
        state.slots[slot].older = state.newest
        if state.newest >= 0 { state.slots[state.newest].newer = slot } else { state.oldest = slot }
        state.newest = slot
    }

    private static func unlink(_ slot: Int, from state: inout State) {
        let (newer, older) = (state.slots[slot].newer, state.slots[slot].older)
        if newer >= 0 { state.slots[newer].older = older } else { state.newest = older }
        if older >= 0 { state.slots[older].newer = newer } else { state.oldest = newer }
    }
}
