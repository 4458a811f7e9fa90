/// A load under way, or done: its image, its progress, and the means to cancel or hurry it.
///
/// Usable from any thread.
///
/// The pipeline keeps the task until it ends; the caller need not. Equality and hash are by identity.
public final class ImageTask: Sendable {
    /// What the task has come to, all parts of one moment.
    public struct Status: Sendable {
        /// The outcome; nil until there is one.
        public internal(set) var result: Result<ImageResponse, ImagePipeline.Error>?
        /// Whether somebody asked to cancel the task, in time or not.
        public internal(set) var isCancelled: Bool = false
        /// How urgent the task is.
        public internal(set) var priority: ImageRequest.Priority = .normal
        /// How many bytes have come.
        public internal(set) var progress = Progress(completed: 0, total: 0)

        /// Creates the status of a task that has not begun.
        public init() {}
    }

    /// The sending end of a stream of events, or of what is of interest of them.
    private struct Stream: Sendable {
        let yield: @Sendable (Event) -> Void
        let finish: @Sendable () -> Void
    }

    private struct Shared {
        var status = Status()
        var streams: [Int: Stream] = [:]
        var lastStream = 0
        var awaiting: [CheckedContinuation<Result<ImageResponse, ImagePipeline.Error>, Never>] = []
        var isPriorityUpdateScheduled = false
        var previewCount = 0
        var metrics: Metrics?
    }

    /// Counts the tasks of a pipeline, from 1.
    public let taskId: UInt64
    /// What was asked for.
    public let request: ImageRequest
    /// Whether the task loads data and no image.
    let isDataTask: Bool

    /// When the task was made, in seconds on `MonotonicClock`.
    let created = MonotonicClock.now

    private weak let pipeline: ImagePipeline?
    private let shared: Lock<Shared>

    init(taskId: UInt64, request: ImageRequest, isDataTask: Bool, pipeline: ImagePipeline) {
        self.taskId = taskId
        self.request = request
        self.isDataTask = isDataTask
        self.pipeline = pipeline
        var shared = Shared()
        shared.status.priority = request.priority
        self.shared = Lock(shared)
    }

    /// The identity of this object.
    public var id: ObjectIdentifier { ObjectIdentifier(self) }

    // MARK: Status

    /// What the task has come to, in one snapshot.
    public var status: Status { shared.withLock { $0.status } }

    /// Whether somebody asked to cancel the task; set at once by `cancel()`.
    public var isCancelled: Bool { shared.withLock { $0.status.isCancelled } }

    /// How urgent the task is; settable at any time.
    public var priority: ImageRequest.Priority {
        get { shared.withLock { $0.status.priority } }
        set {
            let isScheduling = shared.withLock { state in
                guard state.status.priority != newValue else { return false }
                state.status.priority = newValue
                guard state.status.result == nil, !state.isPriorityUpdateScheduled else { return false }
                state.isPriorityUpdateScheduled = true
                return true
            }
            guard isScheduling, let pipeline else { return }
            Task { @ImagePipelineActor in
                // Read late, so that of several changes only the last one counts.
                let priority = shared.withLock { state in
                    state.isPriorityUpdateScheduled = false
                    return state.status.priority
                }
                pipeline.setPriority(priority, of: self)
            }
        }
    }

    /// Asks for the load to stop: it ends with `cancelled`, unless it is so far that it succeeds all the same.
    ///
    /// Has no effect the second time or after the end.
    public func cancel() {
        let isFirst = shared.withLock { state in
            guard !state.status.isCancelled else { return false }
            state.status.isCancelled = true
            return state.status.result == nil
        }
        guard isFirst, let pipeline else { return }
        Task { @ImagePipelineActor in pipeline.cancel(self) }
    }

    /// What the load took, step by step; nil until it has ended, also with an error.
    public var metrics: Metrics? { shared.withLock { $0.metrics } }

    /// The metrics of a task that ends now.
    func makeMetrics(_ log: WorkLog, _ result: Result<ImageResponse, ImagePipeline.Error>) -> Metrics {
        Metrics(
            log: log, created: created, ended: MonotonicClock.now, previewCount: shared.withLock { $0.previewCount },
            cacheType: (try? result.get())?.cacheType)
    }

    // MARK: Outcome

    /// The image, once it is there; cancelling the Swift task that waits cancels the image task.
    public var image: PlatformImage {
        get async throws(ImagePipeline.Error) { try await response.image }
    }

    /// The response, once it is there; cancelling the Swift task that waits cancels the image task.
    public var response: ImageResponse {
        get async throws(ImagePipeline.Error) { try await result.get() }
    }

    private var result: Result<ImageResponse, ImagePipeline.Error> {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let result = shared.withLock { state in
                        if state.status.result == nil { state.awaiting.append(continuation) }
                        return state.status.result
                    }
                    if let result { continuation.resume(returning: result) }
                }
            } onCancel: {
                cancel()
            }
        }
    }

    // MARK: Events

    /// Everything that happens from now on, up to and with the outcome; each access makes a stream of its own.
    ///
    /// Starts with the progress so far, if there is any; after the end it brings the outcome alone. Nothing is dropped,
    /// however slowly it is read. Ending the iteration does not cancel the task.
    public var events: AsyncStream<Event> { makeStream { $0 } }

    /// A stream of its own with what `transform` makes of each event; nil leaves the event out.
    func makeStream<Element: Sendable>(_ transform: @escaping @Sendable (Event) -> Element?) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: .unbounded)
        let end = Stream(
            yield: { event in if let element = transform(event) { continuation.yield(element) } },
            finish: { continuation.finish() })
        let key = shared.withLock { state -> Int? in
            if let result = state.status.result {
                end.yield(.finished(result))
                end.finish()
                return nil
            }
            let progress = state.status.progress
            if progress.completed > 0 || progress.total > 0 { end.yield(.progress(progress)) }
            state.lastStream += 1
            state.streams[state.lastStream] = end
            return state.lastStream
        }
        guard let key else { return stream }
        continuation.onTermination = { [weak self] _ in
            self?.shared.withLock { _ = $0.streams.removeValue(forKey: key) }
        }
        return stream
    }

    /// Records an event and tells those who wait; false if the task had ended before.
    @ImagePipelineActor
    func deliver(_ event: Event, metrics: Metrics? = nil) -> Bool {
        var awaiting: [CheckedContinuation<Result<ImageResponse, ImagePipeline.Error>, Never>] = []
        var streams: [Stream] = []
        let isAccepted = shared.withLock { state in
            guard state.status.result == nil else { return false }
            switch event {
            case .progress(let progress): state.status.progress = progress
            case .preview: state.previewCount += 1
            case .finished(let result):
                state.status.result = result
                state.metrics = metrics
            }
            streams = state.streams.keys.sorted().compactMap { state.streams[$0] }
            if case .finished = event {
                awaiting = state.awaiting
                state.awaiting = []
                state.streams = [:]
            }
            return true
        }
        guard isAccepted else { return false }
        for stream in streams { stream.yield(event) }
        if case .finished(let result) = event {
            for stream in streams { stream.finish() }
            for continuation in awaiting { continuation.resume(returning: result) }
        }
        return true
    }
}

extension ImageTask: TaskSubscriber {
    var imageTasks: [ImageTask] { [self] }
    var wantsPartialValues: Bool { true }
}

extension ImageTask: Hashable {
    /// Whether both are the same object.
    public static func == (a: ImageTask, b: ImageTask) -> Bool { a === b }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ImageTask: CustomStringConvertible {
    /// Number, priority, progress and state, for people.
    public var description: String {
        let status = status
        let state =
            switch status.result {
            case .none: status.isCancelled ? "cancelled" : "running"
            case .success: "success"
            case .failure(.cancelled): "cancelled"
            case .failure(let error): "failure(\(error))"
            }
        let progress = "\(status.progress.completed) / \(status.progress.total)"
        return "ImageTask(id: \(taskId), priority: \(status.priority), progress: \(progress), state: \(state))"
    }
}
