internal import Glibc

/// A mutual exclusion lock that owns the state it guards.
///
/// The state lives on the heap beside a `pthread_mutex_t`, so that ThreadSanitizer, which knows that mutex and misreads
/// `Synchronization.Mutex`, sees every access. A thread that finds it locked tries a few times before it sleeps, as what
/// is done under it is short. The lock is not recursive; never call code of the user's under it.
@safe
public struct Lock<State>: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let state: UnsafeMutablePointer<State>

    /// Creates an unlocked lock around `state`.
    public init(_ state: consuming sending State) {
        // SAFETY: the block has room for both, each at its alignment; it is initialised here, once, and freed in deinit only.
        let alignment = unsafe max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<State>.alignment)
        let offset = unsafe (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
        let block = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<State>.size, alignment: alignment)
        unsafe mutex = block.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
        unsafe self.state = (block + offset).initializeMemory(as: State.self, to: state)
    }

    deinit {
        // SAFETY: a deinit runs when no borrow of the lock, hence no critical section, is left; the block begins at the mutex.
        unsafe state.deinitialize(count: 1)
        unsafe pthread_mutex_destroy(mutex)
        unsafe UnsafeMutableRawPointer(mutex).deallocate()
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
