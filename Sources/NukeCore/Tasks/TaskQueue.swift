/// Runs work, at most so many pieces at once, by priority and then in the order of arrival.
///
/// Work begins on `ImagePipelineActor`; what takes long hops off it. A piece of work keeps its slot until it is over. Limit
/// and suspension can be set from any thread.
public final class TaskQueue: Sendable {
    enum Event: Equatable, Sendable {
        case enqueued, finished, cancelled, priorityChanged
    }

    private struct Settings {
        var limit: Int
        var isSuspended = false
    }

    private let settings: Lock<Settings>
    @ImagePipelineActor private var buckets: [LinkedList<Operation>] = ImageRequest.Priority.allCases.map { _ in
        LinkedList()
    }
    /// Work that waits.
    @ImagePipelineActor private(set) var pendingCount = 0
    /// Work that holds a slot.
    @ImagePipelineActor private(set) var runningCount = 0
    /// What waits, in the order in which it will start as things stand.
    @ImagePipelineActor var pending: [Operation] { buckets.reversed().flatMap(\.values) }
    @ImagePipelineActor private var isStarting = false
    /// Tells tests what happens.
    @ImagePipelineActor var onEvent: ((Event) -> Void)?

    /// Creates a queue that runs as many pieces of work at once as there are processors, unless told otherwise.
    public init(maxConcurrentOperationCount: Int = TaskQueue.defaultConcurrentOperationCount) {
        settings = Lock(Settings(limit: max(1, maxConcurrentOperationCount)))
    }

    /// The number of processors that this process may use.
    public static var defaultConcurrentOperationCount: Int { HostLimits.processorCount }

    /// Whether work waits instead of starting; what runs goes on.
    ///
    /// False by default.
    public var isSuspended: Bool {
        get { settings.withLock { $0.isSuspended } }
        set { update { $0.isSuspended = newValue } }
    }

    /// How many pieces of work run at once; at least 1.
    public var maxConcurrentOperationCount: Int {
        get { settings.withLock { $0.limit } }
        set { update { $0.limit = max(1, newValue) } }
    }

    private func update(_ change: (inout Settings) -> Void) {
        let isOpened = settings.withLock { settings in
            let old = settings
            change(&settings)
            return settings.limit > old.limit || (old.isSuspended && !settings.isSuspended)
        }
        if isOpened { Task { @ImagePipelineActor in self.startPending() } }
    }

    /// Adds an asynchronous body, which holds its slot until it returns.
    ///
    /// The operation returned can be re-prioritised and cancelled; its cancellation is that of the Swift task which runs
    /// the body.
    @ImagePipelineActor
    @discardableResult
    func add(
        priority: ImageRequest.Priority = .normal, _ work: @escaping @ImagePipelineActor () async -> Void
    ) -> Operation {
        add(priority: priority) { operation in
            // The task keeps the operation alive until its body returns, also if nobody else does.
            let task = Task { @ImagePipelineActor in
                if !operation.isCancelled { await work() }
                operation.finish()
            }
            operation.onCancel = { task.cancel() }
        }
    }

    /// Adds work that begins with `start`, called on the actor as soon as there is a slot, and holds it until its
    /// operation's `finish()`.
    ///
    /// `start` sets the operation's `onCancel` if there is something to be stopped.
    @ImagePipelineActor
    @discardableResult
    func add(
        priority: ImageRequest.Priority = .normal, start: @escaping @ImagePipelineActor (Operation) -> Void
    ) -> Operation {
        let operation = Operation(queue: self, priority: priority, start: start)
        operation.place = buckets[priority.rawValue].append(operation)
        pendingCount += 1
        onEvent?(.enqueued)
        startPending()
        return operation
    }

    /// Adds work for a codec thread, which holds its slot until `completion`, called on the actor, returns.
    @ImagePipelineActor
    func add<Value: Sendable>(
        priority: ImageRequest.Priority, onCancel: (@ImagePipelineActor () -> Void)? = nil,
        onCodecThread work: @escaping @Sendable () -> Value,
        completion: @escaping @ImagePipelineActor (Value) -> Void
    ) -> Operation {
        add(priority: priority) { operation in
            operation.onCancel = onCancel
            operation.run(work, completion: completion)
        }
    }

    @ImagePipelineActor
    private func startPending() {
        // Work that is over as it begins comes here again: the loop below goes on with the next, not a call within a call.
        guard !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        while true {
            let canStart = settings.withLock { !$0.isSuspended && runningCount < $0.limit }
            guard canStart, let operation = buckets.last(where: { $0.first != nil })?.popFirst() else { return }
            pendingCount -= 1
            runningCount += 1
            operation.begin()
        }
    }

    /// Moves a waiting operation: raised, it stands last among its new peers; lowered, first.
    @ImagePipelineActor
    fileprivate func move(_ operation: Operation, from old: ImageRequest.Priority) {
        guard let place = operation.place else { return }
        buckets[old.rawValue].remove(place)
        let bucket = buckets[operation.priority.rawValue]
        operation.place = operation.priority > old ? bucket.append(operation) : bucket.prepend(operation)
        onEvent?(.priorityChanged)
    }

    @ImagePipelineActor
    fileprivate func withdraw(_ operation: Operation) {
        if let place = operation.place {
            buckets[operation.priority.rawValue].remove(place)
            operation.place = nil
            pendingCount -= 1
        }
        onEvent?(.cancelled)
    }

    @ImagePipelineActor
    fileprivate func finish() {
        runningCount -= 1
        onEvent?(.finished)
        startPending()
    }
}

extension TaskQueue {
    /// A piece of work in a queue.
    @ImagePipelineActor
    final class Operation: NodeWork {
        private enum State { case pending, running, ended }

        private let queue: TaskQueue
        private var state = State.pending
        private var start: (@ImagePipelineActor (Operation) -> Void)?
        /// Called once if the work is cancelled while it runs.
        var onCancel: (@ImagePipelineActor () -> Void)?
        var owner: (any TaskSubscriber)?
        fileprivate(set) var isCancelled = false
        fileprivate var place: LinkedList<Operation>.Node?

        /// Has an effect while the operation waits.
        var priority: ImageRequest.Priority {
            didSet {
                if priority != oldValue, state == .pending, !isCancelled { queue.move(self, from: oldValue) }
            }
        }

        fileprivate init(
            queue: TaskQueue, priority: ImageRequest.Priority, start: @escaping @ImagePipelineActor (Operation) -> Void
        ) {
            self.queue = queue
            self.priority = priority
            self.start = start
        }

        /// Withdraws waiting work; tells running work, which keeps its slot until it is over.
        func cancel() {
            guard !isCancelled, state != .ended else { return }
            isCancelled = true
            start = nil
            owner = nil
            let onCancel = onCancel
            self.onCancel = nil
            queue.withdraw(self)
            onCancel?()
        }

        fileprivate func begin() {
            place = nil
            state = .running
            owner = nil
            let start = start
            self.start = nil
            start?(self)
        }

        /// Runs what is left of the work on a codec thread, and the completion on the actor, whereupon the work is over.
        func run<Value: Sendable>(
            _ work: @escaping @Sendable () -> Value, completion: @escaping @ImagePipelineActor (Value) -> Void
        ) {
            CodecThreads.shared.enqueue(priority: priority) {
                let value = work()
                Task { @ImagePipelineActor in
                    completion(value)
                    self.finish()
                }
            }
        }

        /// Says that the work is over, which frees its slot; has no effect the second time.
        func finish() {
            guard state == .running else { return }
            state = .ended
            onCancel = nil
            queue.finish()
        }
    }
}
