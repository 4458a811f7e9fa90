import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ImageCacheEntriesTests {
    private let image = ImageContainer(image: .mock(width: 1, height: 1))

    private func key(_ name: Int) -> ImageCacheKey { ImageCacheKey(key: "\(name)") }

    private func entries(_ names: [Int]) -> ImageCacheEntries {
        var entries = ImageCacheEntries()
        for name in names { entries.add(image, for: key(name), cost: name, deadline: .infinity) }
        return entries
    }

    /// Removes all, the least recently used first, and returns their costs, which are their names.
    private func drain(_ entries: consuming ImageCacheEntries) -> [Int] {
        var costs: [Int] = []
        while let oldest = entries.oldest() { costs.append(entries.remove(oldest.slot).cost) }
        return costs
    }

    @Test("first, middle, last and only entry can be removed and used; the order stays [MEM-29]", arguments: 1...3)
    func order(name: Int) {
        // A type that can't be copied can't stand in an expectation.
        let left = [1, 2, 3].filter { $0 != name }
        let used = entries([1, 2, 3])
        let image = used.slot(of: key(name)).flatMap { used.use($0, lane: name) }
        let usedOrder = drain(used)
        #expect(image != nil && usedOrder == left + [name])
        var removed = entries([1, 2, 3])
        let cost = removed.slot(of: key(name)).map { removed.remove($0).cost }
        let (count, slot) = (removed.count, removed.slot(of: key(name)))
        removed.add(self.image, for: key(4), cost: 4, deadline: .infinity)
        let removedOrder = drain(removed)
        #expect(cost == name && count == 2 && slot == nil && removedOrder == left + [4])
    }

    @Test("the only entry can be used and removed, and nothing is left [MEM-29]")
    func onlyEntry() {
        var only = entries([7])
        let (isFound, oldest) = (only.use(0, lane: 0) != nil, only.oldest()?.slot)
        let cost = only.remove(0).cost
        let (next, count, slot) = (only.oldest()?.slot, only.count, only.slot(of: key(7)))
        #expect(isFound && oldest == 0 && cost == 7 && next == nil && count == 0 && slot == nil)
    }

    @Test("any sequence, read in any lane, leaves the order and the table as a plain list would [MEM-29]")
    func anySequence() {
        var entries = ImageCacheEntries()
        var expected: [Int] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let name = Int.random(in: 0..<200, using: &random)
            let slot = entries.slot(of: key(name))
            #expect((slot != nil) == expected.contains(name))
            switch (slot, Int.random(in: 0..<8, using: &random)) {
            case (nil, _):
                entries.add(image, for: key(name), cost: name, deadline: .infinity)
                expected.append(name)
            case (let slot?, 0...1):
                let cost = entries.remove(slot).cost
                #expect(cost == name)
                expected.removeAll { $0 == name }
            case (_, 2):
                let cost = entries.oldest().map { entries.remove($0.slot).cost }
                #expect(cost == expected.first)
                expected.removeFirst()
            case (let slot?, let lane):
                _ = entries.use(slot, lane: lane % Lanes.count)
                expected.removeAll { $0 == name }
                expected.append(name)
            }
        }
        let cost = entries.cost
        let order = drain(entries)
        #expect(cost == expected.reduce(0, +) && order == expected)
    }

    @Test("the table tells apart what collides, wholly or in its low bits")
    func collisions() {
        var table = SlotTable()
        let hashes = [5, 5, 13, 5 | 1 << 40, 6, 7, -3, 5 | 1 << 31]
        for (slot, hash) in hashes.enumerated() { table.insert(slot, hash: hash) }
        func isFound(_ slot: Int) -> Bool { table.slot(for: hashes[slot]) { $0 == slot } == slot }
        for removed in [0, 3, 4, 1] {
            #expect(isFound(removed))
            table.remove(removed, hash: hashes[removed])
            #expect(!isFound(removed))
        }
        #expect(table.count == 4 && [2, 5, 6, 7].filter(isFound).count == 4)
        table.remove(0, hash: 5)
        #expect(table.count == 4 && SlotTable().slot(for: 1) { _ in true } == nil)
    }

    @Test("later uses have later stamps")
    func clock() {
        var last = UseClock.now
        for _ in 0..<10_000 {
            let now = UseClock.now
            #expect(now > last)
            last = now
        }
    }
}
