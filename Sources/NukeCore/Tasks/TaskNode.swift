/// A piece of work that several subscribers share: it starts with the first, and ends when the last one leaves.
///
/// A node reports values, progress and one end to its subscribers, in the order in which they came. It may depend on
/// another node, whose progress and errors it passes on, and on an operation in a queue; both follow its priority.
///
/// A node under way and its subscribers keep each other, as do a node and its work: its end lets all of them go. Weak
/// references would cost every object a table of its own, and its reference counts their speed.
@ImagePipelineActor
class TaskNode<Value: Sendable>: TaskSubscriber {
    enum Event: Sendable {
        case value(Value, isCompleted: Bool)
        case progress(ImageTask.Progress)
        case error(ImagePipeline.Error)
    }

    typealias Observer = @ImagePipelineActor (Event) -> Void

    private struct Subscription {
        let key: Int
        let observer: Observer
        let subscriber: (any TaskSubscriber)?
        var priority: ImageRequest.Priority
    }

    /// In the order in which they came, which is that of their keys.
    private var subscriptions: [Subscription] = []
    private var lastKey = 0
    private var priorityCounts = InlineArray<5, Int>(repeating: 0)
    private var onStart: ((TaskNode) -> Void)?
    private var isStarted = false

    /// Whether the node has ended: with a final value, an error, or without subscribers.
    private(set) var isDisposed = false

    /// The highest priority among the subscribers.
    private(set) var priority = ImageRequest.Priority.normal {
        didSet {
            guard oldValue != priority else { return }
            operation?.priority = priority
            dependency?.setPriority(priority)
            priorityDidChange()
        }
    }

    /// Work of this node in a queue; cancelled when the last subscriber leaves.
    var operation: (any NodeWork)? {
        didSet {
            operation?.priority = priority
            operation?.owner = isDisposed ? nil : self
        }
    }

    /// What this node has done, and those that it has a final value or an error from.
    private(set) var log = WorkLog()
    private var isDependencyOver = false

    /// The memory that this load is counted with, from decoding on.
    ///
    /// Passed on with the values to the nodes that depend on this one; given back when the last of them has ended.
    var reservation: MemoryBudget.Reservation?

    /// The node that this one waits for; left when the last subscriber leaves.
    var dependency: TaskSubscription? {
        didSet { dependency?.setPriority(priority) }
    }

    /// Called when the last subscriber leaves before the end.
    var onCancelled: (() -> Void)?

    /// Called once, however the node ends.
    var onDisposed: (() -> Void)?

    /// Creates a node; `onStart` is called with the first subscription, and then released.
    init(onStart: ((TaskNode) -> Void)? = nil) {
        self.onStart = onStart
    }

    /// Starts the work: called once, with the first subscription.
    ///
    /// Subclasses put their work here.
    func start() {
        let onStart = onStart
        self.onStart = nil
        onStart?(self)
    }

    /// Called when the last subscriber leaves before the end, before the work is stopped.
    func willCancel() {}

    /// Called when the priority has changed, for work that is neither an operation nor a dependency.
    func priorityDidChange() {}

    /// Called once the node has ended, however it did.
    func didEnd() {}

    /// The image tasks that, directly or through other nodes, wait for this one.
    var imageTasks: [ImageTask] {
        subscriptions.flatMap { $0.subscriber?.imageTasks ?? [] }
    }

    /// Whether this node, as a subscriber, has a use for values that are not final.
    var wantsPartialValues: Bool { false }

    /// Whether some subscriber has a use for values that are not final.
    var arePartialValuesWanted: Bool {
        subscriptions.contains { $0.subscriber?.wantsPartialValues ?? false }
    }

    /// Whether an image task waits for this node itself.
    var hasDirectImageTasks: Bool { subscriptions.contains { $0.subscriber is ImageTask } }

    // MARK: Log

    /// What this node and those before it have done so far.
    var currentLog: WorkLog {
        guard !isDependencyOver, let earlier = dependency?.currentLog else { return log }
        var log = log
        log.absorb(earlier)
        return log
    }

    /// Writes down what was done or found out.
    func note(_ change: (inout WorkLog) -> Void) { change(&log) }

    /// Writes down a step that is over; `request` tells what for, if no task waits any more.
    func note(_ step: WorkLog.Step, for request: ImageRequest? = nil) {
        log.steps.append(step)
        guard Diagnostics.isTracingEnabled else { return }
        let tasks = imageTasks
        Diagnostics.trace(step, of: tasks.first?.request ?? request, for: tasks, log.loading)
    }

    /// Writes down a look into the data cache that is over.
    func noteDataCacheLookup(key: String?, byteCount: Int, since start: Double) {
        log.dataCacheKey = key
        note(
            WorkLog.Step(
                kind: .dataCacheLookup, start: start, end: MonotonicClock.now, outputByteCount: byteCount))
    }

    /// Leaves the node that this one waits for: what has come of it is enough.
    func leaveDependency() {
        guard let dependency else { return }
        absorb(dependency.currentLog)
        dependency.unsubscribe()
        self.dependency = nil
    }

    private func absorb(_ earlier: WorkLog) {
        isDependencyOver = true
        log.absorb(earlier)
    }

    // MARK: Subscribing

    /// Adds a subscriber; nil if the node has ended, or ends while it starts.
    func subscribe(
        priority: ImageRequest.Priority = .normal, subscriber: (any TaskSubscriber)? = nil,
        _ observer: @escaping Observer
    ) -> TaskSubscription? {
        guard !isDisposed else { return nil }
        lastKey += 1
        let key = lastKey
        subscriptions.append(
            Subscription(key: key, observer: observer, subscriber: subscriber, priority: priority))
        priorityCounts[priority.rawValue] += 1
        updatePriority()
        if !isStarted {
            isStarted = true
            start()
        }
        guard !isDisposed else { return nil }
        return TaskSubscription(node: self, key: key)
    }

    /// Makes another node depend on this one: progress and errors are passed on, values go to `onValue`.
    func subscribe<Dependent: Sendable>(
        _ dependent: TaskNode<Dependent>, onValue: @escaping @ImagePipelineActor (Value, _ isCompleted: Bool) -> Void
    ) -> TaskSubscription? {
        subscribe(priority: dependent.priority, subscriber: dependent) { event in
            switch event {
            case .value(let value, let isCompleted):
                if let reservation = self.reservation { dependent.reservation = reservation }
                if isCompleted { dependent.absorb(self.log) }
                onValue(value, isCompleted)
            case .progress(let progress): dependent.send(progress: progress)
            case .error(let error):
                dependent.absorb(self.currentLog)
                dependent.operation?.cancel()
                dependent.send(error: error)
            }
        }
    }

    fileprivate func unsubscribe(_ key: Int) {
        guard let index = index(of: key) else { return }
        priorityCounts[subscriptions.remove(at: index).priority.rawValue] -= 1
        guard !isDisposed else { return }
        if subscriptions.isEmpty { end(isCancelled: true) } else { updatePriority() }
    }

    fileprivate func setPriority(_ priority: ImageRequest.Priority, for key: Int) {
        guard let index = index(of: key), subscriptions[index].priority != priority else { return }
        priorityCounts[subscriptions[index].priority.rawValue] -= 1
        priorityCounts[priority.rawValue] += 1
        subscriptions[index].priority = priority
        updatePriority()
    }

    private func updatePriority() {
        guard let highest = priorityCounts.indices.last(where: { priorityCounts[$0] > 0 }) else { return }
        priority = ImageRequest.Priority(rawValue: highest) ?? .normal
    }

    // MARK: Sending

    /// Reports a value; a completed one ends the node.
    func send(value: Value, isCompleted: Bool = false) { send(.value(value, isCompleted: isCompleted)) }

    /// Reports how far the work is.
    func send(progress: ImageTask.Progress) { send(.progress(progress)) }

    /// Reports a failure, which ends the node.
    func send(error: ImagePipeline.Error) { send(.error(error)) }

    private func send(_ event: Event) {
        guard !isDisposed else { return }
        let isEnd =
            switch event {
            case .value(_, let isCompleted): isCompleted
            case .progress: false
            case .error: true
            }
        // Disposed first: subscribers that come now start afresh.
        let current = subscriptions
        if isEnd { isDisposed = true }
        for subscription in current where index(of: subscription.key) != nil { subscription.observer(event) }
        if isEnd { end(isCancelled: false) }
    }

    /// Where a subscription stands, by halves.
    private func index(of key: Int) -> Int? {
        var range = 0..<subscriptions.count
        while let first = range.first {
            let middle = first + range.count / 2
            if subscriptions[middle].key == key { return middle }
            range = subscriptions[middle].key < key ? middle + 1..<range.upperBound : first..<middle
        }
        return nil
    }

    private func end(isCancelled: Bool) {
        isDisposed = true
        onStart = nil
        if isCancelled {
            willCancel()
            operation?.cancel()
            dependency?.unsubscribe()
            onCancelled?()
        }
        onDisposed?()
        didEnd()
        onCancelled = nil
        onDisposed = nil
        subscriptions.removeAll()
        operation = nil
        dependency = nil
        reservation = nil
    }
}

/// Work of a node that waits or runs somewhere: it follows the node's priority and ends with it.
@ImagePipelineActor
protocol NodeWork: AnyObject {
    /// How urgent the work is.
    var priority: ImageRequest.Priority { get set }

    /// The node whose work it is.
    var owner: (any TaskSubscriber)? { get set }

    /// Ends the work, as far as it can still be ended.
    func cancel()
}

/// Something that waits for nodes: another node or an image task.
@ImagePipelineActor
protocol TaskSubscriber: AnyObject {
    /// The image tasks that wait through this subscriber.
    var imageTasks: [ImageTask] { get }
    /// Whether values that are not final are of use.
    var wantsPartialValues: Bool { get }
}

/// What a subscription asks of its node.
@ImagePipelineActor
private protocol SubscribedNode: AnyObject {
    var currentLog: WorkLog { get }
    func unsubscribe(_ key: Int)
    func setPriority(_ priority: ImageRequest.Priority, for key: Int)
}

extension TaskNode: SubscribedNode {}

/// A subscriber's hold on a node.
@ImagePipelineActor
final class TaskSubscription {
    private let node: any SubscribedNode
    private let key: Int

    fileprivate init(node: any SubscribedNode, key: Int) {
        self.node = node
        self.key = key
    }

    /// Ends the subscription: no event comes after it.
    func unsubscribe() { node.unsubscribe(key) }

    /// Says how urgent the work is for this subscriber.
    func setPriority(_ priority: ImageRequest.Priority) { node.setPriority(priority, for: key) }

    /// What the node and those before it have done so far.
    var currentLog: WorkLog { node.currentLog }
}
