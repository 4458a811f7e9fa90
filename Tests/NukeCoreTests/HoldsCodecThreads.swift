import NukeTestSupport
import Testing

/// Tests that keep a codec thread waiting at a gate take turns: two of them could wait for each other's thread for ever.
struct HoldsCodecThreads: SuiteTrait, TestTrait, TestScoping {
    private static let turn = Turn()

    var isRecursive: Bool { true }

    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        await Self.turn.take()
        defer { Self.turn.pass() }
        try await function()
    }
}

extension Trait where Self == HoldsCodecThreads {
    /// For suites with tests that keep codec threads waiting.
    static var holdsCodecThreads: Self { Self() }
}

/// A turn that one test has at a time, in the order of asking.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func take() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(continuation) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    func pass() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
