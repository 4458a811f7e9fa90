import NukeCore

/// Gives files in a folder their names: equal ones get -2, -3 … in the order of the inputs.
///
/// A name has the extension of the format, which may be known only once the image is there: an input waits until those
/// before it that have the same stem have their names, or have failed.
final class OutputNames: Sendable {
    private struct State {
        var taken: Set<String> = []
        var isSettled: [Bool]
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let stems: [String]
    /// The input before each with the same stem.
    private let predecessors: [Int?]
    private let state: Lock<State>

    init(stems: [String]) {
        self.stems = stems
        var last: [String: Int] = [:]
        var predecessors: [Int?] = []
        for (index, stem) in stems.enumerated() {
            predecessors.append(last[stem])
            last[stem] = index
        }
        self.predecessors = predecessors
        state = Lock(State(isSettled: Array(repeating: false, count: stems.count)))
    }

    /// The name of an input's file.
    ///
    /// To be followed by `settle`.
    func name(of index: Int, fileExtension: String) async -> String {
        if let predecessor = predecessors[index] { await settlement(of: predecessor) }
        let stem = stems[index]
        let name = state.withLock { state in
            var name = "\(stem).\(fileExtension)"
            var number = 1
            // A number that makes the stem of another input is left to that one.
            while state.taken.contains(name) || (number > 1 && stems.contains("\(stem)-\(number)")) {
                number += 1
                name = "\(stem)-\(number).\(fileExtension)"
            }
            state.taken.insert(name)
            return name
        }
        settle(index)
        return name
    }

    /// Says that an input has its name, or will have none.
    ///
    /// Has no effect the second time.
    func settle(_ index: Int) {
        let waiting = state.withLock { state in
            state.isSettled[index] = true
            return state.waiting.removeValue(forKey: index)
        }
        waiting?.resume()
    }

    private func settlement(of index: Int) async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if !state.isSettled[index] { state.waiting[index] = continuation }
                return state.isSettled[index]
            }
            if isSettled { continuation.resume() }
        }
    }
}
