internal import Synchronization

/// A flag that codecs look at while they work, since `Task.isCancelled` is always false on codec threads.
public final class CancellationFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Creates a flag that is not set.
    public init() {}

    /// Whether the work is no longer wanted.
    ///
    /// Costs one atomic load; ask at least every 64 rows.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Sets the flag, for good.
    public func cancel() { flag.store(true, ordering: .relaxed) }

    /// Throws `ImageDecodingError.cancelled` if the flag is set.
    public func check() throws(ImageDecodingError) {
        if isCancelled { throw .cancelled }
    }
}
