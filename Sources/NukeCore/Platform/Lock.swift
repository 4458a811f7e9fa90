internal import Glibc

/// A mutual exclusion lock that owns the state it guards.
///
/// The state lives on the heap beside a `pthread_mutex_t`, so that ThreadSanitizer, which knows that mutex and misreads
/// `Synchronization.Mutex`, sees every access. The lock is not recursive; never call code of the user's under it.
@safe
public struct Lock<State>: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let state: UnsafeMutablePointer<State>

    /// Creates an unlocked lock around `state`.
    public init(_ state: consuming sending State) {
        // SAFETY: both blocks are initialised here, once, and freed in deinit only.
        unsafe self.mutex = .allocate(capacity: 1)
        unsafe self.mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe self.state = .allocate(capacity: 1)
        unsafe self.state.initialize(to: state)
    }

    deinit {
        // SAFETY: a deinit runs when no borrow of the lock, hence no critical section, is left.
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state and returns what it returns.
    ///
    /// Blocks the calling thread while another holds the lock.
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        // SAFETY: the pointers live as long as self; the mutex makes the access to the state exclusive.
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&state.pointee)
    }
}

// SAFETY: the state is reached only under the mutex and was sent in.
extension Lock: @unchecked Sendable {}
