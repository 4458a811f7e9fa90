#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the bytes of a request: from the disk cache, under the request's own key or the original's, or loaded.
///
/// An image closure brings no bytes: its image is encoded.
final class TaskLoadData: TaskNode<ImageResponse> {
    private let pipeline: ImagePipeline
    private let request: ImageRequest

    init(_ pipeline: ImagePipeline, _ request: ImageRequest) {
        self.pipeline = pipeline
        self.request = request
        super.init()
    }

    override func start() {
        guard pipeline.delegate.dataCache(for: request, pipeline: pipeline) != nil,
            !request.options.contains(.disableDiskCacheReads)
        else { return fetchOriginal() }
        let own = pipeline.dataCacheKey(for: request)
        let original = pipeline.originalDataCacheKey(for: request)
        let keys = own == original ? [own] : [own, original]
        let reading = Task { @ImagePipelineActor [pipeline, request, priority] in
            let start = MonotonicClock.now
            let found = await pipeline.cachedData(for: request, keys: keys, priority: priority)
            guard !self.isDisposed else { return }
            self.noteDataCacheLookup(key: found?.key ?? keys.first, byteCount: found?.data.count ?? 0, since: start)
            self.onCancelled = nil
            if let found { self.finish(found.data, nil, .disk) } else { self.fetchOriginal() }
        }
        onCancelled = { reading.cancel() }
    }

    private func fetchOriginal() {
        if case .image = request.resource { return fetchImage() }
        if request.options.contains(.returnCacheDataDontLoad) { return send(error: .dataMissingInCache) }
        dependency = pipeline.fetchDataNode(for: request).subscribe(self) { original, isCompleted in
            if isCompleted { self.finish(original.data, original.response, nil) }
        }
    }

    private func fetchImage() {
        var plain = request
        plain.processors = []
        if let container = pipeline.cachedImage(for: plain), !container.isPreview {
            return encode(ImageResponse(container: container, request: plain, cacheType: .memory))
        }
        if request.options.contains(.returnCacheDataDontLoad) { return send(error: .dataMissingInCache) }
        dependency = pipeline.fetchImageNode(for: plain, hintedBy: nil).subscribe(self) { response, isCompleted in
            if isCompleted { self.encode(response) }
        }
    }

    private func encode(_ response: ImageResponse) {
        let encoding = ImageEncodingJob(response.container, for: request, nil, in: pipeline)
        let enqueued = MonotonicClock.now
        operation = pipeline.configuration.imageEncodingQueue.add(
            priority: priority, onCodecThread: { Timed { Result { try encoding.run() } } }
        ) { timed in
            guard !self.isDisposed else { return }
            self.note(
                WorkLog.Step(
                    kind: .encoding, queuedSince: enqueued, start: timed.start, end: timed.end,
                    outputByteCount: (try? timed.value.get())?.count ?? 0))
            switch timed.value {
            case .success(let data): self.finish(data, nil, response.cacheType)
            case .failure(let error): self.send(error: .dataLoadingFailed(error: error))
            }
        }
    }

    private func finish(_ data: Data, _ response: DataResponse?, _ cacheType: ImageResponse.CacheType?) {
        let container = ImageContainer(image: .blank, data: data)  // nobody looks at the image of a data task
        send(
            value: ImageResponse(
                container: container, request: request, dataResponse: response, cacheType: cacheType),
            isCompleted: true)
    }
}
