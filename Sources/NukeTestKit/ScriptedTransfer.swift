public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// One load of a `ScriptedLoader`.
public final class ScriptedTransfer: DataTransfer {
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

    /// How urgent it is; settings are kept in `priorities`.
    public var priority: ImageRequest.Priority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { state in
                state.priority = newValue
                state.priorities.append(newValue)
            }
        }
    }

    /// Takes note, and counts: what was scripted goes on.
    public func pause() {
        state.withLock { state in
            state.isPaused = true
            state.pauseCount += 1
        }
    }

    /// Takes note.
    public func resume() { state.withLock { $0.isPaused = false } }

    /// Takes note, and sends nothing more of what was scripted.
    public func cancel() { state.withLock { $0.isCancelled = true } }

    /// Whether this is the first time, and the load is still wanted.
    func markStarted() -> Bool {
        state.withLock { state in
            defer { state.isStarted = true }
            return !state.isStarted && !state.isCancelled
        }
    }
}
