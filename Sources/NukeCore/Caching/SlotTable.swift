/// An open-addressed table that finds numbered slots by hashes that are there already.
///
/// The tags, 32 bits of each hash, lie in the table itself, so that a search rarely looks at a slot that is not the one.
struct SlotTable {
    private struct Place {
        /// −1: empty.
        var slot: Int32 = -1
        var tag: UInt32 = 0
    }

    /// Always a power of two, so that a tag's low bits say where its search begins; at most three quarters are taken.
    private var places: [Place] = []
    private(set) var count = 0

    /// The slot of this hash that `isMatch` says is the one.
    func slot(for hash: Int, where isMatch: (Int) -> Bool) -> Int? {
        if places.isEmpty { return nil }
        let tag = UInt32(truncatingIfNeeded: hash)
        let mask = places.count - 1
        var index = Int(tag) & mask
        while true {
            let place = places[index]
            if place.slot < 0 { return nil }
            if place.tag == tag, isMatch(Int(place.slot)) { return Int(place.slot) }
            index = (index + 1) & mask
        }
    }

    /// Adds a slot, which must not be there yet.
    mutating func insert(_ slot: Int, hash: Int) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        place(Place(slot: Int32(slot), tag: UInt32(truncatingIfNeeded: hash)))
        count += 1
    }

    /// Removes a slot; those that follow move up, so that no search ends too early.
    mutating func remove(_ slot: Int, hash: Int) {
        if places.isEmpty { return }
        let mask = places.count - 1
        var index = Int(UInt32(truncatingIfNeeded: hash)) & mask
        while places[index].slot != slot {
            if places[index].slot < 0 { return }
            index = (index + 1) & mask
        }
        var gap = index
        while true {
            index = (index + 1) & mask
            let place = places[index]
            if place.slot < 0 { break }
            // A place may move into the gap unless its own search begins after it.
            let distance = (index - Int(place.tag)) & mask
            if distance >= (index - gap) & mask {
                places[gap] = place
                gap = index
            }
        }
        places[gap] = Place()
        count -= 1
    }

    private mutating func grow() {
        let old = places
        places = [Place](repeating: Place(), count: max(8, old.count * 2))
        for place in old where place.slot >= 0 { self.place(place) }
    }

    private mutating func place(_ place: Place) {
        let mask = places.count - 1
        var index = Int(place.tag) & mask
        while places[index].slot >= 0 { index = (index + 1) & mask }
        places[index] = place
    }
}
