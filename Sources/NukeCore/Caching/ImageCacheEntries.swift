/// The entries of a shard: in numbered slots, found by a table, linked in the order of their last use.
struct ImageCacheEntries: Sendable {
    private struct Slot {
        /// Nil: free.
        var key: ImageCacheKey?
        var container: ImageContainer?
        var cost = 0
        /// Infinity: for ever.
        var deadline = Double.infinity
        var stamp: UInt64 = 0
        var newer = -1
        /// In a free slot: the next free one.
        var older = -1
    }

    private var table = SlotTable()
    private var slots: [Slot] = []
    private var order = Order()
    private var free = -1

    /// How many there are.
    var count: Int { table.count }

    /// What they cost together.
    var cost: Int { slots.reduce(0) { $0 + $1.cost } }

    /// The slot that was used least recently.
    var oldest: Int? { order.oldest < 0 ? nil : order.oldest }

    /// When that was.
    var oldestStamp: UInt64? { oldest.map { slots[$0].stamp } }

    /// The slot of a key.
    func slot(of key: ImageCacheKey) -> Int? {
        table.slot(for: key.storedHash) { slots[$0].key == key }
    }

    /// When an entry expires.
    func deadline(of slot: Int) -> Double { slots[slot].deadline }

    /// The image in a slot, which becomes the newest.
    mutating func use(_ slot: Int) -> ImageContainer? {
        reorder { order, slots in
            slots[slot].stamp = UseClock.now
            if order.newest != slot {
                order.remove(slot, from: &slots)
                order.append(slot, to: &slots)
            }
            return slots[slot].container
        }
    }

    /// Adds an entry under a key that has none.
    mutating func add(_ container: ImageContainer, for key: ImageCacheKey, cost: Int, deadline: Double) {
        let entry = Slot(key: key, container: container, cost: cost, deadline: deadline, stamp: UseClock.now)
        let slot = free < 0 ? slots.count : free
        if free < 0 {
            slots.append(entry)
        } else {
            free = slots[slot].older
            slots[slot] = entry
        }
        table.insert(slot, hash: key.storedHash)
        reorder { $0.append(slot, to: &$1) }
    }

    /// Removes the entry in a slot, which must have one.
    mutating func remove(_ slot: Int) -> (container: ImageContainer?, cost: Int) {
        let entry = slots[slot]
        if let key = entry.key { table.remove(slot, hash: key.storedHash) }
        reorder { $0.remove(slot, from: &$1) }
        slots[slot] = Slot(older: free)
        free = slot
        return (entry.container, entry.cost)
    }

    /// Changes the order, with one check for all accesses to the slots.
    private mutating func reorder<Result>(_ change: (inout Order, inout MutableSpan<Slot>) -> Result) -> Result {
        var order = order  // a copy, as the span borrows all of self
        var span = slots.mutableSpan
        let result = change(&order, &span)
        self.order = order
        return result
    }

    /// The ends of a list whose links are in the slots; −1: empty.
    private struct Order {
        var newest = -1
        var oldest = -1

        mutating func append(_ slot: Int, to slots: inout MutableSpan<Slot>) {
            slots[slot].newer = -1
            slots[slot].older = newest
            if newest >= 0 { slots[newest].newer = slot } else { oldest = slot }
            newest = slot
        }

        mutating func remove(_ slot: Int, from slots: inout MutableSpan<Slot>) {
            let (newer, older) = (slots[slot].newer, slots[slot].older)
            if newer >= 0 { slots[newer].older = older } else { newest = older }
            if older >= 0 { slots[older].newer = newer } else { oldest = newer }
        }
    }
}
