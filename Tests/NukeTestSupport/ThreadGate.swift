import Dispatch

/// Holds back threads, such as those of codecs, until it is opened.
public final class ThreadGate: Sendable {
    private let group = DispatchGroup()

    /// Creates a closed gate.
    public init() { group.enter() }

    /// Blocks the calling thread until the gate is open.
    public func wait() { group.wait() }

    /// Lets every thread through, now and later.
    ///
    /// To be called once.
    public func open() { group.leave() }
}
