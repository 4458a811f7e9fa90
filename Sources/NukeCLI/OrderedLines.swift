import NukeCore

/// Writes lines in the order of their numbers, each as soon as those before it are there.
final class OrderedLines: Sendable {
    private struct State {
        var next = 0
        var waiting: [Int: String] = [:]
    }

    private let state = Lock(State())
    private let write: @Sendable (String) -> Void

    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Gives the text of a number; an empty one writes nothing.
    ///
    /// Calls must not overlap.
    func put(_ text: String, at index: Int) {
        let ready = state.withLock { state in
            state.waiting[index] = text
            var ready = ""
            while let text = state.waiting.removeValue(forKey: state.next) {
                ready += text
                state.next += 1
            }
            return ready
        }
        if !ready.isEmpty { write(ready) }
    }
}
