#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Loading with closures. They are called on the main actor, which needs a main loop that runs; or on an executor given.
// Always later, never inside the call, and never after the task's `cancel()`.
extension ImagePipeline {
    /// Loads the image at a URL.
    @discardableResult
    public func loadImage(
        with url: URL, completion: @escaping @MainActor (Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        loadImage(with: ImageRequest(url: url), progress: nil, completion: completion)
    }

    /// Loads an image.
    @discardableResult
    public func loadImage(
        with request: ImageRequest, completion: @escaping @MainActor (Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        loadImage(with: request, progress: nil, completion: completion)
    }

    /// Loads an image and reports on the way.
    ///
    /// `progress` gets the bytes that have come and are expected and, where the call is due to a preview, the preview.
    @discardableResult
    public func loadImage(
        with request: ImageRequest,
        progress: (@MainActor (_ preview: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)?,
        completion: @escaping @MainActor (Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        let (task, events) = startTaskWithEvents(with: request)
        Task { @MainActor in
            await task.report(events, progress: { progress?($0, $1, $2) }, completion: { completion($0) })
        }
        return task
    }

    /// Loads an image; the closures are called on the executor given, one after the other.
    ///
    /// `progress` gets the bytes that have come and are expected and, where the call is due to a preview, the preview.
    @discardableResult
    public func loadImage(
        with request: ImageRequest, executor: any TaskExecutor,
        progress: (@Sendable (_ preview: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, Error>) -> Void
    ) -> ImageTask {
        let (task, events) = startTaskWithEvents(with: request)
        Task(executorPreference: executor) {
            await task.report(events, progress: { progress?($0, $1, $2) }, completion: completion)
        }
        return task
    }

    /// Loads the bytes that a request asks for, with the response that brought them; nil for cached and local bytes.
    @discardableResult
    public func loadData(
        with request: ImageRequest,
        completion: @escaping @MainActor (Result<(data: Data, response: DataResponse?), Error>) -> Void
    ) -> ImageTask {
        loadData(with: request, progress: nil, completion: completion)
    }

    /// Loads the bytes that a request asks for and reports how many have come and are expected.
    @discardableResult
    public func loadData(
        with request: ImageRequest, progress: (@MainActor (_ completed: Int64, _ total: Int64) -> Void)?,
        completion: @escaping @MainActor (Result<(data: Data, response: DataResponse?), Error>) -> Void
    ) -> ImageTask {
        let (task, events) = startTaskWithEvents(with: request, isDataTask: true)
        Task { @MainActor in
            await task.report(
                events, progress: { progress?($1, $2) }, completion: { completion($0.map(\.dataAndResponse)) })
        }
        return task
    }

    /// Loads the bytes that a request asks for; the closures are called on the executor given, one after the other.
    @discardableResult
    public func loadData(
        with request: ImageRequest, executor: any TaskExecutor,
        progress: (@Sendable (_ completed: Int64, _ total: Int64) -> Void)? = nil,
        completion: @escaping @Sendable (Result<(data: Data, response: DataResponse?), Error>) -> Void
    ) -> ImageTask {
        let (task, events) = startTaskWithEvents(with: request, isDataTask: true)
        Task(executorPreference: executor) {
            await task.report(
                events, progress: { progress?($1, $2) }, completion: { completion($0.map(\.dataAndResponse)) })
        }
        return task
    }

    /// Starts a task whose events are kept from the very first.
    func startTaskWithEvents(
        with request: ImageRequest, isDataTask: Bool = false
    ) -> (ImageTask, AsyncStream<ImageTask.Event>) {
        var events: AsyncStream<ImageTask.Event>?
        let task = startTask(with: request, isDataTask: isDataTask, isMemoryChecked: isDataTask) {
            events = $0.events
        }
        return (task, events ?? task.events)
    }
}

extension ImageResponse {
    fileprivate var dataAndResponse: (data: Data, response: DataResponse?) { (container.data ?? Data(), dataResponse) }
}

extension ImageTask {
    /// Calls closures, on the caller's actor or executor, as events come; not once the task was asked to cancel.
    ///
    /// Looked at right before each call: what is cancelled on that actor hears nothing more, also of what waits there.
    fileprivate nonisolated(nonsending) func report(
        _ events: AsyncStream<Event>, progress: (ImageResponse?, Int64, Int64) -> Void,
        completion: (Result<ImageResponse, ImagePipeline.Error>) -> Void
    ) async {
        var current = Progress(completed: 0, total: 0)
        for await event in events where !isCancelled {
            switch event {
            case .progress(let new):
                current = new
                progress(nil, current.completed, current.total)
            case .preview(let response): progress(response, current.completed, current.total)
            case .finished(let result): completion(result)
            }
        }
    }
}
