/// Does what a prefetcher is told, on the pipeline's actor.
///
/// Commands are kept in the order in which they came, from whatever thread, with at most one hop to the actor pending.
final class PrefetchWorker: Sendable {
    enum Command: Sendable {
        case start([ImageRequest])
        case stop([ImageRequest])
        case stopAll
        case applyPriority
    }

    /// One image on its way.
    @ImagePipelineActor
    private final class Prefetch {
        let key: LoadImageKey
        let request: ImageRequest
        var operation: TaskQueue.Operation?
        var task: ImageTask?

        init(key: LoadImageKey, request: ImageRequest) {
            self.key = key
            self.request = request
        }
    }

    private struct Shared {
        var commands: [Command] = []
        var isDrainScheduled = false
        var priority = ImageRequest.Priority.low
        var didComplete: (@MainActor @Sendable () -> Void)?
    }

    let queue: TaskQueue
    let destination: ImagePrefetcher.Destination
    private let pipeline: ImagePipeline
    private let shared = Lock(Shared())
    @ImagePipelineActor private var prefetches: [LoadImageKey: Prefetch] = [:]

    init(pipeline: ImagePipeline, destination: ImagePrefetcher.Destination, queue: TaskQueue) {
        self.pipeline = pipeline
        self.destination = destination
        self.queue = queue
    }

    /// Images on their way or waiting.
    @ImagePipelineActor
    var count: Int { prefetches.count }

    var didComplete: (@MainActor @Sendable () -> Void)? {
        get { shared.withLock { $0.didComplete } }
        set { shared.withLock { $0.didComplete = newValue } }
    }

    /// What waits takes the priority when it starts.
    var priority: ImageRequest.Priority {
        get { shared.withLock { $0.priority } }
        set {
            shared.withLock { $0.priority = newValue }
            perform(.applyPriority)
        }
    }

    // MARK: Commands

    func perform(_ command: Command) {
        let isFirst = shared.withLock { shared in
            shared.commands.append(command)
            defer { shared.isDrainScheduled = true }
            return !shared.isDrainScheduled
        }
        if isFirst { Task { @ImagePipelineActor in drain() } }
    }

    @ImagePipelineActor
    private func drain() {
        let commands = shared.withLock { shared in
            let commands = shared.commands
            shared.commands = []
            shared.isDrainScheduled = false
            return commands
        }
        for command in commands {
            switch command {
            case .start(let requests): start(requests)
            case .stop(let requests): for request in requests { stop(key(of: request)) }
            case .stopAll: for key in Array(prefetches.keys) { stop(key) }
            case .applyPriority: applyPriority()
            }
        }
    }

    private func key(of request: ImageRequest) -> LoadImageKey { LoadImageKey(request, hintedBy: nil) }

    @ImagePipelineActor
    private func start(_ requests: [ImageRequest]) {
        for request in requests {
            let key = key(of: request)
            guard prefetches[key] == nil, !isInMemory(request) else { continue }
            let prefetch = Prefetch(key: key, request: request)
            prefetches[key] = prefetch
            prefetch.operation = queue.add { [weak self] in await self?.load(prefetch) }
        }
        completeIfIdle()
    }

    @ImagePipelineActor
    private func isInMemory(_ request: ImageRequest) -> Bool {
        guard destination == .memoryCache, let container = pipeline.cache[request] else { return false }
        return !container.isPreview
    }

    @ImagePipelineActor
    private func stop(_ key: LoadImageKey) {
        guard let prefetch = prefetches.removeValue(forKey: key) else { return }
        // Cancels the image task, if there is one, through the Swift task that waits for it.
        prefetch.operation?.cancel()
        prefetch.operation = nil
    }

    @ImagePipelineActor
    private func applyPriority() {
        let priority = priority
        let tasks = prefetches.values.compactMap(\.task).sorted { $0.taskId < $1.taskId }
        guard let old = tasks.first?.priority else { return }
        // Work that is lowered stands before its new peers, so the first has to come last to stay the first.
        for task in priority < old ? tasks.reversed() : tasks { task.priority = priority }
    }

    // MARK: Loading

    /// Loads one image; holds its slot in the queue until the image task has ended.
    @ImagePipelineActor
    private func load(_ prefetch: Prefetch) async {
        var request = prefetch.request
        request.priority = priority
        let task = pipeline.startTask(
            with: request, isDataTask: destination == .diskCache, isMemoryChecked: false)
        prefetch.task = task
        _ = try? await task.response
        guard prefetches[prefetch.key] === prefetch else { return }
        prefetches[prefetch.key] = nil
        completeIfIdle()
    }

    @ImagePipelineActor
    private func completeIfIdle() {
        guard prefetches.isEmpty, let didComplete else { return }
        Task { @MainActor in didComplete() }
    }
}
