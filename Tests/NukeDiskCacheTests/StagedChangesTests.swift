import FoundationEssentials
import Testing

@testable import NukeDiskCache

@Suite("Changes that wait to be written", .timeLimit(.minutes(5)))
struct StagedChangesTests {
    private var changes = StagedChanges()
    private let a = EntryName(key: [97])
    private let b = EntryName(key: [98])

    private mutating func store(_ byte: UInt8, _ name: EntryName) {
        changes.stage(.store(Data([byte])), key: [0], name: name)
    }

    private func answer(_ name: EntryName) -> String {
        switch changes.answer(for: name) {
        case .data(let data): "\(Array(data))"
        case .absent: "absent"
        case .askDisk: "ask disk"
        }
    }

    private mutating func next(upTo last: UInt64 = .max) -> String {
        switch changes.next(upTo: last) {
        case nil: "nothing"
        case .removeAll: "remove all"
        case .apply(let name, let item):
            switch item.change {
            case .store(let data): "\(name == a ? "a" : "b") \(Array(data))"
            case .remove: "\(name == a ? "a" : "b") removed"
            }
        }
    }

    @Test("Changes are done in order, and read until they are done")
    mutating func order() {
        #expect(changes.isEmpty)
        store(1, a)
        changes.stage(.remove, key: [0], name: b)
        #expect(answer(a) == "[1]")
        #expect(answer(b) == "absent")
        #expect(next() == "a [1]")
        #expect(answer(a) == "[1]")
        changes.finish()
        #expect(answer(a) == "ask disk")
        #expect(next() == "b removed")
        changes.finish()
        #expect(next() == "nothing")
        #expect(changes.isEmpty)
        #expect(changes.byteCount == 0)
    }

    @Test("A change that waits is replaced in its place, one under way is not [DSK-22]")
    mutating func replacing() {
        store(1, a)
        store(2, b)
        store(3, a)
        #expect(next() == "a [3]")
        store(4, a)
        #expect(answer(a) == "[4]")
        changes.finish()
        #expect(answer(a) == "[4]")
        #expect(next() == "b [2]")
        changes.finish()
        #expect(next() == "a [4]")
        changes.finish()
        #expect(changes.isEmpty)
    }

    @Test("A flush waits for what was staged before it, or for what replaced that, and for nothing later")
    mutating func settling() {
        store(1, a)
        let flush = changes.latest
        store(2, a)
        store(3, b)
        #expect(!changes.isSettled(through: flush))
        #expect(!changes.isSettled(a, through: flush))
        #expect(changes.isSettled(b, through: flush))
        #expect(next() == "a [2]")
        #expect(!changes.isSettled(through: flush))
        store(4, a)
        changes.finish()
        #expect(changes.isSettled(through: flush))
        #expect(changes.isSettled(a, through: flush))
        #expect(!changes.isSettled(through: changes.latest))
    }

    @Test("Removing everything drops what waits and comes before what is staged later [DSK-17]")
    mutating func removingAll() {
        store(1, a)
        #expect(next() == "a [1]")
        store(2, b)
        changes.stageRemovalOfAll()
        let flush = changes.latest
        #expect(answer(a) == "absent")
        #expect(answer(b) == "absent")
        store(3, b)
        #expect(answer(b) == "[3]")
        changes.finish()
        #expect(next() == "remove all")
        #expect(!changes.isSettled(through: flush))
        changes.finish()
        #expect(changes.isSettled(through: flush))
        #expect(answer(a) == "ask disk")
        #expect(next() == "b [3]")
        changes.finish()
        #expect(changes.byteCount == 0)
    }

    @Test("Removing everything again while that is under way does it again [DSK-16]")
    mutating func removingAllTwice() {
        changes.stageRemovalOfAll()
        #expect(next() == "remove all")
        store(1, a)
        changes.stageRemovalOfAll()
        #expect(answer(a) == "absent")
        changes.finish()
        #expect(answer(a) == "absent")
        #expect(next() == "remove all")
        changes.finish()
        #expect(next() == "nothing")
        #expect(changes.isEmpty)
    }

    @Test("A key that is preferred goes first, after the removal of everything [DSK-19] [DSK-20]")
    mutating func preferring() {
        store(1, a)
        store(2, b)
        changes.prefer(b)
        #expect(next(upTo: 0) == "b [2]")
        changes.finish()
        #expect(next(upTo: 0) == "nothing")
        changes.stageRemovalOfAll()
        store(3, a)
        store(4, b)
        changes.prefer(b)
        #expect(next(upTo: 0) == "remove all")
        changes.finish()
        #expect(next(upTo: 0) == "b [4]")
        changes.finish()
        #expect(next(upTo: 0) == "nothing")
        #expect(answer(a) == "[3]")
    }

    @Test("Bytes are counted until they are written, and every change counts something")
    mutating func counting() {
        for number in 0..<100 { changes.stage(.remove, key: [0], name: EntryName(key: [UInt8(number)])) }
        #expect(changes.byteCount >= 100 * 200)
        changes.stageRemovalOfAll()
        #expect(changes.byteCount == 0)
        changes.stage(.store(Data(count: 5000)), key: [0], name: a)
        #expect(changes.byteCount >= 5000)
        changes.stage(.store(Data(count: 50)), key: [0], name: a)
        #expect(changes.byteCount < 1000)
        #expect(next() == "remove all")
        changes.finish()
        _ = changes.next(upTo: .max)
        #expect(changes.byteCount >= 50)
        changes.finish()
        #expect(changes.byteCount == 0)
    }

    @Test("A queue of many changes is done in the order of their coming")
    mutating func manyChanges() {
        for number in 0..<500 {
            changes.stage(.remove, key: [UInt8(number & 255)], name: EntryName(key: Array("\(number)".utf8)))
        }
        for number in stride(from: 0, to: 500, by: 3) { changes.prefer(EntryName(key: Array("\(number)".utf8))) }
        var preferred: [UInt64] = []
        var others: [UInt64] = []
        while let step = changes.next(upTo: .max) {
            if step.number % 3 == 1 { preferred.append(step.number) } else { others.append(step.number) }
            changes.finish()
        }
        #expect(preferred.count == 167)
        #expect(others.count == 333)
        #expect(others == others.sorted())
    }
}
