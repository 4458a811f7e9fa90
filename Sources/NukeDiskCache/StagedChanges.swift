#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The changes that are not on disk yet, in the order in which they have to get there; a value without input and output.
///
/// Every change has a number. A change of a key that waits replaces the one that waits and takes over its number, so that a
/// key is written once; a change of a key that is being written waits for its own turn. Removing everything drops what
/// waits, and comes before all that is staged later.
struct StagedChanges {
    enum Change {
        case store(Data), remove
    }

    struct Item {
        let number: UInt64
        let key: [UInt8]
        var change: Change

        /// Bytes held, with something for the item itself, so that removals and empty data are bounded too.
        var cost: Int {
            switch change {
            case .store(let data): 256 + key.count + data.count
            case .remove: 256 + key.count
            }
        }
    }

    /// What has to be done next on disk.
    enum Step {
        case removeAll(number: UInt64)
        case apply(EntryName, Item)

        var number: UInt64 {
            switch self {
            case .removeAll(let number): number
            case .apply(_, let item): item.number
            }
        }
    }

    /// What the changes say of a key.
    enum Answer {
        case data(Data), absent, askDisk
    }

    /// Bytes that the changes hold in memory, the one under way included.
    private(set) var byteCount = 0
    /// The number of the latest change.
    private(set) var latest: UInt64 = 0

    private var items: [EntryName: Item] = [:]
    private var order = NumberedNames()
    private var preferred: [EntryName] = []
    private var removal: UInt64?
    private var current: Step?

    /// Whether nothing waits and nothing is under way.
    var isEmpty: Bool { items.isEmpty && removal == nil && current == nil }

    /// What a read has to return.
    func answer(for name: EntryName) -> Answer {
        if isEmpty { return .askDisk }
        if let item = items[name] { return Self.answer(of: item.change) }
        if removal != nil { return .absent }
        if case .apply(let other, let item) = current, other == name { return Self.answer(of: item.change) }
        return .askDisk
    }

    private static func answer(of change: Change) -> Answer {
        switch change {
        case .store(let data): .data(data)
        case .remove: .absent
        }
    }

    /// Adds a change of one key.
    mutating func stage(_ change: Change, key: [UInt8], name: EntryName) {
        if var item = items[name] {
            byteCount -= item.cost
            item.change = change
            byteCount += item.cost
            items[name] = item
            return
        }
        latest += 1
        let item = Item(number: latest, key: key, change: change)
        byteCount += item.cost
        items[name] = item
        order.append(latest, name)
    }

    /// Adds the removal of everything.
    mutating func stageRemovalOfAll() {
        latest += 1
        removal = latest
        byteCount -= items.values.reduce(0) { $0 + $1.cost }
        items = [:]
        order = NumberedNames()
        preferred = []
    }

    /// Lets a key's change go before the others.
    mutating func prefer(_ name: EntryName) {
        if items[name] != nil || removal != nil { preferred.append(name) }
    }

    /// Takes what has to be done next, of the changes up to a number and those preferred; nil if nothing.
    mutating func next(upTo last: UInt64) -> Step? {
        precondition(current == nil, "one step at a time")
        if let removal, removal <= last || !preferred.isEmpty {
            current = .removeAll(number: removal)
        } else if let name = nextName(upTo: last), let item = items.removeValue(forKey: name) {
            current = .apply(name, item)
            dropStaleNames()
        }
        return current
    }

    /// Says that what `next` returned is done.
    mutating func finish() {
        switch current {
        case .removeAll(let number): if removal == number { removal = nil }
        case .apply(_, let item): byteCount -= item.cost
        case nil: break
        }
        current = nil
    }

    private mutating func nextName(upTo last: UInt64) -> EntryName? {
        while let name = preferred.popLast() {
            if items[name] != nil { return name }
        }
        guard let first = order.first, first.number <= last else { return nil }
        return first.name
    }

    /// Whether every change up to a number is done, or was replaced by one that is.
    func isSettled(through number: UInt64) -> Bool {
        if let removal, removal <= number { return false }
        if let current, current.number <= number { return false }
        return order.first.map { $0.number > number } ?? true
    }

    /// Whether every change of a key up to a number is done.
    func isSettled(_ name: EntryName, through number: UInt64) -> Bool {
        if let removal, removal <= number { return false }
        if case .apply(let other, let item) = current, other == name, item.number <= number { return false }
        return items[name].map { $0.number > number } ?? true
    }

    /// Takes the names off the front whose change was taken, in its turn or before.
    private mutating func dropStaleNames() {
        while let first = order.first, items[first.name]?.number != first.number { order.removeFirst() }
    }
}

/// A queue of names by rising number.
private struct NumberedNames {
    private var elements: [(number: UInt64, name: EntryName)] = []
    private var start = 0

    var first: (number: UInt64, name: EntryName)? { start < elements.count ? elements[start] : nil }

    mutating func append(_ number: UInt64, _ name: EntryName) { elements.append((number, name)) }

    mutating func removeFirst() {
        start += 1
        guard start >= 64, start * 2 >= elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}
