import Dispatch
import NukeCore

/// Hands one value from a task to a thread that waits for it.
final class Handover<Value: Sendable>: Sendable {
    private let value = Lock<Value?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Gives the value.
    ///
    /// To be called once.
    func put(_ value: Value) {
        self.value.withLock { $0 = value }
        semaphore.signal()
    }

    /// Blocks until the value is there.
    func take() -> Value {
        semaphore.wait()
        guard let value = value.withLock({ $0 }) else { preconditionFailure("signalled without a value") }
        return value
    }
}
