internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A load of a `ThrottledLoader`: what came waits in line, and a task hands it on.
final class ThrottledTransfer: DataTransfer {
    private enum Event: Sendable {
        case data(Data, DataResponse)
        case end((any Error)?)
    }

    private struct State {
        var events: [Event] = []
        var isPaused = false
        var isCancelled = false
        var priority = ImageRequest.Priority.normal
        var source: (any Cancellable)?
        var task: Task<Void, Never>?
        /// The task, where it waits for something to do.
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let pace: ThrottledLoader.Pace
    private let didReceiveData: @Sendable (Data, DataResponse) -> Void
    private let completion: @Sendable ((any Error)?) -> Void
    private let state = Lock(State())

    init(
        pace: ThrottledLoader.Pace, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        self.pace = pace
        self.didReceiveData = didReceiveData
        self.completion = completion
    }

    func start(_ loader: any DataLoading, _ request: DataRequest) {
        let source = loader.loadData(
            with: request,
            didReceiveData: { data, response in self.change { $0.events.append(.data(data, response)) } },
            completion: { error in self.change { $0.events.append(.end(error)) } })
        state.withLock { $0.source = source }
        let task = Task { await run() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    // MARK: Control

    var priority: ImageRequest.Priority {
        get { state.withLock { $0.priority } }
        set {
            change { $0.priority = newValue }
            (state.withLock { $0.source } as? any DataTransfer)?.priority = newValue
        }
    }

    func pause() { change { $0.isPaused = true } }

    func resume() { change { $0.isPaused = false } }

    func cancel() {
        let (source, task) = state.withLock { state in
            state.isCancelled = true
            state.events = []
            return (state.source, state.task)
        }
        source?.cancel()
        task?.cancel()
        change { _ in }
    }

    /// Changes the state, and wakes the task so that it looks again.
    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    // MARK: Handing on

    private func run() async {
        var isFirst = true
        while let event = await next() {
            if isFirst { await wait(pace.latency) }
            isFirst = false
            switch event {
            case .data(let data, let response):
                if data.isEmpty { await call { didReceiveData(data, response) } }
                for start in stride(from: 0, to: data.count, by: pace.chunkSize) {
                    let chunk = data.dropFirst(start).prefix(pace.chunkSize)
                    await wait(.seconds(Double(chunk.count) / pace.bytesPerSecond))
                    await call { didReceiveData(Data(chunk), response) }
                }
            case .end(let error):
                await call { completion(error) }
                return
            }
        }
    }

    /// The next event, when there is one; nil once the load is cancelled.
    private func next() async -> Event? {
        while true {
            let (event, isOver) = state.withLock { state in
                let isReady = !state.isPaused && !state.events.isEmpty
                return (isReady ? state.events.removeFirst() : nil, state.isCancelled)
            }
            if isOver { return nil }
            if let event { return event }
            await sleepUntilChanged { $0.isPaused || $0.events.isEmpty }
        }
    }

    /// Calls back, once the load is not paused, unless it is cancelled.
    private func call(_ body: () -> Void) async {
        while true {
            let (isPaused, isCancelled) = state.withLock { ($0.isPaused, $0.isCancelled) }
            if isCancelled { return }
            if !isPaused { return body() }
            await sleepUntilChanged(\.isPaused)
        }
    }

    private func sleepUntilChanged(_ isIdle: @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isAwake = state.withLock { state in
                guard !state.isCancelled, isIdle(state) else { return true }
                state.waiting = continuation
                return false
            }
            if isAwake { continuation.resume() }
        }
    }

    private func wait(_ duration: Duration) async {
        // Cancelled, it wakes early, and what follows sees so.
        if duration > .zero { try? await pace.clock.sleep(for: duration) }
    }
}
