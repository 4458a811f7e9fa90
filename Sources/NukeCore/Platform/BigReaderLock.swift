internal import CNukeCore
internal import Glibc

/// A lock for state that is read far more often than it is written: a few lanes, one for each processor.
///
/// A reader locks the lane of the processor that it runs on, so that readers on others write to no memory that it needs; a writer
/// locks all lanes, one after the other. Not recursive; never call code of the user's under it.
@safe
struct BigReaderLock<State: ~Copyable & Sendable>: ~Copyable {
    // Two cache lines, as processors fetch them in pairs.
    private static var laneSize: Int { 128 }

    /// The lanes, a mutex at the beginning of each, and the state behind them: nothing that others write lies beside them.
    private let lanes: UnsafeMutableRawPointer
    private let state: UnsafeMutablePointer<State>

    /// Creates an unlocked lock around `state`.
    init(_ state: consuming State) {
        // SAFETY: there is room for all; mutexes and state are initialised here, once, and the memory is freed in deinit only.
        let stateSize = (MemoryLayout<State>.stride + Self.laneSize - 1) / Self.laneSize * Self.laneSize
        let lanesSize = Lanes.count * Self.laneSize
        precondition(MemoryLayout<State>.alignment <= Self.laneSize)
        unsafe lanes = .allocate(byteCount: lanesSize + stateSize, alignment: Self.laneSize)
        for lane in 0..<Lanes.count { unsafe pthread_mutex_init(Self.mutex(lane, of: lanes), nil) }
        unsafe self.state = (lanes + lanesSize).bindMemory(to: State.self, capacity: 1)
        unsafe self.state.initialize(to: state)
    }

    deinit {
        // SAFETY: a deinit runs when no borrow of the lock, hence no critical section, is left.
        unsafe state.deinitialize(count: 1)
        for lane in 0..<Lanes.count { unsafe pthread_mutex_destroy(Self.mutex(lane, of: lanes)) }
        unsafe lanes.deallocate()
    }

    /// Runs `body` with the state, which others may read meanwhile, and a lane that nobody else has until it returns.
    borrowing func read<Result: Sendable>(_ body: (_ state: borrowing State, _ lane: Int) -> Result) -> Result {
        // SAFETY: the pointers live as long as self; nobody writes the state without this lane's mutex.
        let lane = Lanes.current
        let mutex = unsafe Self.mutex(lane, of: lanes)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return unsafe body(state.pointee, lane)
    }

    /// Runs `body` with exclusive access to the state and to what belongs to every lane.
    borrowing func write<Result: ~Copyable & Sendable>(_ body: (inout State) -> Result) -> Result {
        // SAFETY: as above; with the mutexes of all lanes nobody else reads or writes.
        for lane in 0..<Lanes.count { unsafe pthread_mutex_lock(Self.mutex(lane, of: lanes)) }
        defer { for lane in 0..<Lanes.count { unsafe pthread_mutex_unlock(Self.mutex(lane, of: lanes)) } }
        return unsafe body(&state.pointee)
    }

    private static func mutex(_ lane: Int, of lanes: UnsafeMutableRawPointer) -> UnsafeMutablePointer<pthread_mutex_t> {
        // SAFETY: a lane begins with its mutex; pointers are counted by the callers.
        unsafe (lanes + lane * laneSize).assumingMemoryBound(to: pthread_mutex_t.self)
    }
}

// SAFETY: the state is reached only under the mutexes and was sent in.
extension BigReaderLock: @unchecked Sendable {}

/// The lanes that every `BigReaderLock` has.
enum Lanes {
    /// How many there are, a power of two; where there are more processors, some share one.
    static var count: Int { 4 }

    /// The lane of the processor that the calling thread runs on.
    static var current: Int { Int(CNukeCore_processor()) & (count - 1) }
}
