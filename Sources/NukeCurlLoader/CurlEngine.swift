internal import NukeCore

/// What callers leave for the thread that drives a loader's transfers.
enum CurlCommand: Sendable {
    case start(CurlOrder)
    case cancel(CurlTransfer)
    case resume(CurlTransfer)
    case reprioritize(CurlTransfer)
}

/// The border between callers, on any thread, and the one thread that drives a loader's transfers.
///
/// The thread is started by the first command. Later ones wake it only if it waits.
final class CurlEngine: Sendable {
    private struct State {
        var commands: [CurlCommand] = []
        var isRunning = false
        var isWaiting = false
        var isClosed = false
        var alarm: CurlAlarm?

        mutating func wake() {
            guard isWaiting else { return }
            isWaiting = false
            alarm?.ring()
        }
    }

    let configuration: CurlLoader.Configuration
    private let state = Lock(State())

    init(_ configuration: CurlLoader.Configuration) { self.configuration = configuration }

    // MARK: For callers

    /// Leaves a command; nothing happens after `close`.
    func post(_ command: CurlCommand) {
        let mustStart = state.withLock { state in
            guard !state.isClosed else { return false }
            state.commands.append(command)
            state.wake()
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart { start() }
    }

    /// Ends what is under way, and the thread.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.wake()
        }
    }

    private func start() {
        guard !CurlThread.start({ CurlEventLoop.run(self) }) else { return }
        // The system has no thread to give, so this one brings the news.
        fail(DataLoadingError(.other, reason: "the system refused a thread for libcurl"))
    }

    // MARK: For the thread

    /// Says how to wake the thread; nil before that becomes impossible.
    func setAlarm(_ alarm: CurlAlarm?) { state.withLock { $0.alarm = alarm } }

    /// Takes the commands that are there, in order; returns false once the loader was released.
    func take(_ commands: inout [CurlCommand]) -> Bool {
        commands.removeAll(keepingCapacity: true)
        return state.withLock { state in
            state.isWaiting = false
            swap(&state.commands, &commands)
            return !state.isClosed
        }
    }

    /// Whether the thread may wait, since there is no command; the next one will wake it.
    func prepareToWait() -> Bool {
        state.withLock { state in
            state.isWaiting = state.commands.isEmpty && !state.isClosed
            return state.isWaiting
        }
    }

    /// Ends every load that has not begun, and lets the next command start a new thread.
    func fail(_ error: DataLoadingError) {
        let commands = state.withLock { state in
            defer { state.commands = [] }
            state.isRunning = false
            return state.commands
        }
        for case .start(let order) in commands { order.end(error) }
    }
}
