internal import NukeCore

/// A clock that tests set: for players, pipelines, retries and everything else that takes a `Clock`.
///
/// Time passes when the test says so, and no other way, so nothing depends on how fast the machine is.
public final class ManualClock: Clock {
    /// A moment on the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public var offset: Duration

        /// The moment this long after; before, if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from here to another moment.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether one moment is before another.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleeps: [Duration] = []
        var sleepers: [Int: Sleeper] = [:]
        var lastKey = 0
    }

    private let state = Lock(State())

    /// Creates a clock that stands still.
    public init() {}

    /// The moment that the clock was set to last.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: it is set as finely as durations are.
    public var minimumResolution: Duration { .zero }

    /// How long each sleep so far was asked to be, in order.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Lets time pass, or go back, and wakes those whose time has come.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now.offset += duration
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
            for (key, _) in due { state.sleepers[key] = nil }
            return due.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns when the clock has been set to the deadline, or past it.
    ///
    /// Throws `CancellationError` when the Swift task is cancelled. The tolerance is ignored.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let key = state.withLock { state in
            state.lastKey += 1
            state.sleeps.append(state.now.duration(to: deadline))
            return state.lastKey
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isAwake = state.withLock { state in
                    guard deadline > state.now, !Task.isCancelled else { return true }
                    state.sleepers[key] = Sleeper(deadline: deadline, continuation: continuation)
                    return false
                }
                if isAwake { continuation.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: key) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
