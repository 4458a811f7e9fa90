internal import Dispatch
internal import NukeCore

/// One drawing on the threads of SVG, which is waited for no longer than it may take.
///
/// librsvg before 2.59 can't be interrupted while it draws: whoever waits then gets an error, and the thread stays taken until the
/// drawing is over.
final class SVGJob: Sendable {
    private typealias Outcome = Result<Bitmap, ImageDecodingError>

    private struct State {
        /// Nil once it has begun, or is no longer wanted.
        var work: (@Sendable () throws(ImageDecodingError) -> Bitmap)?
        var started: SuspendingClock.Instant?
        var outcome: Outcome?
        var waiter: (@Sendable (Outcome) -> Void)?
    }

    private let state: Lock<State>
    private let enqueued = SuspendingClock.now
    private let seconds: Double
    private let threads: SVGThreads
    private let interruption: SVGInterruption?

    /// Puts a drawing into the queue.
    ///
    /// - Parameters:
    ///   - seconds: How long it may take, and how long it waits for a thread while none of them gets anything done.
    ///   - threads: What runs it.
    ///   - interruption: What the work looks at; nil if it looks at nothing.
    init(
        seconds: Double, priority: ImageRequest.Priority, threads: SVGThreads, interruption: SVGInterruption?,
        _ work: @escaping @Sendable () throws(ImageDecodingError) -> Bitmap
    ) {
        state = Lock(State(work: work))
        self.seconds = max(0, min(seconds, 1e9))
        self.threads = threads
        self.interruption = interruption
        threads.enqueue(priority: priority) { self.begin() }
    }

    private func begin() {
        let work = state.withLock { state in
            state.started = .now
            defer { state.work = nil }
            return state.outcome == nil ? state.work : nil
        }
        guard let work else { return }
        let outcome: Outcome
        do throws(ImageDecodingError) { outcome = .success(try work()) } catch { outcome = .failure(error) }
        finish(outcome)
    }

    /// Ends the waiting; the first outcome counts.
    private func finish(_ outcome: Outcome) {
        let waiter = state.withLock { state -> (@Sendable (Outcome) -> Void)? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            state.work = nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?(outcome)
    }

    private func abandon(_ error: ImageDecodingError) {
        finish(.failure(error))
        interruption?.interrupt()
    }

    /// When it will have taken too long, as things stand.
    private var deadline: SuspendingClock.Instant {
        let started = state.withLock { $0.started }
        return (started ?? max(enqueued, threads.lastProgress)) + .seconds(seconds)
    }

    private var isOver: Bool { state.withLock { $0.outcome != nil } }

    private var tookTooLong: ImageDecodingError {
        let hasStarted = state.withLock { $0.started != nil }
        return .limitExceeded(
            hasStarted
                ? "drawing takes longer than \(seconds) s"
                : "the threads that draw are held by other pictures, for longer than \(seconds) s",
            codec: ImageDecoders.SVG.codec)
    }

    /// Calls `body` with the outcome, at once if there is one.
    private func whenOver(_ body: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.waiter = body }
            return state.outcome
        }
        if let outcome { body(outcome) }
    }

    /// The picture, with the calling task suspended meanwhile; once that is cancelled, `cancelled` at once.
    func image() async throws(ImageDecodingError) -> Bitmap {
        let timer = Task {
            while !isOver, !Task.isCancelled {
                let deadline = deadline
                if deadline <= .now { return abandon(tookTooLong) }
                try? await Task.sleep(until: deadline, clock: .suspending)
            }
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in whenOver { continuation.resume(returning: $0) } }
        } onCancel: {
            abandon(.cancelled)
        }
        timer.cancel()
        return try outcome.get()
    }

    /// The picture, with the calling thread blocked meanwhile; looks at the flag every few milliseconds.
    func image(cancellation: CancellationFlag) throws(ImageDecodingError) -> Bitmap {
        let semaphore = DispatchSemaphore(value: 0)
        whenOver { _ in semaphore.signal() }
        while semaphore.wait(timeout: .now() + .milliseconds(10)) == .timedOut {
            if cancellation.isCancelled {
                abandon(.cancelled)
            } else if deadline <= .now {
                abandon(tookTooLong)
            }
        }
        guard let outcome = state.withLock({ $0.outcome }) else { throw tookTooLong }
        return try outcome.get()
    }
}
