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

    /// The costs, which are the names, from the least to the most recently used.
    private func order(_ entries: ImageCacheEntries) -> [Int] {
        var entries = entries
        var costs: [Int] = []
        while let oldest = entries.oldest { costs.append(entries.remove(oldest).cost) }
        return costs
    }

    @Test("first, middle, last and only entry can be removed and used; the order stays [MEM-29]")
    func links() throws {
        for (name, left) in [(1, [2, 3]), (2, [1, 3]), (3, [1, 2])] {
            var entries = entries([1, 2, 3])
            #expect(order(entries) == [1, 2, 3])
            let slot = try #require(entries.slot(of: key(name)))
            #expect(entries.use(slot) != nil && order(entries) == left + [name])
            #expect(entries.remove(slot).cost == name && order(entries) == left && entries.count == 2)
            entries.add(image, for: key(4), cost: 4, deadline: .infinity)
            #expect(order(entries) == left + [4])
        }
        var only = entries([7])
        let slot = try #require(only.oldest)
        #expect(only.use(slot) != nil && order(only) == [7])
        _ = only.remove(slot)
        #expect(only.oldest == nil && only.oldestStamp == nil && only.count == 0 && only.slot(of: key(7)) == nil)
    }

    @Test("any sequence leaves the order and the table as a plain list would [MEM-29]")
    func anySequence() {
        var entries = ImageCacheEntries()
        var expected: [Int] = []
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let name = Int.random(in: 0..<200, using: &random)
            let slot = entries.slot(of: key(name))
            #expect((slot != nil) == expected.contains(name))
            switch (slot, Int.random(in: 0..<3, using: &random)) {
            case (nil, _):
                entries.add(image, for: key(name), cost: name, deadline: .infinity)
                expected.append(name)
            case (let slot?, 0):
                #expect(entries.remove(slot).cost == name)
                expected.removeAll { $0 == name }
            case (let slot?, _):
                _ = entries.use(slot)
                expected.removeAll { $0 == name }
                expected.append(name)
            }
        }
        #expect(order(entries) == expected && entries.cost == expected.reduce(0, +))
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
