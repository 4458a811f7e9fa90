import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
@ImagePipelineActor
struct TaskNodeTests {
    typealias Node = TaskNode<Int>

    /// Writes events of a node down as text.
    @ImagePipelineActor
    final class Log {
        var lines: [String] = []

        func observer(_ name: String) -> Node.Observer {
            { [self] event in
                switch event {
                case .value(let value, let isCompleted): lines.append("\(name) \(value)\(isCompleted ? "!" : "")")
                case .progress(let progress): lines.append("\(name) \(progress.completed)/\(progress.total)")
                case .error: lines.append("\(name) error")
                }
            }
        }
    }

    final class Token {}

    let log = Log()

    @Test("nothing starts before the first subscription; the start hook runs once and is released [ATK-01]")
    func startHook() {
        var starts = 0
        weak var token: Token?
        let node: Node
        do {
            let strong = Token()
            token = strong
            node = Node { _ in
                _ = strong
                starts += 1
            }
        }
        #expect(starts == 0 && token != nil)
        let subscriptions = [node.subscribe(log.observer("a")), node.subscribe(log.observer("b"))]
        #expect(starts == 1 && token == nil && subscriptions.allSatisfy { $0 != nil })
    }

    @Test("all subscribers get the same events, in the order of subscription [ATK-02]")
    func order() {
        let node = Node()
        let subscriptions = ["a", "b", "c"].map { node.subscribe(log.observer($0)) }
        node.send(progress: .init(completed: 1, total: 2))
        node.send(value: 7)
        node.send(value: 8, isCompleted: true)
        #expect(log.lines == ["a 1/2", "b 1/2", "c 1/2", "a 7", "b 7", "c 7", "a 8!", "b 8!", "c 8!"])
        _ = subscriptions
    }

    @Test("an ended node takes no subscribers [ATK-03]", arguments: ["finished", "failed", "cancelled"])
    func ended(how: String) {
        let node = Node()
        let subscription = node.subscribe { _ in }
        switch how {
        case "finished": node.send(value: 1, isCompleted: true)
        case "failed": node.send(error: .dataIsEmpty)
        default: subscription?.unsubscribe()
        }
        #expect(node.subscribe(log.observer("late")) == nil)
        #expect(log.lines == [])
    }

    @Test("a node that ends while it starts: the event comes, the subscription is nil [ATK-04]")
    func synchronousEnd() {
        let node = Node { $0.send(value: 1, isCompleted: true) }
        #expect(node.subscribe(log.observer("a")) == nil)
        #expect(log.lines == ["a 1!"])
    }

    @Test("a node goes on without one of two; without the last, everything under it stops, in order [ATK-05]")
    func lastUnsubscribes() async {
        let queue = TaskQueue()
        queue.isSuspended = true
        let dependency = TaskNode<String>()
        dependency.onCancelled = { log.lines.append("dependency cancelled") }
        let node = Node()
        let a = node.subscribe(log.observer("a"))
        let b = node.subscribe(log.observer("b"))
        node.dependency = dependency.subscribe(node) { _, _ in }
        let operation = queue.add {}
        node.operation = operation
        queue.onEvent = { log.lines.append("operation \($0)") }
        node.onCancelled = { log.lines.append("cancelled") }
        node.onDisposed = { log.lines.append("disposed") }
        a?.unsubscribe()
        #expect(!node.isDisposed && log.lines == [])
        b?.unsubscribe()
        #expect(node.isDisposed && operation.isCancelled && dependency.isDisposed)
        #expect(log.lines == ["operation cancelled", "dependency cancelled", "cancelled", "disposed"])
    }

    @Test("after unsubscribing no event comes [ATK-06]")
    func unsubscribed() {
        let node = Node()
        let a = node.subscribe(log.observer("a"))
        let b = node.subscribe(log.observer("b"))
        a?.unsubscribe()
        a?.unsubscribe()
        node.send(value: 1)
        #expect(log.lines == ["b 1"])
        _ = b
    }

    @Test("leaving a node leaves what it depends on, unless somebody else is there [ATK-07]")
    func cascade() {
        let shared = Node()
        let nodes = (0..<2).map { _ in Node { node in node.dependency = shared.subscribe(node) { _, _ in } } }
        let subscriptions = nodes.map { $0.subscribe { _ in } }
        subscriptions[0]?.unsubscribe()
        #expect(nodes[0].isDisposed && !shared.isDisposed)
        subscriptions[1]?.unsubscribe()
        #expect(shared.isDisposed)
    }

    @Test("a node's priority is the highest of its subscribers', and goes down again [ATK-08]")
    func priority() {
        let node = Node()
        let a = node.subscribe(priority: .low) { _ in }
        #expect(node.priority == .low)
        let b = node.subscribe(priority: .high) { _ in }
        #expect(node.priority == .high)
        a?.setPriority(.veryHigh)
        #expect(node.priority == .veryHigh)
        a?.setPriority(.veryLow)
        #expect(node.priority == .high)
        b?.unsubscribe()
        #expect(node.priority == .veryLow)
    }

    @Test("the priority reaches operation and dependency, those attached later too [ATK-09]")
    func priorityPropagation() {
        let queue = TaskQueue()
        queue.isSuspended = true
        let dependency = Node()
        let node = Node()
        let subscription = node.subscribe(priority: .high) { _ in }
        node.operation = queue.add {}
        node.dependency = dependency.subscribe(node) { _, _ in }
        #expect(node.operation?.priority == .high && dependency.priority == .high)
        subscription?.setPriority(.low)
        #expect(node.operation?.priority == .low && dependency.priority == .low)
        let later = queue.add {}
        node.operation = later
        #expect(later.priority == .low)
    }

    @Test("progress and errors of a dependency are passed on; values go to the handler [ATK-10]")
    func forwarding() {
        let dependency = TaskNode<String>()
        let node = Node { node in
            node.dependency = dependency.subscribe(node) { value, isCompleted in
                node.send(value: value.count, isCompleted: isCompleted)
            }
        }
        let subscription = node.subscribe(log.observer("a"))
        dependency.send(progress: .init(completed: 1, total: 3))
        dependency.send(value: "four")
        dependency.send(error: .dataIsEmpty)
        #expect(log.lines == ["a 1/3", "a 4", "a error"])
        _ = subscription
    }

    @Test("an error of the dependency cancels the node's own operation first [ATK-11]")
    func dependencyError() {
        let queue = TaskQueue()
        queue.isSuspended = true
        let dependency = Node()
        let node = Node { node in node.dependency = dependency.subscribe(node) { _, _ in } }
        let operation = queue.add {}
        let subscription = node.subscribe { event in
            if case .error = event { log.lines.append("error, cancelled: \(operation.isCancelled)") }
        }
        node.operation = operation
        dependency.send(error: .dataIsEmpty)
        #expect(log.lines == ["error, cancelled: true"] && operation.isCancelled)
        _ = subscription
    }

    @Test("what a node reports itself does not cancel its operation [ATK-12]", arguments: ["error", "final", "value"])
    func ownReport(kind: String) {
        let queue = TaskQueue()
        queue.isSuspended = true
        let node = Node()
        let subscription = node.subscribe { _ in }
        let operation = queue.add {}
        node.operation = operation
        switch kind {
        case "error": node.send(error: .dataIsEmpty)
        case "final": node.send(value: 1, isCompleted: true)
        default: node.send(value: 1)
        }
        #expect(!operation.isCancelled)
        _ = subscription
    }

    @Test("values that are not final leave the node; the end disposes it once [ATK-13]")
    func disposal() {
        let node = Node()
        var disposals = 0
        node.onDisposed = { disposals += 1 }
        let subscription = node.subscribe { _ in }
        node.send(value: 1)
        #expect(!node.isDisposed && disposals == 0)
        node.send(value: 2, isCompleted: true)
        node.send(error: .dataIsEmpty)
        subscription?.unsubscribe()
        #expect(node.isDisposed && disposals == 1)
    }

    @Test("events after the end are ignored [ATK-14]")
    func lateEvents() {
        let node = Node()
        let subscription = node.subscribe(log.observer("a"))
        node.send(value: 1, isCompleted: true)
        node.send(value: 2)
        node.send(progress: .init(completed: 1, total: 1))
        node.send(error: .dataIsEmpty)
        #expect(log.lines == ["a 1!"])
        _ = subscription
    }

    @Test("a subscriber that asks the pool again while it hears of the end gets a fresh node")
    func poolDuringEnd() {
        let pool = TaskPool<Int, Int>(isCoalescingEnabled: true)
        let first = pool.node(for: 1) { Node() }
        var second: Node?
        let subscription = first.subscribe { _ in second = pool.node(for: 1) { Node() } }
        first.send(value: 1, isCompleted: true)
        #expect(second != nil && second !== first && second?.isDisposed == false)
        #expect(pool.count == 1 && pool.node(for: 1) { Node() } === second)
        _ = subscription
    }
}
