/// Counts pieces of work that no task waits for, so that those who want to can wait for all of them.
@ImagePipelineActor
final class PendingWork {
    private var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    /// A piece of work is under way.
    func begin() { count += 1 }

    /// A piece of work is done.
    func end() {
        count -= 1
        guard count == 0 else { return }
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    /// Returns when nothing is under way.
    func completion() async {
        guard count > 0 else { return }
        await withCheckedContinuation { waiting.append($0) }
    }
}
