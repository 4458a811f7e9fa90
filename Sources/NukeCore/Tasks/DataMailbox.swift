#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where a loader's callbacks leave what they bring, on whatever thread, until the pipeline's actor takes it.
///
/// Keeps the order by construction: callbacks append under a lock, and at most one hop to the actor is pending, which
/// takes everything there is. Above 1 MB waiting, or with anything waiting of a large response that is watched, the transfer is
/// paused; it is for the actor to let it go on.
final class DataMailbox: Sendable {
    struct Chunk: Sendable {
        let data: Data
        let response: DataResponse
    }

    struct Completion: Sendable {
        let error: (any Error)?
    }

    private struct State {
        var chunks: [Chunk] = []
        var byteCount = 0
        var completion: Completion?
        /// Until it is opened, nothing has to come for what is left.
        var isDrainScheduled = true
        var isPaused = false
        var isWatched = false
        var isAbandoned = false
        var isFinished = false
        var transfer: (any Cancellable)?
        var drain: (@ImagePipelineActor @Sendable () -> Void)?
    }

    private static let pauseThreshold = 1 << 20

    private let state: Lock<State>

    /// Whether somebody looks after each step whether what has come is enough, so that nothing should come meanwhile.
    ///
    /// False by default. Responses of up to 1 MB come without pauses in any case.
    var isWatched: Bool {
        get { state.withLock { $0.isWatched } }
        set { state.withLock { $0.isWatched = newValue } }
    }

    /// Creates a mailbox; `drain` is called on the actor when there is something to take, and let go at the end.
    init(drain: @escaping @ImagePipelineActor @Sendable () -> Void) { state = Lock(State(drain: drain)) }

    /// Leaves bytes; ignored after the completion or once nobody wants them.
    func post(_ data: Data, _ response: DataResponse) {
        let paused = state.withLock { state -> (any DataTransfer)? in
            guard state.completion == nil, !state.isAbandoned else { return nil }
            state.chunks.append(Chunk(data: data, response: response))
            state.byteCount += data.count
            let isLarge = response.expectedContentLength > Self.pauseThreshold
            let threshold = state.isWatched && isLarge ? 0 : Self.pauseThreshold
            guard state.byteCount > threshold, !state.isPaused else { return nil }
            return state.transfer as? any DataTransfer
        }
        if let paused {
            paused.pause()
            // Only now: were it said before, the actor could resume what is not paused yet, and nobody would afterwards.
            state.withLock { $0.isPaused = true }
        }
        scheduleDrain()
    }

    /// Leaves the end of the transfer; the first one counts.
    func close(_ error: (any Error)?) {
        state.withLock { state in
            if state.completion == nil { state.completion = Completion(error: error) }
        }
        scheduleDrain()
    }

    /// Tells the mailbox what to pause and to cancel.
    func attach(_ transfer: any Cancellable) {
        let isAbandoned = state.withLock { state in
            if !state.isFinished { state.transfer = transfer }
            return state.isAbandoned
        }
        if isAbandoned { transfer.cancel() }
    }

    /// From now on the actor is told of what is left; returns whether there is something already.
    ///
    /// A loader that answers before its `loadData` returns thus costs no hop.
    func open() -> Bool {
        state.withLock { state in
            state.isDrainScheduled = false
            return !state.chunks.isEmpty || state.completion != nil
        }
    }

    /// Takes everything that is there, and tells whether the transfer was paused and is to be resumed.
    func take() -> (chunks: [Chunk], completion: Completion?, isPaused: Bool) {
        state.withLock { state in
            let taken = (state.chunks, state.completion, state.isPaused)
            state.chunks = []
            state.byteCount = 0
            state.isPaused = false
            state.isDrainScheduled = false
            return taken
        }
    }

    /// The transfer has ended and everything was taken.
    func finish() { leave { $0.isFinished = true } }

    /// Nobody wants the rest: cancels the transfer.
    func abandon() {
        let transfer = state.withLock { state in state.isFinished ? nil : state.transfer }
        leave { $0.isAbandoned = true }
        transfer?.cancel()
    }

    private func leave(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.chunks = []
            state.transfer = nil
            state.drain = nil
        }
    }

    private func scheduleDrain() {
        let drain = state.withLock { state -> (@ImagePipelineActor @Sendable () -> Void)? in
            guard !state.isDrainScheduled else { return nil }
            state.isDrainScheduled = true
            return state.drain
        }
        if let drain { Task { @ImagePipelineActor in drain() } }
    }
}
