public import NukeCore

/// A delegate that writes down what it is told, and that tests can hook into.
public final class RecordingDelegate: ImagePipeline.Delegate {
    /// What was told, in order.
    public enum Record: Equatable, Sendable {
        case created(UInt64)
        case started(UInt64)
        case progress(UInt64, Int64, Int64)
        case preview(UInt64)
        case succeeded(UInt64)
        case failed(UInt64, String)
    }

    private let log = Lock<[Record]>([])
    private let onCreated: @Sendable (ImageTask) -> Void
    private let onEvent: @ImagePipelineActor @Sendable (ImageTask, ImageTask.Event, ImagePipeline) -> Void
    private let willLoad: @Sendable (DataRequest) async throws -> DataRequest
    private let policy: (@Sendable (ImageDecodingContext) -> ImagePipeline.PreviewPolicy)?
    private let asked = Lock<[Int]>([])

    /// Creates a delegate.
    public init(
        onCreated: @escaping @Sendable (ImageTask) -> Void = { _ in },
        onEvent: @escaping @ImagePipelineActor @Sendable (ImageTask, ImageTask.Event, ImagePipeline) -> Void = {
            _, _, _ in
        },
        willLoad: @escaping @Sendable (DataRequest) async throws -> DataRequest = { $0 },
        policy: (@Sendable (ImageDecodingContext) -> ImagePipeline.PreviewPolicy)? = nil
    ) {
        self.onCreated = onCreated
        self.onEvent = onEvent
        self.willLoad = willLoad
        self.policy = policy
    }

    /// Everything so far.
    public var records: [Record] { log.withLock { $0 } }

    /// How many bytes there were each time the preview policy was asked for.
    public var policyCounts: [Int] { asked.withLock { $0 } }

    public func previewPolicy(
        for context: ImageDecodingContext, pipeline: ImagePipeline
    ) -> ImagePipeline.PreviewPolicy {
        asked.withLock { $0.append(context.data.count) }
        return policy?(context) ?? .default(for: context.data)
    }

    private func add(_ record: Record) { log.withLock { $0.append(record) } }

    public func imageTaskCreated(_ task: ImageTask, pipeline: ImagePipeline) {
        add(.created(task.taskId))
        onCreated(task)
    }

    @ImagePipelineActor
    public func imageTaskDidStart(_ task: ImageTask, pipeline: ImagePipeline) { add(.started(task.taskId)) }

    @ImagePipelineActor
    public func imageTask(_ task: ImageTask, didReceiveEvent event: ImageTask.Event, pipeline: ImagePipeline) {
        switch event {
        case .progress(let progress): add(.progress(task.taskId, progress.completed, progress.total))
        case .preview: add(.preview(task.taskId))
        case .finished(.success): add(.succeeded(task.taskId))
        case .finished(.failure(let error)): add(.failed(task.taskId, "\(error)"))
        }
        onEvent(task, event, pipeline)
    }

    @concurrent
    public func willLoadData(
        for request: ImageRequest, dataRequest: DataRequest, pipeline: ImagePipeline
    ) async throws -> DataRequest { try await willLoad(dataRequest) }
}
