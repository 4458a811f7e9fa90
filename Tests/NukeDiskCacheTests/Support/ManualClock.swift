import NukeCore

/// A clock for caches that is moved by hand, in seconds from a moment that no file has reached.
final class ManualClock: Sendable {
    private let nanoseconds = Lock<Int64>(4_000_000_000 * 1_000_000_000)

    var now: Int64 { nanoseconds.withLock { $0 } }

    func advance(by seconds: Double) { nanoseconds.withLock { $0 += Int64(seconds * 1e9) } }
}
