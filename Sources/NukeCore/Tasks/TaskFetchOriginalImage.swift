#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the image before any processor: decodes the data, or runs the request's image closure.
///
/// Partial values are previews, decoded while the data arrives. One decoder serves all of them and the final image; it is
/// asked for one thing at a time.
final class TaskFetchOriginalImage: TaskNode<ImageResponse> {
    private let pipeline: ImagePipeline
    private let request: ImageRequest
    private let hintingProcessor: (any ImageProcessing)?
    private var previews: PreviewSchedule
    private var previewState = PreviewState.idle
    /// The decoder, once there was one for partial data, with what it was made from.
    private var session: DecodingSession?
    /// The newest bytes that no preview was made of.
    private var newest: OriginalData?
    /// All the bytes, while the decoder is still busy with a preview.
    private var complete: OriginalData?

    private enum PreviewState { case idle, queued, decoding, waitingForRange }

    /// Whether the data's format may give the final image early: decoders of such formats are asked in any case.
    private var earlyFinish: EarlyFinish {
        didSet { dataNode?.isWatched = earlyFinish != .impossible }
    }

    private enum EarlyFinish { case unknown, possible, impossible }

    private var dataNode: TaskFetchOriginalData?
    /// The decoder has asked for ranges: only they count from then on.
    private var hasAskedForRanges = false

    init(_ pipeline: ImagePipeline, _ request: ImageRequest, hintedBy processor: (any ImageProcessing)?) {
        self.pipeline = pipeline
        self.request = request
        self.hintingProcessor = processor
        previews = PreviewSchedule(interval: pipeline.configuration.progressiveDecodingInterval)
        let formats = pipeline.configuration.decoderRegistry.formats
        earlyFinish = formats.contains { $0.capabilities.contains(.finishesEarly) } ? .unknown : .impossible
        super.init()
    }

    override func start() {
        if case .image(_, let closure) = request.resource { return run(closure) }
        let node = pipeline.fetchDataNode(for: request)
        dataNode = node as? TaskFetchOriginalData
        if earlyFinish != .impossible { dataNode?.isWatched = true }
        dependency = node.subscribe(self) { original, isCompleted in
            if isCompleted { self.decode(original) } else { self.decodePreview(of: original) }
        }
    }

    /// Runs the closure in the data loading queue, or at once where the request says so.
    private func run(_ closure: @escaping @Sendable () async throws -> ImageContainer) {
        let enqueued = MonotonicClock.now
        let work: @ImagePipelineActor () async -> Void = {
            let start = MonotonicClock.now
            let result: Result<ImageContainer, any Error>
            do { result = .success(try await closure()) } catch { result = .failure(error) }
            guard !self.isDisposed else { return }
            self.note(
                WorkLog.Step(
                    kind: .dataLoading, queuedSince: enqueued, start: start, end: MonotonicClock.now,
                    outputByteCount: (try? result.get())?.image.byteCount ?? 0))
            switch result {
            case .success(let container):
                self.send(value: ImageResponse(container: container, request: self.request), isCompleted: true)
            case .failure(let error): self.send(error: .dataLoadingFailed(error: error))
            }
        }
        if request.options.contains(.skipDataLoadingQueue) {
            let task = Task { @ImagePipelineActor in await work() }
            onCancelled = { task.cancel() }
        } else {
            operation = pipeline.configuration.dataLoadingQueue.add(priority: priority, work)
        }
    }

    // MARK: Final image

    /// Decodes everything; a preview that waits for its turn is given up, one under way is let end.
    private func decode(_ original: OriginalData) {
        newest = nil
        guard previewState != .decoding else { return complete = original }
        operation?.cancel()
        let session = session ?? DecodingSession(decoder: nil, context: context(for: original))
        pipeline.decode(session.completed(with: original), with: session.decoder, for: self) { result in
            // Tasks that joined while the image was decoded came too late for the download to see them.
            var original = original
            if self.pipeline.hasDataCache { self.pipeline.store(&original, for: self.imageTasks) }
            switch result {
            case .success(let container): self.finish(container, original.response)
            case .failure(let error): self.send(error: error)
            }
        }
    }

    private func context(for original: OriginalData) -> ImageDecodingContext {
        var context = ImageDecodingContext(
            request: request, data: original.data, dataResponse: original.response)
        context.hintingProcessor = hintingProcessor
        context.limits = pipeline.configuration.imageLimits
        context.truncationPolicy = pipeline.configuration.truncationPolicy
        context.previewPolicy = previews.policy
        return context
    }

    private func finish(_ container: ImageContainer, _ response: DataResponse?) {
        send(
            value: ImageResponse(container: container, request: request, dataResponse: response), isCompleted: true)
    }

    override func didEnd() {
        dataNode?.isWatched = false
        dataNode?.isHeld = false
        dataNode = nil
        session = nil
        newest = nil
        complete = nil
    }

    // MARK: Previews

    override var wantsPartialValues: Bool {
        !hasAskedForRanges && (arePreviewsEnabled && !previews.isOver || earlyFinish != .impossible)
    }

    private var arePreviewsEnabled: Bool { pipeline.configuration.isProgressiveDecodingEnabled }

    private func decodePreview(of partial: OriginalData) {
        guard wantsPartialValues else { return }
        newest = partial
        decodePreview()
    }

    /// Starts a preview of the newest bytes, unless it is too early for one or another is not done yet.
    private func decodePreview() {
        guard previewState == .idle, let newest else { return }
        if arePreviewsEnabled, !hasAskedForRanges, previews.needsPolicy(byteCount: newest.data.count) {
            var context = context(for: newest)
            context.isCompleted = false
            let policy = pipeline.delegate.previewPolicy(for: context, pipeline: pipeline)
            previews.resolve(policy, byteCount: newest.data.count)
        }
        let isDue =
            hasAskedForRanges || canFinishEarly(newest.data) || previews.isDue(at: pipeline.configuration.now())
        guard isDue, let decoder = makeDecoder(for: newest) else { return }
        if decoder.isAsynchronous { return enqueuePreview() }
        if let (session, partial) = takeNewest() {
            finishPreview(Timed { session.decodePartially(partial.data, memory: previewMemory) }, of: partial)
        }
    }

    private func canFinishEarly(_ data: Data) -> Bool {
        if earlyFinish == .unknown {
            let formats = pipeline.configuration.decoderRegistry.formats
            if let format = formats.first(where: { $0.matches(data, isCompleted: false) == .yes }) {
                earlyFinish = format.capabilities.contains(.finishesEarly) ? .possible : .impossible
            } else if data.count >= ImageFormat.Prefix.maximumCount {
                earlyFinish = .impossible
            }
        }
        return earlyFinish == .possible
    }

    /// The decoder of this load; nil if the data so far is too little for one.
    private func makeDecoder(for partial: OriginalData) -> (any ImageDecoding)? {
        if let session { return session.decoder }
        var context = context(for: partial)
        context.isCompleted = false
        guard let decoder = pipeline.delegate.imageDecoder(for: context, pipeline: pipeline) else { return nil }
        session = DecodingSession(decoder: decoder, context: context)
        return decoder
    }

    private func enqueuePreview() {
        previewState = .queued
        // It may be that nothing more is needed: what comes meanwhile would be loaded for nothing.
        if earlyFinish == .possible { dataNode?.isHeld = true }
        operation = pipeline.configuration.imageDecodingQueue.add(priority: priority) { operation in
            guard !self.isDisposed, let (session, partial) = self.takeNewest() else {
                // Nobody looks at anything: the transfer goes on, for whoever else needs it.
                self.dataNode?.isHeld = false
                return operation.finish()
            }
            let memory = self.previewMemory
            operation.onCancel = { session.context.cancellation.cancel() }
            operation.run({ Timed { session.decodePartially(partial.data, memory: memory) } }) { outcome in
                if !self.isDisposed { self.finishPreview(outcome, of: partial) }
            }
        }
    }

    /// What to decode, now that it is this preview's turn: whatever came while it waited counts.
    private func takeNewest() -> (DecodingSession, OriginalData)? {
        guard let session, let newest else { return nil }
        previewState = .decoding
        self.newest = nil
        return (session, newest)
    }

    private var previewMemory: DecodingSession.Memory {
        DecodingSession.Memory(
            budget: pipeline.memoryBudget, reservation: reservation,
            processors: pipeline.processors(after: request, for: self), priority: priority)
    }

    private func finishPreview(
        _ timed: Timed<(DecodingSession.Outcome, MemoryBudget.Reservation?)>, of partial: OriginalData
    ) {
        previewState = .idle
        operation = nil
        defer { dataNode?.isHeld = false }
        let (outcome, reservation) = timed.value
        self.reservation = reservation
        notePreview(outcome, from: timed.start, to: timed.end)
        switch outcome {
        case .final(let container):
            // Nobody here needs the rest; the transfer ends, unless others do.
            leaveDependency()
            finish(container, partial.response)
        case .preview(let container) where complete == nil && previews.policy != .disabled:
            previews.previewed(at: pipeline.configuration.now())
            send(value: ImageResponse(container: container, request: request, dataResponse: partial.response))
        case .needsRange(let range) where complete == nil: return load(range)
        case .preview, .nothing, .needsRange: break
        }
        guard !isDisposed else { return }
        if let complete { decode(complete) } else { decodePreview() }
    }

    /// Asks for what the decoder can't wait for; without it the whole is loaded.
    private func load(_ range: Range<Int>) {
        previewState = .waitingForRange
        hasAskedForRanges = true
        newest = nil
        guard let dataNode else { return }
        dataNode.load(range) { partial in
            guard !self.isDisposed, self.previewState == .waitingForRange else { return }
            self.previewState = .idle
            self.newest = partial
            self.decodePreview()
        }
    }

    private func notePreview(_ outcome: DecodingSession.Outcome, from start: Double, to end: Double) {
        let image: Bitmap
        switch outcome {
        case .nothing, .needsRange: return
        case .preview(let container), .final(let container): image = container.image
        }
        guard let decoder = session?.decoder else { return }
        note(
            WorkLog.Step(
                kind: .previewDecoding, subject: .decoder(type(of: decoder)), start: start, end: end,
                outputByteCount: image.byteCount))
    }
}
