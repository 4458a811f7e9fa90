import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct LazyBoxTests {
    private final class Thing: Sendable {}

    @Test("the value is made once, and let go with the box")
    func lifetime() {
        weak var thing: Thing?
        do {
            let box = LazyBox<Thing>()
            let made = box.value { Thing() }
            thing = made
            #expect(box.value { Thing() } === made)
        }
        #expect(thing == nil)
        _ = LazyBox<Thing>()  // never asked
    }

    @Test("threads that ask at once all get the same, and what was made in vain is let go")
    func race() async {
        for _ in 0..<200 {
            let alive = Locked<[WeakThing]>([])
            do {
                let box = LazyBox<Thing>()
                let things = await withTaskGroup(of: Thing.self, returning: [Thing].self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            box.value {
                                let thing = Thing()
                                alive.withLock { $0.append(WeakThing(thing)) }
                                return thing
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(things.map { ObjectIdentifier($0) }).count == 1)
                // A task has told its result before what it held is gone.
                while alive.withLock({ made in made.count { $0.thing != nil } }) > 1 { await Task.yield() }
            }
            while alive.withLock({ made in made.contains { $0.thing != nil } }) { await Task.yield() }
        }
    }

    private struct WeakThing: Sendable {
        weak let thing: Thing?

        init(_ thing: Thing) { self.thing = thing }
    }
}
