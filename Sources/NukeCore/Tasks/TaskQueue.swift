/// Runs asynchronous work, at most so many pieces at once, by priority and then in the order of arrival.
///
/// Bodies run on `ImagePipelineActor`; what takes long hops off it inside them. A piece of work keeps its slot until its
/// body returns. Limit and suspension can be set from any thread.
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

    /// Adds work; the operation returned can be re-prioritised and cancelled.
    @ImagePipelineActor
    @discardableResult
    func add(
        priority: ImageRequest.Priority = .normal, _ work: @escaping @ImagePipelineActor () async -> Void
    ) -> Operation {
        let operation = Operation(queue: self, priority: priority, work: work)
        operation.place = buckets[priority.rawValue].append(operation)
        pendingCount += 1
        onEvent?(.enqueued)
        startPending()
        return operation
    }

    @ImagePipelineActor
    private func startPending() {
        while true {
            let canStart = settings.withLock { !$0.isSuspended && runningCount < $0.limit }
            guard canStart, let operation = buckets.last(where: { $0.first != nil })?.popFirst() else { return }
            pendingCount -= 1
            runningCount += 1
            operation.start()
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
        private var work: (@ImagePipelineActor () async -> Void)?
        private var task: Task<Void, Never>?
        weak var owner: (any TaskSubscriber)?
        fileprivate(set) var isCancelled = false
        fileprivate var place: LinkedList<Operation>.Node?

        /// Has an effect while the operation waits.
        var priority: ImageRequest.Priority {
            didSet {
                if priority != oldValue, state == .pending, !isCancelled { queue.move(self, from: oldValue) }
            }
        }

        fileprivate init(
            queue: TaskQueue, priority: ImageRequest.Priority, work: @escaping @ImagePipelineActor () async -> Void
        ) {
            self.queue = queue
            self.priority = priority
            self.work = work
        }

        /// Withdraws waiting work; cancels the Swift task of running work, which keeps its slot until it returns.
        func cancel() {
            guard !isCancelled, state != .ended else { return }
            isCancelled = true
            if state == .pending { work = nil }
            task?.cancel()
            queue.withdraw(self)
        }

        fileprivate func start() {
            place = nil
            state = .running
            // The task keeps the operation alive until its body returns, also if nobody else does.
            task = Task { @ImagePipelineActor in
                let work = self.work
                self.work = nil
                if !self.isCancelled { await work?() }
                self.state = .ended
                self.task = nil
                self.queue.finish()
            }
        }
    }
}
