#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Makes the image before any processor: decodes the data, or runs the request's image closure.
final class TaskFetchOriginalImage: TaskNode<ImageResponse> {
    private let pipeline: ImagePipeline
    private let request: ImageRequest
    private let hintingProcessor: (any ImageProcessing)?

    init(_ pipeline: ImagePipeline, _ request: ImageRequest, hintedBy processor: (any ImageProcessing)?) {
        self.pipeline = pipeline
        self.request = request
        self.hintingProcessor = processor
        super.init()
    }

    override func start() {
        if case .image(_, let closure) = request.resource { return run(closure) }
        dependency = pipeline.fetchDataNode(for: request).subscribe(self) { [weak self] original, isCompleted in
            if isCompleted { self?.decode(original) }
        }
    }

    /// Runs the closure in the data loading queue, or at once where the request says so.
    private func run(_ closure: @escaping @Sendable () async throws -> ImageContainer) {
        let work: @ImagePipelineActor () async -> Void = { [weak self] in
            let result: Result<ImageContainer, any Error>
            do { result = .success(try await closure()) } catch { result = .failure(error) }
            guard let self, !self.isDisposed else { return }
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

    private func decode(_ original: OriginalData) {
        var context = ImageDecodingContext(
            request: request, data: original.data, dataResponse: original.response)
        context.hintingProcessor = hintingProcessor
        pipeline.decode(context, for: self) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let container):
                let response = ImageResponse(
                    container: container, request: self.request, dataResponse: original.response)
                self.send(value: response, isCompleted: true)
            case .failure(let error): self.send(error: error)
            }
        }
    }
}
