/// A part of an `ImageCache`: entries in slots, linked in the order of their last use.
final class ImageCacheShard: Sendable {
    /// Called with changes of cost and count.
    typealias Account = (_ cost: Int, _ count: Int) -> Void

    fileprivate struct Slot {
        var key: ImageCacheKey
        var container: ImageContainer?
        var cost: Int
        var deadline: Double?
        var stamp: UInt64
        var newer: Int
        var older: Int
    }

    fileprivate struct State {
        var index: [ImageCacheKey: Int] = [:]
        var slots: [Slot] = []
        var free: [Int] = []
        var newest = -1
        var oldest = -1
    }

    private let state = Lock(State())

    var oldestStamp: UInt64? {
        state.withLock { $0.oldest < 0 ? nil : $0.slots[$0.oldest].stamp }
    }

    func read(_ key: ImageCacheKey, stamp: UInt64, now: () -> Double, account: Account) -> ImageContainer? {
        state.withLock { state -> ImageContainer? in
            guard let slot = state.index[key] else { return nil }
            if let deadline = state.slots[slot].deadline, now() >= deadline {
                state.remove(slot, account)
                return nil
            }
            state.slots[slot].stamp = stamp
            state.moveToFront(slot)
            return state.slots[slot].container
        }
    }

    func write(
        _ container: ImageContainer, for key: ImageCacheKey, cost: Int, deadline: Double?, stamp: UInt64,
        account: Account
    ) {
        state.withLock { state in
            if let slot = state.index[key] {
                account(cost - state.slots[slot].cost, 0)
                state.slots[slot].container = container
                state.slots[slot].cost = cost
                state.slots[slot].deadline = deadline
                state.slots[slot].stamp = stamp
                state.moveToFront(slot)
                return
            }
            let entry = Slot(
                key: key, container: container, cost: cost, deadline: deadline, stamp: stamp, newer: -1, older: -1)
            let slot: Int
            if let free = state.free.popLast() {
                state.slots[free] = entry
                slot = free
            } else {
                slot = state.slots.count
                state.slots.append(entry)
            }
            state.index[key] = slot
            state.link(slot)
            account(cost, 1)
        }
    }

    func remove(_ key: ImageCacheKey, account: Account) {
        state.withLock { state in
            if let slot = state.index[key] { state.remove(slot, account) }
        }
    }

    func removeOldest(account: Account) {
        state.withLock { state in
            if state.oldest >= 0 { state.remove(state.oldest, account) }
        }
    }

    func removeAll(account: Account) {
        state.withLock { state in
            account(-state.index.values.reduce(0) { $0 + state.slots[$1].cost }, -state.index.count)
            state = State()
        }
    }
}

extension ImageCacheShard.State {
    fileprivate mutating func remove(_ slot: Int, _ account: ImageCacheShard.Account) {
        account(-slots[slot].cost, -1)
        index[slots[slot].key] = nil
        unlink(slot)
        slots[slot].container = nil
        free.append(slot)
    }

    fileprivate mutating func moveToFront(_ slot: Int) {
        if newest == slot { return }
        unlink(slot)
        link(slot)
    }

    fileprivate mutating func link(_ slot: Int) {
        slots[slot].newer = -1
        slots[slot].older = newest
        if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    fileprivate mutating func unlink(_ slot: Int) {
        let (newer, older) = (slots[slot].newer, slots[slot].older)
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }
}
