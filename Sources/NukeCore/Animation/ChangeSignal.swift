/// Tells those who wait that something was changed.
final class ChangeSignal: Sendable {
    private struct State {
        var count = 0
        var lastNumber = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Lock(State())

    /// How often something was changed.
    var count: Int { state.withLock { $0.count } }

    /// Wakes everybody who waits.
    func send() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns once there were more changes than so many, or the Swift task is cancelled.
    func wait(after count: Int) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.count == count, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
            continuation?.resume()
        }
    }
}
