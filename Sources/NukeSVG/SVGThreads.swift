internal import NukeCore

/// The threads that draw SVG, apart from those of other formats, which they could otherwise hold for long.
final class SVGThreads: Sendable {
    /// Two of them, for all pipelines.
    static let shared = SVGThreads()

    /// Where loads wait for a thread.
    let queue: TaskQueue
    private let threads: CodecThreads
    private let progress = Lock(SuspendingClock.now)

    init() {
        threads = CodecThreads(name: "nuke-svg", count: 2)
        queue = TaskQueue(maxConcurrentOperationCount: threads.count)
    }

    /// When a thread last was done with a picture.
    var lastProgress: SuspendingClock.Instant { progress.withLock { $0 } }

    func enqueue(priority: ImageRequest.Priority, _ body: @escaping @Sendable () -> Void) {
        threads.enqueue(priority: priority) {
            body()
            self.progress.withLock { $0 = .now }
        }
    }
}
