import Dispatch
public import FoundationEssentials
public import NukeCore

/// A loader whose answers tests set, or send piece by piece.
public final class MockDataLoader: DataLoading {
    /// What a URL answers with.
    public struct Answer: Sendable {
        /// The chunks of the body.
        public var chunks: [Data]
        /// The response; by default status 200 with the length of the chunks.
        public var response: DataResponse?
        /// The error at the end.
        public var error: (any Error)?

        /// An answer of these chunks.
        public init(chunks: [Data], response: DataResponse? = nil, error: (any Error)? = nil) {
            self.chunks = chunks
            self.response = response
            self.error = error
        }
    }

    private struct State {
        var answers: [String: Answer] = [:]
        var fallback: Answer? = Answer(chunks: [Data(repeating: 1, count: 22789)])
        var isSuspended = false
        var transfers: [MockTransfer] = []
        var removedURLs: [String] = []
        var removeAllCount = 0
    }

    private let state = Lock(State())
    private let queue = DispatchQueue(label: "MockDataLoader")

    /// Creates a loader that answers every URL with 22,789 bytes at once.
    public init() {}

    /// Makes one URL answer with this.
    public func answer(_ url: String, with answer: Answer) { state.withLock { $0.answers[url] = answer } }

    /// Makes every other URL answer with this; nil: wait for the test to send.
    public func answerEverything(with answer: Answer?) { state.withLock { $0.fallback = answer } }

    /// While true, transfers are made and nothing is sent; setting false sends what waits.
    public var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            let waiting = state.withLock { state in
                state.isSuspended = newValue
                return newValue ? [] : state.transfers
            }
            for transfer in waiting { start(transfer) }
        }
    }

    /// Every transfer so far, in the order of the calls.
    public var transfers: [MockTransfer] { state.withLock { $0.transfers } }

    /// How many loads were asked for.
    public var loadCount: Int { transfers.count }

    /// How many loads were cancelled.
    public var cancelCount: Int { transfers.filter(\.isCancelled).count }

    /// The URLs of which the loader was told to forget what it keeps.
    public var removedURLs: [String] { state.withLock { $0.removedURLs } }

    /// How often the loader was told to forget all it keeps.
    public var removeAllCount: Int { state.withLock { $0.removeAllCount } }

    public func removeData(for request: DataRequest) {
        state.withLock { $0.removedURLs.append(request.url?.absoluteString ?? "") }
    }

    public func removeAllData() { state.withLock { $0.removeAllCount += 1 } }

    public func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let transfer = MockTransfer(request: request, didReceiveData: didReceiveData, completion: completion)
        let isStarting = state.withLock { state in
            state.transfers.append(transfer)
            return !state.isSuspended
        }
        if isStarting { start(transfer) }
        return transfer
    }

    private func start(_ transfer: MockTransfer) {
        let text = transfer.request.url?.absoluteString ?? ""
        guard let answer = state.withLock({ $0.answers[text] ?? $0.fallback }), transfer.markStarted() else { return }
        queue.async {
            let length = answer.chunks.reduce(0) { $0 + $1.count }
            let response =
                answer.response
                ?? DataResponse(
                    url: transfer.request.url, statusCode: 200, expectedContentLength: Int64(length))
            for chunk in answer.chunks where !transfer.isCancelled { transfer.send(chunk, response) }
            if !transfer.isCancelled { transfer.finish(answer.error) }
        }
    }
}

/// One load of a `MockDataLoader`.
public final class MockTransfer: DataTransfer {
    private struct State {
        var isStarted = false
        var isCancelled = false
        var isPaused = false
        var pauseCount = 0
        var priority = ImageRequest.Priority.normal
        var priorities: [ImageRequest.Priority] = []
    }

    /// What was asked for.
    public let request: DataRequest
    private let didReceiveData: @Sendable (Data, DataResponse) -> Void
    private let completion: @Sendable ((any Error)?) -> Void
    private let state = Lock(State())

    init(
        request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        self.request = request
        self.didReceiveData = didReceiveData
        self.completion = completion
    }

    /// Delivers bytes, whatever the state: a loader may be as rude.
    public func send(_ data: Data, _ response: DataResponse) { didReceiveData(data, response) }

    /// Delivers the end.
    public func finish(_ error: (any Error)? = nil) { completion(error) }

    /// Whether it was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether it is paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// How often it was paused.
    public var pauseCount: Int { state.withLock { $0.pauseCount } }

    /// The priorities that it was given, in order.
    public var priorities: [ImageRequest.Priority] { state.withLock { $0.priorities } }

    public var priority: ImageRequest.Priority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { state in
                state.priority = newValue
                state.priorities.append(newValue)
            }
        }
    }

    public func pause() {
        state.withLock { state in
            state.isPaused = true
            state.pauseCount += 1
        }
    }

    public func resume() { state.withLock { $0.isPaused = false } }

    public func cancel() { state.withLock { $0.isCancelled = true } }

    fileprivate func markStarted() -> Bool {
        state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isCancelled
        }
    }
}
