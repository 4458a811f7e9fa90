internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Loads images: finds them in the caches, or downloads, decodes, processes and stores them, each step once for all that
/// ask for it at a time.
///
/// Usable from any thread. Work goes on as long as somebody waits for it, also if the pipeline is let go meanwhile.
public final class ImagePipeline: Sendable {
    private static let sharedPipeline = Lock(ImagePipeline())

    /// The pipeline used where none is named; stores in memory only.
    ///
    /// Settable from any thread.
    public static var shared: ImagePipeline {
        get { sharedPipeline.withLock { $0 } }
        set { sharedPipeline.withLock { $0 = newValue } }
    }

    /// What the pipeline is made of.
    public let configuration: Configuration

    let delegate: any Delegate
    let hasUserDelegate: Bool
    /// Whether there may be a data cache: the configuration's, or one that the delegate has.
    var hasDataCache: Bool { hasUserDelegate || configuration.dataCache != nil }
    /// The configuration's, at hand for hits.
    let imageCache: (any ImageCaching)?
    /// What starts of loads are spread with; nil if they are not.
    let rateLimiter: RateLimiter?
    /// What the loads may hold at once, in bytes.
    let memoryBudget: MemoryBudget
    private let lastTaskId = Atomic<UInt64>(0)
    private let isInvalidated = Atomic<Bool>(false)
    private let isShuttingDown = Atomic<Bool>(false)
    /// Hits that were answered without a task.
    private let immediateHits = Atomic<Int>(0)

    let dataStores = PendingDataStores()
    /// Images that are being encoded for data caches.
    let encodings = PendingWork()
    /// What tasks came to.
    @ImagePipelineActor private(set) var counters = Counters()
    /// Waiting for the end of the last task.
    @ImagePipelineActor private var idleObservers: [() -> Void] = []
    @ImagePipelineActor private var tasks: [ImageTask: TaskSubscription?] = [:]
    @ImagePipelineActor let loadImagePool: TaskPool<LoadImageKey, ImageResponse>
    @ImagePipelineActor let fetchImagePool: TaskPool<OriginalImageKey, ImageResponse>
    @ImagePipelineActor let fetchDataPool: TaskPool<DownloadKey, OriginalData>
    @ImagePipelineActor let loadDataPool: TaskPool<LoadImageKey, ImageResponse>

    /// Creates a pipeline.
    public convenience init(configuration: Configuration = Configuration(), delegate: (any Delegate)? = nil) {
        self.init(configuration, delegate ?? DefaultPipelineDelegate(), isUserDelegate: delegate != nil)
    }

    /// Creates a pipeline whose delegate is the user's, and hears of everything, or is not.
    init(_ configuration: Configuration, _ delegate: any Delegate, isUserDelegate: Bool) {
        self.configuration = configuration
        self.delegate = delegate
        hasUserDelegate = isUserDelegate
        imageCache = configuration.imageCache
        rateLimiter = configuration.isRateLimiterEnabled ? RateLimiter(clock: configuration.clock) : nil
        memoryBudget = MemoryBudget(limit: configuration.memoryBudget)
        let isCoalescing = configuration.isTaskCoalescingEnabled
        loadImagePool = TaskPool(isCoalescingEnabled: isCoalescing)
        fetchImagePool = TaskPool(isCoalescingEnabled: isCoalescing)
        fetchDataPool = TaskPool(isCoalescingEnabled: isCoalescing)
        loadDataPool = TaskPool(isCoalescingEnabled: isCoalescing)
    }

    /// Creates a pipeline with the default configuration as changed by the closure.
    public convenience init(delegate: (any Delegate)? = nil, _ configure: (inout Configuration) -> Void) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(configuration: configuration, delegate: delegate)
    }

    // MARK: Loading

    /// Starts loading the image at a URL.
    public func imageTask(with url: URL) -> ImageTask { imageTask(with: ImageRequest(url: url)) }

    /// Starts loading an image and returns at once.
    public func imageTask(with request: ImageRequest) -> ImageTask {
        startTask(with: request, isMemoryChecked: false)
    }

    /// The image at a URL.
    public func image(for url: URL) async throws(Error) -> PlatformImage {
        try await image(for: ImageRequest(url: url))
    }

    /// The image that a request asks for; cancelling the Swift task cancels the load.
    ///
    /// An image in the memory cache is returned at once: without a task, an event or a hop to another thread, unless there
    /// is a delegate that wants to hear of it.
    public func image(for request: ImageRequest) async throws(Error) -> PlatformImage {
        let canAnswerAtOnce = !hasUserDelegate && isAccepting && !isReportingTasks
        if canAnswerAtOnce, !Task.isCancelled {
            let request = effectiveRequest(request)
            if let container = cachedImage(for: request), !container.isPreview {
                immediateHits.wrappingAdd(1, ordering: .relaxed)
                return container.image
            }
            return try await response(to: request, isMemoryChecked: true).image
        }
        return try await response(to: request, isMemoryChecked: false).image
    }

    /// The bytes that a request asks for and the response that brought them; nil for cached and local bytes.
    ///
    /// Processors are not applied. What a data cache has stored for the request counts, also if that is the processed image,
    /// encoded. The image of an image closure is encoded.
    public func data(for request: ImageRequest) async throws(Error) -> (Data, DataResponse?) {
        let response = try await response(to: request, isDataTask: true, isMemoryChecked: true)
        return (response.container.data ?? Data(), response.dataResponse)
    }

    /// Stops everything: tasks under way end with `cancelled`, later ones with `pipelineInvalidated`.
    public func invalidate() {
        guard !isInvalidated.exchange(true, ordering: .relaxed) else { return }
        Task { @ImagePipelineActor in
            for task in runningTasks { end(task, with: .failure(.cancelled)) }
        }
    }

    /// Makes later tasks fail with `pipelineInvalidated`; those under way go on.
    func stopAccepting() { isShuttingDown.store(true, ordering: .relaxed) }

    /// Whether tasks that are made now are started.
    var isAccepting: Bool {
        !isInvalidated.load(ordering: .relaxed) && !isShuttingDown.load(ordering: .relaxed)
    }

    /// Whether the end of every task is told to `Diagnostics.sink`.
    private var isReportingTasks: Bool { Diagnostics.isReportingTasks || configuration.isReportingTasks }

    // MARK: Tasks

    /// The request with the configuration's processors, if it has none.
    func effectiveRequest(_ request: ImageRequest) -> ImageRequest {
        guard !configuration.processors.isEmpty, request.processors.isEmpty else { return request }
        var request = request
        request.processors = configuration.processors
        return request
    }

    /// Makes a task and schedules its start; `prepare` is called before anything can happen to it.
    func startTask(
        with request: ImageRequest, isDataTask: Bool = false, isMemoryChecked: Bool,
        prepare: (ImageTask) -> Void = { _ in }
    ) -> ImageTask {
        let isTooLate = !isAccepting
        let task = makeTask(with: request, isDataTask: isDataTask, prepare: prepare)
        Task { @ImagePipelineActor in start(task, isMemoryChecked: isMemoryChecked, isTooLate: isTooLate) }
        return task
    }

    /// Makes a task, starts it and waits for it.
    private func response(
        to request: ImageRequest, isDataTask: Bool = false, isMemoryChecked: Bool
    ) async throws(Error) -> ImageResponse {
        let isTooLate = !isAccepting
        let task = makeTask(with: request, isDataTask: isDataTask)
        return try await run(task, isMemoryChecked: isMemoryChecked, isTooLate: isTooLate)
    }

    /// Waits on the actor, where the task ends: from there the caller goes on in the same thread, and none has to be woken.
    @ImagePipelineActor
    private func run(
        _ task: ImageTask, isMemoryChecked: Bool, isTooLate: Bool
    ) async throws(Error) -> ImageResponse {
        if Task.isCancelled { task.cancel() }
        start(task, isMemoryChecked: isMemoryChecked, isTooLate: isTooLate)
        return try await task.response
    }

    private func makeTask(
        with request: ImageRequest, isDataTask: Bool, prepare: (ImageTask) -> Void = { _ in }
    ) -> ImageTask {
        let task = ImageTask(
            taskId: lastTaskId.wrappingAdd(1, ordering: .relaxed).newValue, request: effectiveRequest(request),
            isDataTask: isDataTask, pipeline: self)
        prepare(task)
        if hasUserDelegate, !isDataTask { delegate.imageTaskCreated(task, pipeline: self) }
        return task
    }

    @ImagePipelineActor
    private func start(_ task: ImageTask, isMemoryChecked: Bool, isTooLate: Bool) {
        guard !isTooLate else { return deliver(.finished(.failure(.pipelineInvalidated)), to: task) }
        // A pipeline that was invalidated since the task was made ends it like those under way.
        let isCancelled = task.isCancelled || isInvalidated.load(ordering: .relaxed)
        guard !isCancelled else { return deliver(.finished(.failure(.cancelled)), to: task) }
        tasks[task] = .some(nil)
        if hasUserDelegate, !task.isDataTask { delegate.imageTaskDidStart(task, pipeline: self) }
        let node =
            task.isDataTask
            ? loadDataNode(for: task.request)
            : loadImageNode(for: task.request, isMemoryChecked: isMemoryChecked)
        let subscription = node.subscribe(priority: task.priority, subscriber: task) { event in
            switch event {
            case .value(var response, let isCompleted):
                response.request = task.request
                if isCompleted {
                    self.end(task, with: .success(response), log: node.currentLog)
                } else {
                    self.deliver(.preview(response), to: task)
                }
            case .progress(let progress): self.deliver(.progress(progress), to: task)
            case .error(let error): self.end(task, with: .failure(error), log: node.currentLog)
            }
        }
        if tasks[task] != nil { tasks[task] = .some(subscription) }
    }

    @ImagePipelineActor
    private func end(_ task: ImageTask, with result: Result<ImageResponse, Error>, log: WorkLog? = nil) {
        guard let subscription = tasks.removeValue(forKey: task) else { return }
        var result = result
        let metrics = task.makeMetrics(log ?? subscription?.currentLog ?? WorkLog(), result)
        if case .success(var response) = result {
            response.metrics = metrics
            result = .success(response)
        }
        subscription?.unsubscribe()
        if isReportingTasks { Diagnostics.report(task, result, metrics) }
        deliver(.finished(result), to: task, metrics: metrics)
        if tasks.isEmpty, !idleObservers.isEmpty { notifyIdleObservers() }
    }

    /// Calls `observer` when no task is under way, at once if there is none.
    @ImagePipelineActor
    func onIdle(_ observer: @escaping () -> Void) {
        idleObservers.append(observer)
        if tasks.isEmpty { notifyIdleObservers() }
    }

    @ImagePipelineActor
    private func notifyIdleObservers() {
        let observers = idleObservers
        idleObservers = []
        for observer in observers { observer() }
    }

    @ImagePipelineActor
    private func deliver(_ event: ImageTask.Event, to task: ImageTask, metrics: ImageTask.Metrics? = nil) {
        guard task.deliver(event, metrics: metrics) else { return }
        if case .finished(let result) = event { counters.count(result, of: task) }
        guard hasUserDelegate, !task.isDataTask else { return }
        delegate.imageTask(task, didReceiveEvent: event, pipeline: self)
    }

    @ImagePipelineActor
    func cancel(_ task: ImageTask) { end(task, with: .failure(.cancelled)) }

    @ImagePipelineActor
    func setPriority(_ priority: ImageRequest.Priority, of task: ImageTask) {
        if let subscription = tasks[task] { subscription?.setPriority(priority) }
    }

    /// Tasks that have started and not ended.
    @ImagePipelineActor
    var taskCount: Int { tasks.count }

    /// The same, in the order in which they were made.
    @ImagePipelineActor
    var runningTasks: [ImageTask] { tasks.keys.sorted { $0.taskId < $1.taskId } }

    /// Hits that were answered without a task.
    var immediateHitCount: Int { immediateHits.load(ordering: .relaxed) }

    // MARK: Nodes

    @ImagePipelineActor
    func loadImageNode(
        for request: ImageRequest, hintedBy processor: (any ImageProcessing)? = nil, isMemoryChecked: Bool = false
    ) -> TaskNode<ImageResponse> {
        let processor = processor ?? request.hintingProcessor
        return loadImagePool.node(for: LoadImageKey(request, hintedBy: processor)) {
            TaskLoadImage(self, request, hintedBy: processor, isMemoryChecked: isMemoryChecked)
        }
    }

    @ImagePipelineActor
    func loadDataNode(for request: ImageRequest) -> TaskNode<ImageResponse> {
        loadDataPool.node(for: LoadImageKey(request, hintedBy: nil)) { TaskLoadData(self, request) }
    }

    @ImagePipelineActor
    func fetchImageNode(
        for request: ImageRequest, hintedBy processor: (any ImageProcessing)?
    ) -> TaskNode<ImageResponse> {
        startQueuedDownload(for: request)
        return fetchImagePool.node(for: OriginalImageKey(request, hintedBy: processor)) {
            TaskFetchOriginalImage(self, request, hintedBy: processor)
        }
    }

    @ImagePipelineActor
    func fetchDataNode(for request: ImageRequest) -> TaskNode<OriginalData> {
        startQueuedDownload(for: request)
        return fetchDataPool.node(for: request.downloadKey) {
            // Bytes are the same whatever is made of them; the loader and the delegate need not know.
            var request = request
            if !request.processors.isEmpty { request.processors = [] }
            return TaskFetchOriginalData(self, request)
        }
    }

    /// Takes a download that waits out of the queue if this request, which is about to join it, skips the queue.
    @ImagePipelineActor
    private func startQueuedDownload(for request: ImageRequest) {
        guard request.options.contains(.skipDataLoadingQueue) else { return }
        (fetchDataPool.existingNode(for: request.downloadKey) as? TaskFetchOriginalData)?.skipQueue()
    }
}
