import NukeCore

/// A bar on the terminal that tells how many inputs are done; draws nothing elsewhere.
final class ProgressBar: Sendable {
    private let total: Int
    private let isShown: Bool
    private let done = Lock(0)

    init(total: Int, isQuiet: Bool) {
        self.total = total
        isShown = !isQuiet && total > 1 && Terminal.showsProgress
    }

    /// Shows the bar before anything is done.
    func start() { draw(0) }

    /// One more input is done.
    func advance() {
        let count = done.withLock { done in
            done += 1
            return done
        }
        draw(count)
    }

    /// Writes a line above the bar.
    func writeError(_ line: String) {
        if isShown { Terminal.writeError("\r\u{1B}[K") }
        Terminal.writeError(line)
        draw(done.withLock { $0 })
    }

    /// Removes the bar.
    func finish() {
        if isShown { Terminal.writeError("\r\u{1B}[K") }
    }

    private func draw(_ count: Int) {
        guard isShown, count < total else { return }
        let text = " \(count)/\(total)"
        let width = max(10, min(40, Terminal.columns - text.count - 4))
        let filled = width * count / total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
        Terminal.writeError("\r[\(bar)]\(text)\u{1B}[K")
    }
}
