internal import Glibc

/// Jobs that wait for one of a set of threads: by priority, then in the order of arrival.
///
/// Of the threads that have nothing to do the one that had last is woken: its caches are warm.
@safe
final class JobQueue {
    typealias Job = @Sendable () -> Void

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var buckets = [[Job]](repeating: [], count: ImageRequest.Priority.allCases.count)
    private var pendingCount = 0
    /// The threads that wait, the one that has for the shortest time last.
    private var idle: [Sleeper] = []
    private var threadCount = 0
    private var isClosed = false

    init() {
        // SAFETY: the block is initialised here, once, and freed in deinit only.
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        // SAFETY: every thread that uses the mutex holds a reference, so none is left here.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Adds a job; returns the number of a thread that the caller has to start, if one is wanted.
    func push(_ job: @escaping Job, priority: ImageRequest.Priority, threadLimit: Int) -> Int? {
        locked {
            buckets[priority.rawValue].append(job)
            pendingCount += 1
            if let sleeper = idle.popLast() {
                sleeper.wake()
            } else if threadCount < threadLimit {
                threadCount += 1
                return threadCount
            }
            return nil
        }
    }

    /// Waits for the next job; nil when the queue was closed and is empty.
    ///
    /// - Parameter sleeper: The calling thread's own.
    func pop(_ sleeper: Sleeper) -> Job? {
        locked {
            while pendingCount == 0 {
                if isClosed { return nil }
                idle.append(sleeper)
                unsafe sleeper.sleep(mutex)
                // A wait may also end for no reason.
                idle.removeAll { $0 === sleeper }
            }
            return takeFirst()
        }
    }

    /// How many threads have nothing to do.
    var idleCount: Int { locked { idle.count } }

    /// Takes back the count of a thread that could not be made; returns a job that no thread is there to run.
    func threadFailedToStart() -> Job? {
        locked {
            threadCount -= 1
            return threadCount == 0 ? takeFirst() : nil
        }
    }

    /// Lets the threads end once nothing is pending.
    func close() {
        locked {
            isClosed = true
            for sleeper in idle { sleeper.wake() }
        }
    }

    private func takeFirst() -> Job? {
        guard let index = buckets.lastIndex(where: { !$0.isEmpty }) else { return nil }
        pendingCount -= 1
        return buckets[index].removeFirst()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        // SAFETY: the pointer lives as long as self.
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }
}

// SAFETY: every stored property is reached under the mutex only.
extension JobQueue: @unchecked Sendable {}

/// How one thread waits for jobs.
@safe
final class Sleeper {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        // SAFETY: the block is initialised here, once, and freed in deinit only.
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        // SAFETY: the thread that sleeps on it, and who wakes it, hold references.
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Waits, without the mutex meanwhile.
    fileprivate func sleep(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        // SAFETY: the caller holds the mutex; both pointers are valid.
        unsafe pthread_cond_wait(condition, mutex)
    }

    fileprivate func wake() {
        // SAFETY: the pointer lives as long as self.
        unsafe pthread_cond_signal(condition)
    }
}
