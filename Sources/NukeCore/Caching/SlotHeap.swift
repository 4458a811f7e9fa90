/// A binary heap of numbered slots, the one with the earliest stamp first.
struct SlotHeap: Sendable {
    private struct Node {
        var stamp: UInt64
        var slot: Int
    }

    private var nodes: [Node] = []
    /// Where a slot's node is.
    private var places: [Int] = []

    /// The slot whose stamp is the earliest.
    var first: (slot: Int, stamp: UInt64)? { nodes.first.map { ($0.slot, $0.stamp) } }

    /// Adds a slot, which must not be there yet.
    mutating func insert(_ slot: Int, stamp: UInt64) {
        while places.count <= slot { places.append(-1) }
        nodes.append(Node(stamp: stamp, slot: slot))
        moveUp(from: nodes.count - 1)
    }

    /// Removes a slot, which must be there.
    mutating func remove(_ slot: Int) {
        let place = places[slot]
        let last = nodes.removeLast()
        if last.slot == slot { return }
        nodes[place] = last
        moveDown(from: place)
        moveUp(from: places[last.slot])
    }

    /// Gives the first slot a later stamp.
    mutating func delayFirst(until stamp: UInt64) {
        nodes[0].stamp = stamp
        moveDown(from: 0)
    }

    private mutating func moveUp(from start: Int) {
        let node = nodes[start]
        var place = start
        while place > 0, case let parent = (place - 1) / 2, node.stamp < nodes[parent].stamp {
            put(nodes[parent], at: place)
            place = parent
        }
        put(node, at: place)
    }

    private mutating func moveDown(from start: Int) {
        let node = nodes[start]
        var place = start
        while true {
            var child = place * 2 + 1
            if child + 1 < nodes.count, nodes[child + 1].stamp < nodes[child].stamp { child += 1 }
            guard child < nodes.count, nodes[child].stamp < node.stamp else { break }
            put(nodes[child], at: place)
            place = child
        }
        put(node, at: place)
    }

    private mutating func put(_ node: Node, at place: Int) {
        nodes[place] = node
        places[node.slot] = place
    }
}
