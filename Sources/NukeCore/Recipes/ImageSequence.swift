/// Responses that come one after the other until the last one, or an error: what recipes for several loads give.
///
/// Loads start with the iteration, anew for each. Cancelling the Swift task that iterates, or leaving its loop, ends what
/// is under way; cancelled, the iteration throws `cancelled`.
///
/// Recipes are made of smaller ones:
///
/// ```swift
/// let quick = ImageSequence.firstAvailable([pipeline.images(with: local), pipeline.images(with: small)])
/// let all = ImageSequence.improving([quick, pipeline.images(with: large).retrying()])
/// for try await response in all { show(response.image) }
/// ```
public struct ImageSequence: AsyncSequence, Sendable {
    /// A response; previews among them.
    public typealias Element = ImageResponse
    /// The pipeline's error.
    public typealias Failure = ImagePipeline.Error

    typealias Yield = @Sendable (ImageResponse) -> Void

    fileprivate enum Event: Sendable {
        case response(ImageResponse)
        case end(Result<Void, ImagePipeline.Error>)
    }

    /// Loads and gives what comes; returns after the last response.
    let run: @Sendable (@escaping Yield) async throws(ImagePipeline.Error) -> Void

    init(run: @escaping @Sendable (@escaping Yield) async throws(ImagePipeline.Error) -> Void) { self.run = run }

    /// Starts the loads and iterates over what they give.
    public func makeAsyncIterator() -> AsyncIterator {
        let events = producedStream { [self] (yield: @escaping @Sendable (Event) -> Void) in
            yield(.end(await outcome { yield(.response($0)) }))
        }
        return AsyncIterator(events: events.makeAsyncIterator())
    }

    /// The last response: the best that could be had.
    public func response() async throws(ImagePipeline.Error) -> ImageResponse {
        var last: ImageResponse?
        for try await response in self { last = response }
        guard let last else { throw .imageRequestMissing }
        return last
    }

    func outcome(_ yield: @escaping Yield) async -> Result<Void, ImagePipeline.Error> {
        do throws(ImagePipeline.Error) {
            return .success(try await run(yield))
        } catch {
            return .failure(error)
        }
    }

    /// Iterates over the responses.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var events: AsyncStream<Event>.Iterator
        private var hasEnded = false

        fileprivate init(events: AsyncStream<Event>.Iterator) { self.events = events }

        /// The next response; nil after the last.
        public mutating func next() async throws(ImagePipeline.Error) -> ImageResponse? {
            try await next(isolation: #isolation)
        }

        /// The next response; nil after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ImagePipeline.Error) -> ImageResponse? {
            guard !hasEnded else { return nil }
            switch await events.next(isolation: actor) {
            case .response(let response): return response
            case .end(let result):
                hasEnded = true
                try result.get()
                return nil
            case nil:  // the stream's own reaction to cancellation
                hasEnded = true
                throw .cancelled
            }
        }
    }
}

/// A stream of what `produce` gives, in a task that ends with it; cancelled when the stream is cancelled or let go.
func producedStream<Element: Sendable>(
    _ produce: @escaping @Sendable (@escaping @Sendable (Element) -> Void) async -> Void
) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream()
    let task = Task {
        await produce { continuation.yield($0) }
        continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
}
