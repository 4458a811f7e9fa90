import NukeCore

/// A lock that closures and tasks can share.
public final class Locked<State>: Sendable {
    private let lock: Lock<State>

    /// Creates an unlocked lock around `state`.
    public init(_ state: consuming sending State) { lock = Lock(state) }

    /// Runs `body` with exclusive access to the state.
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result { try lock.withLock(body) }
}
