/// The entries of a shard: in numbered slots, found by a table, and in a heap by their last use.
///
/// A use writes one stamp of its lane and moves nothing: what one processor writes the others have to fetch. The heap goes by
/// stamps that it saw earlier, which are never later than the true ones; so the first of it whose stamp still is the true one
/// was used least recently of all.
struct ImageCacheEntries: ~Copyable, Sendable {
    private struct Slot {
        /// Nil: free.
        var key: ImageCacheKey?
        var container: ImageContainer?
        var cost = 0
        /// Infinity: for ever.
        var deadline = Double.infinity
        /// In a free slot: the next free one.
        var nextFree = -1
    }

    private var table = SlotTable()
    private var slots: [Slot] = []
    private var stamps = UseStamps()
    private var heap = SlotHeap()
    private var free = -1

    /// How many there are.
    var count: Int { table.count }

    /// What they cost together.
    var cost: Int { slots.reduce(0) { $0 + $1.cost } }

    /// The slot of a key.
    func slot(of key: ImageCacheKey) -> Int? {
        table.slot(for: key.storedHash) { slots[$0].key == key }
    }

    /// When an entry expires.
    func deadline(of slot: Int) -> Double { slots[slot].deadline }

    /// The image in a slot, which becomes the newest; to be called by the holder of the lane.
    func use(_ slot: Int, lane: Int) -> ImageContainer? {
        stamps.use(slot, lane: lane)
        return slots[slot].container
    }

    /// The slot that was used least recently, and when.
    mutating func oldest() -> (slot: Int, stamp: UInt64)? {
        while let first = heap.first {
            let stamp = stamps.latest(first.slot)
            if stamp == first.stamp { return first }
            heap.delayFirst(until: stamp)
        }
        return nil
    }

    /// Adds an entry under a key that has none.
    mutating func add(_ container: ImageContainer, for key: ImageCacheKey, cost: Int, deadline: Double) {
        let entry = Slot(key: key, container: container, cost: cost, deadline: deadline)
        let slot = free < 0 ? slots.count : free
        if free < 0 {
            slots.append(entry)
            if slot == stamps.capacity { stamps.grow() }
        } else {
            free = slots[slot].nextFree
            slots[slot] = entry
        }
        stamps.use(slot, lane: 0)
        table.insert(slot, hash: key.storedHash)
        heap.insert(slot, stamp: stamps.latest(slot))
    }

    /// Removes the entry in a slot, which must have one.
    mutating func remove(_ slot: Int) -> (container: ImageContainer?, cost: Int) {
        let entry = slots[slot]
        if let key = entry.key { table.remove(slot, hash: key.storedHash) }
        heap.remove(slot)
        slots[slot] = Slot(nextFree: free)
        free = slot
        return (entry.container, entry.cost)
    }
}
