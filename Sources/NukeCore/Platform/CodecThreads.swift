internal import CNukeCore
internal import Glibc

/// Threads that run blocking work away from Swift's concurrency pool: codecs on `shared`, file access on `disk`.
///
/// Work is a synchronous closure. It starts by priority, then in the order of arrival. Threads are made when work
/// arrives and none is idle, up to `count`, and then stay.
public final class CodecThreads: Sendable {
    /// The threads for decoding, processing and encoding: as many as processors, or as the cgroup's CPU quota if less.
    public static let shared = CodecThreads(name: "nuke-codec", count: HostLimits.processorCount)

    /// The threads for reading and writing files.
    public static let disk = CodecThreads(name: "nuke-disk", count: 4)

    /// How many closures can run at once.
    public let count: Int

    private let name: String
    let jobs = JobQueue()

    /// Creates a set of at most `count` threads that tools show as `name` and a number.
    public init(name: String, count: Int) {
        self.name = name
        self.count = max(1, count)
    }

    deinit { jobs.close() }

    /// Runs `body` on one of the threads and returns what it returns, suspending the caller meanwhile.
    ///
    /// A body that has started is never interrupted; it has to look at a `CancellationFlag` of its own.
    public func run<Result: Sendable, Failure: Error>(
        priority: ImageRequest.Priority = .normal, _ body: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
            enqueue(priority: priority) {
                let outcome: Swift.Result<Result, Failure>
                do throws(Failure) { outcome = .success(try body()) } catch { outcome = .failure(error) }
                continuation.resume(returning: outcome)
            }
        }
        return try outcome.get()
    }

    /// Runs `body` on one of the threads and returns at once.
    public func enqueue(priority: ImageRequest.Priority = .normal, _ body: @escaping @Sendable () -> Void) {
        if let number = jobs.push(body, priority: priority, threadLimit: count) { startThread(number) }
    }

    private func startThread(_ number: Int) {
        // SAFETY: the box is retained for the new thread and released by it; both closures are Sendable.
        let start = ThreadStart(name: "\(name)-\(number)", jobs: jobs)
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(start).toOpaque()
        let status = unsafe pthread_create(&thread, nil, threadMain, context)
        if status == 0 {
            pthread_detach(thread)
        } else {
            // The system has no thread to give. Those that exist go on; without any, the work runs here.
            unsafe Unmanaged<ThreadStart>.fromOpaque(context).release()
            if let job = jobs.threadFailedToStart() { job() }
        }
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let jobs: JobQueue

    init(name: String, jobs: JobQueue) {
        self.name = name
        self.jobs = jobs
    }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // SAFETY: context is the +1 reference that startThread made for this thread.
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    unsafe start.name.withCString { unsafe CNukeCore_setThreadName($0) }
    let sleeper = Sleeper()
    while let job = start.jobs.pop(sleeper) { job() }
    return nil
}
