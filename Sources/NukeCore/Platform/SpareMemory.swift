internal import CNukeCore

/// Memory that was just let go of, for the next block of the same size: frames of an animation, pictures of one camera.
///
/// Fresh pages cost more than most of what is done with them: 0.3 ms for a frame of 480x270, which takes 0.03 ms to copy. At
/// most 8 MB are kept in all; the oldest go first.
final class SpareMemory: Sendable {
    /// Keeps nothing under the address sanitizer, which could not tell a late access to what is handed out again.
    static let shared = SpareMemory(capacity: CNukeCore_isAddressSanitized() != 0 ? 0 : 8 << 20)

    /// Smaller blocks the allocator keeps itself, larger ones are too much to keep.
    private static let sizes = 128 << 10...4 << 20
    private let capacity: Int

    // SAFETY: the memory has no other owner while it is here.
    @safe
    private struct Spare: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let byteCount: Int
    }

    private struct State {
        var spares: [Spare] = []
        var byteCount = 0
    }

    private let state = Lock(State())

    /// Creates a store of at most so many bytes.
    init(capacity: Int) { self.capacity = capacity }

    /// Memory of just so many bytes, which holds whatever it held; the caller owns it from now on.
    func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard Self.sizes.contains(byteCount) else { return nil }
        let spare = state.withLock { state -> Spare? in
            guard let index = state.spares.lastIndex(where: { $0.byteCount == byteCount }) else { return nil }
            state.byteCount -= byteCount
            return state.spares.remove(at: index)
        }
        return unsafe spare.map { unsafe $0.base }
    }

    /// Keeps memory that has no owner any more; returns false if it is to be freed.
    func keep(_ base: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
        guard Self.sizes.contains(byteCount) else { return false }
        let spare = unsafe Spare(base: base, byteCount: byteCount)
        let oldest = state.withLock { state -> [Spare] in
            state.spares.append(spare)
            state.byteCount += byteCount
            var oldest: [Spare] = []
            while state.byteCount > capacity {
                let spare = state.spares.removeFirst()
                state.byteCount -= spare.byteCount
                oldest.append(spare)
            }
            return oldest
        }
        for spare in oldest { unsafe MemoryBlock.free(spare.base, spare.byteCount) }
        return true
    }

    /// Bytes that are kept.
    var byteCount: Int { state.withLock { $0.byteCount } }
}
