import Glibc
import NukeCore
import NukeTestSupport

/// Tells calls whether another one is under way, for faults that show only then.
///
/// On the threads of a suite a call waits for another to come, so that no luck is needed to find the fault.
final class Crowd: Sendable {
    private let count = Lock(0)

    /// Calls `body` with whether somebody else is inside.
    func enter<Result>(_ body: (Bool) throws -> Result) rethrows -> Result {
        count.withLock { $0 += 1 }
        defer { count.withLock { $0 -= 1 } }
        guard Self.isThreadOfSuite else { return try body(false) }
        for _ in 0..<20_000 where count.withLock({ $0 }) == 1 { sched_yield() }
        return try body(count.withLock { $0 } > 1)
    }

    private static var isThreadOfSuite: Bool {
        (try? File.read("/proc/thread-self/comm"))?.starts(with: "conformance".utf8) ?? false
    }
}
