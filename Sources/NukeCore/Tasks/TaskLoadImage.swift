#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the final image of a request: from a cache, or from the image that lacks the last processor, or the original.
///
/// Looks in memory, then on disk, under the request's own key; then lets a node for one processor fewer do the same, and
/// applies the last processor to what that gives. Without processors it comes to the original image.
///
/// Partial values are previews: they go the same way, except that one that comes while another is being processed is dropped.
final class TaskLoadImage: TaskNode<ImageResponse> {
    private let pipeline: ImagePipeline
    private let request: ImageRequest
    private let hintingProcessor: (any ImageProcessing)?
    private let isMemoryChecked: Bool
    private var isProcessingPreview = false

    init(
        _ pipeline: ImagePipeline, _ request: ImageRequest, hintedBy processor: (any ImageProcessing)?,
        isMemoryChecked: Bool
    ) {
        self.pipeline = pipeline
        self.request = request
        self.hintingProcessor = processor
        self.isMemoryChecked = isMemoryChecked
        super.init()
    }

    override func start() {
        if !isMemoryChecked, let container = findInMemory() {
            let response = ImageResponse(container: container, request: request, cacheType: .memory)
            send(value: response, isCompleted: !container.isPreview)
            if !container.isPreview { return }
        }
        guard pipeline.delegate.dataCache(for: request, pipeline: pipeline) != nil,
            !request.options.contains(.disableDiskCacheReads)
        else { return loadFurther() }
        readCachedData()
    }

    private func findInMemory() -> ImageContainer? {
        let lookup = Timed { pipeline.cachedImage(for: request) }
        note(
            WorkLog.Step(
                kind: .memoryCacheLookup, start: lookup.start, end: lookup.end,
                outputByteCount: lookup.value?.image.byteCount ?? 0))
        return lookup.value
    }

    // MARK: Disk

    private func readCachedData() {
        var keys = [pipeline.dataCacheKey(for: request)]
        // The original data serves a thumbnail or a poster as well as a result stored under its own key.
        if request.thumbnail != nil || request.videoPoster != nil, request.processors.isEmpty {
            keys.append(pipeline.originalDataCacheKey(for: request))
        }
        readCachedData(keys[...])
    }

    private func readCachedData(_ keys: ArraySlice<String>) {
        let reading = Task { @ImagePipelineActor [pipeline, request, priority] in
            let start = MonotonicClock.now
            let found = await pipeline.cachedData(for: request, keys: Array(keys), priority: priority)
            guard !self.isDisposed else { return }
            self.noteDataCacheLookup(key: found?.key ?? keys.first, byteCount: found?.data.count ?? 0, since: start)
            self.onCancelled = nil
            guard let found else { return self.loadFurther() }
            let others = keys.drop { $0 != found.key }.dropFirst()
            self.decode(found.data, key: found.key) {
                // An entry that can't be decoded is as good as none.
                if others.isEmpty { self.loadFurther() } else { self.readCachedData(others) }
            }
        }
        onCancelled = { reading.cancel() }
    }

    private func decode(_ data: Data, key: String, onFailure: @escaping @ImagePipelineActor () -> Void) {
        var context = pipeline.decodingContext(for: data, key: key, request: request)
        // Without processors and thumbnail this is the whole picture, of which the first processor may need less.
        if request.processors.isEmpty, request.thumbnail == nil { context.hintingProcessor = hintingProcessor }
        pipeline.decode(context, for: self) { result in
            guard case .success(let container) = result else { return onFailure() }
            var response = ImageResponse(container: container, request: self.request, cacheType: .disk)
            response.isDecompressionNeeded = self.request.thumbnail == nil
            self.finish(response, isStored: true)
        }
    }

    // MARK: Loading

    private func loadFurther() {
        guard let processor = request.processors.last else { return fetchOriginal() }
        var shorter = request
        shorter.processors.removeLast()
        dependency = pipeline.loadImageNode(for: shorter, hintedBy: hintingProcessor)
            .subscribe(self) { response, isCompleted in
                self.process(response, isCompleted: isCompleted, with: processor)
            }
    }

    private func fetchOriginal() {
        if request.options.contains(.returnCacheDataDontLoad) { return send(error: .dataMissingInCache) }
        dependency = pipeline.fetchImageNode(for: request, hintedBy: hintingProcessor)
            .subscribe(self) { response, isCompleted in
                var response = response
                response.isDecompressionNeeded = isCompleted && self.isDecoded
                self.finish(response, isCompleted: isCompleted)
            }
    }

    /// Whether the original image is a decoder's and whole.
    private var isDecoded: Bool {
        if case .image = request.resource { return false }
        return request.thumbnail == nil
    }

    private func process(_ response: ImageResponse, isCompleted: Bool, with processor: any ImageProcessing) {
        if isCompleted { operation?.cancel() } else if isProcessingPreview { return }
        isProcessingPreview = !isCompleted
        let context = ImageProcessingContext(request: request, response: response, isCompleted: isCompleted)
        let enqueued = MonotonicClock.now
        operation = pipeline.configuration.imageProcessingQueue.add(
            priority: priority,
            onCodecThread: { Timed { Result { try processor.process(response.container, context: context) } } }
        ) { timed in
            guard !self.isDisposed, isCompleted == !self.isProcessingPreview else { return }
            self.isProcessingPreview = false
            var step = WorkLog.Step(
                kind: isCompleted ? .processing : .previewProcessing, subject: .processor(processor),
                queuedSince: enqueued, start: timed.start, end: timed.end)
            switch timed.value {
            case .success(let container): step.outputByteCount = container.image.byteCount
            case .failure(let error): step.failure = "\(error)"
            }
            self.note(step)
            switch timed.value {
            case .success(var container):
                container.originalSize = nil
                if let animation = container.animation, animation === response.container.animation {
                    let surroundings = FrameSurroundings(self.request, response)
                    container.animation = animation.adding(.processor(processor, surroundings))
                }
                if container.isPreview == isCompleted { container.isPreview = !isCompleted }
                var response = response
                if container.image !== response.image { response.isDecompressionNeeded = false }
                response.container = container
                self.finish(response, isCompleted: isCompleted)
            case .failure(let error):
                guard isCompleted else { return }  // a preview less
                self.send(error: .processingFailed(processor: processor, context: context, error: error))
            }
        }
    }

    // MARK: Result

    /// Has the image decompressed where the delegate wants that, and delivers it.
    ///
    /// `isStored` says that the image is from the disk and need not go there again.
    private func finish(_ response: ImageResponse, isCompleted: Bool = true, isStored: Bool = false) {
        guard isCompleted, hasDirectImageTasks, pipeline.needsDecompression(response, for: request) else {
            return deliver(response, isCompleted: isCompleted, isStored: isStored)
        }
        let enqueued = MonotonicClock.now
        operation = pipeline.configuration.imageDecompressingQueue.add(
            priority: priority,
            onCodecThread: { [pipeline, request] in
                Timed { pipeline.delegate.decompress(response: response, request: request, pipeline: pipeline) }
            }
        ) { timed in
            guard !self.isDisposed else { return }
            var decompressed = timed.value
            decompressed.isDecompressionNeeded = false
            self.note(
                WorkLog.Step(
                    kind: .decompression, queuedSince: enqueued, start: timed.start, end: timed.end,
                    outputByteCount: decompressed.image.byteCount))
            self.deliver(decompressed, isCompleted: true, isStored: isStored)
        }
    }

    private func deliver(_ response: ImageResponse, isCompleted: Bool, isStored: Bool) {
        var response = response
        response.request = request
        // Only what somebody asked for is stored; steps on the way there would push other images out.
        let isAskedFor = hasDirectImageTasks
        if isAskedFor { pipeline.storeImage(response.container, for: request) }
        send(value: response, isCompleted: isCompleted)
        if isCompleted, isAskedFor, !isStored { pipeline.storeEncodedImage(response, for: request) }
    }
}
