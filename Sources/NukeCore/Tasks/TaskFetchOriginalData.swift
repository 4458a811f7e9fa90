#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The bytes of a download, all or those received so far, and the response that brought them, if a loader did.
struct OriginalData: Sendable {
    let data: Data
    let response: DataResponse?
    /// Where the data is stored already.
    var entries: Set<DataCacheEntry> = []
}

/// Loads the original bytes: with a loader, from a file or data URL, or from the request's data closure.
///
/// Partial values are what a loader has brought so far, where the whole length is known and a subscriber wants them.
final class TaskFetchOriginalData: TaskNode<OriginalData> {
    private let pipeline: ImagePipeline
    private let request: ImageRequest
    private var queuedWork: (@ImagePipelineActor () -> Void)?
    /// The place in the queue, held while this loads.
    private var slot: TaskQueue.Operation?
    /// What stops the load, beside the transfer.
    private var task: Task<Void, Never>?
    private var transfer: (any Cancellable)?
    /// Kept while it works: a loader may cancel its transfers when it is let go.
    private var loader: (any DataLoading)?
    private var mailbox: DataMailbox?
    private var received = ReceivedData()
    private var response: DataResponse?
    private var loadedRequest: DataRequest?
    /// What the transfer was asked for, if that is not the whole.
    private var part: Part?
    private var ranges: RangeLoads?
    private var enqueuedAt: Double?
    private var startedAt: Double?

    private enum Part {
        case head(HeadRequest)
        /// The head is there; whether the rest is needed is not known.
        case headOnly
        case rest(RangeRequest)
    }

    private var configuration: ImagePipeline.Configuration { pipeline.configuration }

    init(_ pipeline: ImagePipeline, _ request: ImageRequest) {
        self.pipeline = pipeline
        self.request = request
        super.init()
    }

    override func start() {
        enqueuedAt = MonotonicClock.now
        switch request.resource {
        case .data(_, let closure): enqueue { self.run { await self.load(closure) } }
        case .image: send(error: .dataLoadingFailed(error: DataLoadingError.badURL))
        case .request(let dataRequest):
            guard let url = dataRequest.url else {
                return send(error: .dataLoadingFailed(error: DataLoadingError.badURL))
            }
            if configuration.isLocalResourcesSupportEnabled, let resource = LocalResource(url) {
                read(resource)
            } else {
                enqueue { self.load(dataRequest, url) }
            }
        }
    }

    // MARK: Queue

    /// Starts work when the data loading queue has a slot for it, or at once where the request says so.
    private func enqueue(_ work: @escaping @ImagePipelineActor () -> Void) {
        if request.options.contains(.skipDataLoadingQueue) { return work() }
        queuedWork = work
        operation = configuration.dataLoadingQueue.add(priority: priority) { operation in
            guard let work = self.queuedWork else { return operation.finish() }
            self.queuedWork = nil
            self.slot = operation
            work()
        }
    }

    /// Starts work that still waits in the queue: a request that skips the queue has joined.
    func skipQueue() {
        guard let work = queuedWork else { return }
        queuedWork = nil
        operation?.cancel()
        operation = nil
        work()
    }

    /// Gives the slot back; the last thing that a load does.
    private func leaveQueue() {
        let slot = slot
        self.slot = nil
        slot?.finish()
    }

    /// Runs asynchronous work, which is cancelled with the node; the slot is held until it returns.
    private func run(_ work: @escaping @ImagePipelineActor () async -> Void) {
        task = Task { @ImagePipelineActor in
            await work()
            if self.mailbox == nil { self.leaveQueue() }
        }
    }

    override func willCancel() {
        noteEnd(byteCount: received.count, failure: "cancelled")
        task?.cancel()
        mailbox?.abandon()
        if task == nil || mailbox != nil { leaveQueue() }
    }

    // MARK: Closures and local resources

    private func load(_ closure: @Sendable () async throws -> Data) async {
        startedAt = MonotonicClock.now
        do {
            finish(try await closure(), nil)
        } catch {
            send(error: .dataLoadingFailed(error: error))
        }
    }

    private func read(_ resource: LocalResource) {
        let limit = configuration.maximumResponseDataSize
        startedAt = enqueuedAt
        let task = Task { @ImagePipelineActor [priority] in
            let result = await CodecThreads.disk.run(priority: priority) {
                Result { () throws(DataLoadingError) in try resource.read(limit: limit) }
            }
            guard !self.isDisposed else { return }
            switch result {
            case .success(let data): self.finish(data, nil)
            case .failure(let error) where error.code == .exceededMaximumSize:
                self.send(error: .dataDownloadExceededMaximumSize)
            case .failure(let error): self.send(error: .dataLoadingFailed(error: error))
            }
        }
        onCancelled = { task.cancel() }
    }

    // MARK: Loaders

    /// Loads with a loader, once the delegate and the rate limiter, where there are any, have had their say.
    private func load(_ dataRequest: DataRequest, _ url: URL) {
        guard let loader = pipeline.delegate.dataLoader(for: request, pipeline: pipeline) else {
            let scheme = url.scheme?.lowercased() ?? ""
            send(error: .dataLoadingFailed(error: DataLoadingError.noLoader(scheme: scheme)))
            return leaveQueue()
        }
        let dataRequest = accepting(dataRequest, url)
        guard pipeline.hasUserDelegate || pipeline.rateLimiter != nil else { return load(dataRequest, with: loader) }
        run {
            do {
                let dataRequest = try await self.prepared(dataRequest)
                await self.waitForTurn()
                if !self.isDisposed { self.load(dataRequest, with: loader) }
            } catch let error as ImagePipeline.Error {
                self.send(error: error)
            } catch {
                self.send(error: .dataLoadingFailed(error: error))
            }
        }
    }

    /// The request with the header field that tells what can be decoded, where it goes by HTTP and has none of its own.
    ///
    /// It is no part of any key, as what the loader or the delegate adds isn't.
    private func accepting(_ dataRequest: DataRequest, _ url: URL) -> DataRequest {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            dataRequest.headers["Accept"] == nil, let value = configuration.decoderRegistry.acceptHeaderValue
        else { return dataRequest }
        var dataRequest = dataRequest
        dataRequest.headers["Accept"] = value
        return dataRequest
    }

    /// What the delegate makes of the request.
    private func prepared(_ dataRequest: DataRequest) async throws -> DataRequest {
        guard pipeline.hasUserDelegate else { return dataRequest }
        return try await pipeline.delegate.willLoadData(for: request, dataRequest: dataRequest, pipeline: pipeline)
    }

    private func load(_ dataRequest: DataRequest, with loader: any DataLoading) {
        startedAt = MonotonicClock.now
        self.loader = loader
        loadedRequest = dataRequest
        if isWatched, let head = HeadRequest(of: dataRequest, formats: configuration.decoderRegistry.formats) {
            part = .head(head)
            transfer(head.dataRequest, with: loader)
        } else {
            transfer(dataRequest, with: loader)
        }
    }

    private func transfer(_ dataRequest: DataRequest, with loader: any DataLoading) {
        let mailbox = DataMailbox { self.drainMailbox() }
        mailbox.isWatched = isWatched
        self.mailbox = mailbox
        let transfer = loader.loadData(
            with: dataRequest, didReceiveData: { mailbox.post($0, $1) }, completion: { mailbox.close($0) })
        self.transfer = transfer
        (transfer as? any DataTransfer)?.priority = priority
        mailbox.attach(transfer)
        if mailbox.open() { drainMailbox() }
    }

    /// Waits until the rate limiter, if there is one, lets the load start; or until nobody wants it any more.
    private func waitForTurn() async {
        guard !isDisposed, let rateLimiter = pipeline.rateLimiter else { return }
        let (turns, turn) = AsyncStream<Void>.makeStream()
        rateLimiter.execute { [weak self] in
            turn.finish()
            return self?.isDisposed == false
        }
        // The cancellation of the work ends this too, so that its slot is free at once.
        for await _ in turns {}
    }

    override func priorityDidChange() {
        (transfer as? any DataTransfer)?.priority = priority
        ranges?.priority = priority
    }

    override func didEnd() {
        ranges = nil
        queuedWork = nil
    }

    /// Whether somebody will look, whenever something has come, if it is enough: little should come meanwhile.
    var isWatched = false {
        didSet { if isWatched != oldValue { mailbox?.isWatched = isWatched } }
    }

    /// Whether the transfer is to wait a little: somebody looks whether what has come is enough.
    var isHeld = false {
        didSet {
            guard isHeld != oldValue else { return }
            if isHeld { (transfer as? any DataTransfer)?.pause() } else { goOn() }
        }
    }

    /// Has the transfer go on, or one for the rest begin, unless something stands against it.
    private func goOn() {
        guard !isDisposed, !isHeld, ranges?.isIdle ?? true else { return }
        guard case .headOnly? = part else {
            (transfer as? any DataTransfer)?.resume()
            return
        }
        guard let loader, let loadedRequest, let response,
            let rest = RangeRequest(
                received.count..<Int(clamping: response.expectedContentLength), of: loadedRequest, answeredBy: response)
        else { return restart() }
        part = .rest(rest)
        transfer(rest.dataRequest, with: loader)
    }

    /// Loads the whole from its first byte: a part of it could not be had.
    private func restart() {
        guard let loader, let loadedRequest else { return }
        mailbox?.abandon()
        ranges = nil
        part = nil
        response = nil
        received = ReceivedData()
        transfer(loadedRequest, with: loader)
    }

    /// Loads bytes from further on, while the transfer pauses; nil if there is no way but to load everything.
    func load(_ range: Range<Int>, completion: @escaping @ImagePipelineActor (OriginalData?) -> Void) {
        guard !isDisposed, let loader, let loadedRequest, let response else { return completion(nil) }
        let ranges =
            ranges
            ?? RangeLoads(
                loader: loader, request: loadedRequest, response: response,
                limit: configuration.maximumResponseDataSize)
        self.ranges = ranges
        (transfer as? any DataTransfer)?.pause()
        ranges.load(range, receivedCount: received.count, priority: priority) { pieces in
            guard !self.isDisposed else { return }
            completion(pieces.map { OriginalData(data: self.received.prefix(with: $0), response: response) })
            // Unless that was enough, or is looked at.
            self.goOn()
        }
    }

    private func drainMailbox() {
        guard !isDisposed, let mailbox else { return }
        let (chunks, completion, isPaused) = mailbox.take()
        for chunk in chunks where !isDisposed {
            guard let response = wholeResponse(chunk.response) else { return restart() }
            receive(chunk.data, response)
        }
        guard !isDisposed else { return }
        if let completion, !endHead(completion.error) { return complete(completion.error) }
        sendPartialData()
        if isPaused || completion != nil { goOn() }
    }

    /// The response as it would be if the whole had been asked for; nil if it does not go on with what has come.
    private func wholeResponse(_ response: DataResponse) -> DataResponse? {
        switch part {
        case .head(let head):
            // A server may pass over the range, and send the whole.
            if response.statusCode != 206 { part = nil }
            return head.whole(response)
        case .rest(let rest): return rest.isAnswered(by: response) ? self.response : nil
        case .headOnly, nil: return response
        }
    }

    /// Whether the transfer that has ended brought the head alone.
    private func endHead(_ error: (any Error)?) -> Bool {
        guard case .head? = part, error == nil, received.count == HeadRequest.byteCount,
            response?.expectedContentLength ?? 0 > received.count
        else { return false }
        mailbox?.finish()
        part = .headOnly
        return true
    }

    private func receive(_ chunk: Data, _ response: DataResponse) {
        if self.response == nil {
            self.response = response
            if let error = configuration.validate(response) {
                return fail(.dataLoadingFailed(error: error))
            }
            if let limit = configuration.maximumResponseDataSize, response.expectedContentLength > limit {
                return fail(.dataDownloadExceededMaximumSize)
            }
            received.reserve(response.expectedContentLength)
        }
        guard !chunk.isEmpty else { return }
        received.append(chunk)
        if let limit = configuration.maximumResponseDataSize, received.count > limit {
            return fail(.dataDownloadExceededMaximumSize)
        }
        send(
            progress: ImageTask.Progress(
                completed: Int64(received.count), total: self.response?.expectedContentLength ?? -1))
    }

    /// Tells what has come, once for all the chunks that came together.
    private func sendPartialData() {
        guard let response, received.count > 0, response.expectedContentLength > received.count,
            arePartialValuesWanted
        else { return }
        send(value: OriginalData(data: received.prefix(), response: response))
    }

    private func complete(_ error: (any Error)?) {
        mailbox?.finish()
        defer { leaveQueue() }
        if let error { return send(error: .dataLoadingFailed(error: error)) }
        if let expected = response?.expectedContentLength, expected > received.count, received.count > 0 {
            let error = DataLoadingError.truncatedBody(received: received.count, expected: expected)
            return send(error: .dataLoadingFailed(error: error))
        }
        finish(received.prefix(), response)
    }

    /// Ends with an error of our own while the transfer goes on, and stops it.
    private func fail(_ error: ImagePipeline.Error) {
        mailbox?.abandon()
        send(error: error)
        leaveQueue()
    }

    // MARK: End

    override var currentLog: WorkLog {
        var log = log
        if let step = openStep { log.steps.append(step) }
        return log
    }

    /// The load, while it goes on.
    private var openStep: WorkLog.Step? {
        startedAt.map { WorkLog.Step(kind: .dataLoading, queuedSince: enqueuedAt, start: $0) }
    }

    private func noteEnd(byteCount: Int, failure: String? = nil) {
        guard var step = openStep else { return }
        startedAt = nil
        step.end = MonotonicClock.now
        step.outputByteCount = byteCount
        step.failure = failure
        note { $0.loading = WorkLog.Loading(response: response, bodyByteCount: byteCount) }
        note(step, for: request)
    }

    override func send(error: ImagePipeline.Error) {
        noteEnd(byteCount: received.count, failure: "\(error)")
        super.send(error: error)
    }

    private func finish(_ data: Data, _ response: DataResponse?) {
        guard !isDisposed else { return }
        if data.isEmpty { return send(error: .dataIsEmpty) }
        if let limit = configuration.maximumResponseDataSize, data.count > limit {
            return send(error: .dataDownloadExceededMaximumSize)
        }
        noteEnd(byteCount: data.count)
        var original = OriginalData(data: data, response: response)
        if pipeline.hasDataCache { pipeline.store(&original, for: imageTasks) }
        send(value: original, isCompleted: true)
    }
}
