/// When each of numbered slots was used last, told by every lane of a `BigReaderLock` in memory of its own.
@safe
struct UseStamps: ~Copyable {
    private var stamps: UnsafeMutablePointer<UInt64>?
    /// Slots that there is room for.
    private(set) var capacity = 0

    init() { unsafe stamps = nil }

    // SAFETY, here and below: `stamps` is memory for `capacity` initialised numbers of each lane, and has no other owner.
    deinit { unsafe stamps?.deallocate() }

    /// Says that a slot is being used; to be called by the holder of the lane.
    func use(_ slot: Int, lane: Int) {
        precondition(slot >= 0 && slot < capacity && lane >= 0 && lane < Lanes.count)
        unsafe stamps?[lane * capacity + slot] = UseClock.now
    }

    /// When a slot was used last by any lane; to be called by the holder of all.
    func latest(_ slot: Int) -> UInt64 {
        precondition(slot >= 0 && slot < capacity)
        return (0..<Lanes.count).reduce(0) { max($0, unsafe stamps?[$1 * capacity + slot] ?? 0) }
    }

    /// Makes room for twice as many slots, whose stamps are 0.
    mutating func grow() {
        let larger = max(16, capacity * 2)
        // At least 128 bytes a lane, on a boundary of as many: what one lane writes is in no cache line that another reads.
        let copy = unsafe UnsafeMutableRawPointer.allocate(byteCount: larger * Lanes.count * 8, alignment: 128)
            .initializeMemory(as: UInt64.self, repeating: 0, count: larger * Lanes.count)
        if let stamps = unsafe stamps {
            for lane in 0..<Lanes.count {
                unsafe (copy + lane * larger).update(from: stamps + lane * capacity, count: capacity)
            }
            unsafe stamps.deallocate()
        }
        unsafe stamps = copy
        capacity = larger
    }
}

// SAFETY: written by the holder of a lane, in what is that lane's, or by the holder of all.
extension UseStamps: @unchecked Sendable {}
