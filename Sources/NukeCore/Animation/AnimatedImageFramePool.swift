/// Holds decoded frames for players, within a number of bytes that is never exceeded.
///
/// Players of one `ImageAnimation`, at one size, share the frames and the decode of each. What a player shows and what it
/// shows next is kept; other frames are kept while there is room, and those go first that will be shown last. Where even
/// the frames shown now and next have no room, players decode each frame when it is due, and it is not kept. Frames go with
/// the last player that shows them. Usable from any thread.
public final class AnimatedImageFramePool: Sendable {
    /// The pool that players use unless they are told of another.
    public static let shared = AnimatedImageFramePool()

    private let state: Lock<FramePoolState>
    private let pressureObserver = MemoryPressure.Observer()

    /// What a pool holds before it asks the kernel to tell when memory is short: less would not help.
    private static let watchedByteCount = 8 << 20

    /// Creates a pool.
    ///
    /// - Parameter byteLimit: Bytes of frames to keep at most; `defaultByteLimit` by default.
    public init(byteLimit: Int = AnimatedImageFramePool.defaultByteLimit) {
        state = Lock(FramePoolState(byteLimit: byteLimit))
        pressureObserver.start { [weak self] in self?.respond(to: $0) }
    }

    deinit { pressureObserver.cancel() }

    /// 5 % of the memory that the machine, the cgroup and the resource limits allow this process; at most 256 MiB.
    public static var defaultByteLimit: Int { min(HostLimits.memory / 100 * 5, 256 << 20) }

    /// Bytes to keep at most; lowering it lets go of frames at once.
    public var byteLimit: Int {
        get { state.withLock { $0.byteLimit } }
        set {
            state.withLock { state in
                state.byteLimit = newValue
                state.trim()
            }
        }
    }

    /// Bytes of the frames that are kept, and of the room taken for those that are being decoded.
    public var byteCount: Int { state.withLock { $0.byteCount } }

    /// The most bytes there were at any time.
    public var highestByteCount: Int { state.withLock { $0.highestByteCount } }

    /// How many frames are kept.
    public var frameCount: Int { state.withLock { $0.frameCount } }

    /// Gives memory up: only what each player shows, and shows next, is kept; `normal` does nothing.
    ///
    /// Every pool does so when pressure is reported to `MemoryPressure`; call it where one pool alone is meant.
    public func respond(to pressure: MemoryPressure) {
        if pressure != .normal { state.withLock { $0.shrink() } }
    }

    // MARK: Players

    func join(_ animation: ImageAnimation, _ size: ImageSize?) -> Member {
        let (sequence, player) = state.withLock { $0.join(animation, size) }
        return Member(pool: self, sequence: sequence, player: player, size: size)
    }

    /// A player's place in the pool, which ends with it.
    final class Member: Sendable {
        private let pool: AnimatedImageFramePool
        private let sequence: Int
        private let player: Int
        private let size: ImageSize?
        private let waiterNumber = Lock(0)

        fileprivate init(pool: AnimatedImageFramePool, sequence: Int, player: Int, size: ImageSize?) {
            (self.pool, self.sequence, self.player, self.size) = (pool, sequence, player, size)
        }

        deinit {
            let left = pool.state.withLock { $0.leave(sequence, player, size) }
            withExtendedLifetime(left) {}  // what it holds is let go of outside the lock
        }

        /// A frame that the player is about to show; throws what its decode throws, or `CancellationError`.
        func frame(at index: Int) async throws -> Bitmap {
            if let image = pool.want(index, player, sequence) { return image }
            let number = waiterNumber.withLock { number in
                number += 1
                return number
            }
            // Unique among the waiters of the sequence, as players are.
            return try await pool.decodedFrame(index, sequence, waiter: player << 32 | number)
        }

        /// Notes what the player shows, and has the next frame decoded meanwhile.
        func show(_ index: Int, next: Int?) {
            let isToRun = pool.state.withLock { state in
                state.show(index, next: next, for: player, in: sequence)
                return state.startRunning(sequence)
            }
            if isToRun { pool.run(sequence) }
        }

        /// What the pool holds of the animation.
        var contents: FramePoolState.Sequence? { pool.state.withLock { $0.sequence(sequence) } }
    }

    private func want(_ index: Int, _ player: Int, _ sequence: Int) -> Bitmap? {
        state.withLock { state in
            state.want(index, for: player, in: sequence)
            return state.frame(index, in: sequence)
        }
    }

    // MARK: Decoding

    private func decodedFrame(_ index: Int, _ sequence: Int, waiter: Int) async throws -> Bitmap {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: FrameContinuation) in
                let (image, isWaiting, isToRun) = state.withLock { state -> (Bitmap?, Bool, Bool) in
                    if Task.isCancelled { return (nil, false, false) }
                    // Another player's decode may have ended meanwhile.
                    if let image = state.frame(index, in: sequence) { return (image, false, false) }
                    let isWaiting = state.wait(for: index, in: sequence, as: waiter, continuation)
                    return (nil, isWaiting, state.startRunning(sequence))
                }
                if let image {
                    continuation.resume(returning: image)
                } else if !isWaiting {
                    continuation.resume(throwing: CancellationError())
                }
                if isToRun { run(sequence) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.stopWaiting(for: index, in: sequence, as: waiter) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Decodes frames of a sequence, one after the other, as long as some are wanted.
    private func run(_ sequence: Int) {
        CodecThreads.shared.enqueue(priority: .high) { [weak self] in
            guard let self, let job = state.withLock({ $0.nextJob(sequence) }) else { return }
            let start = MonotonicClock.now
            let result = Result { try job.animation.decodeFrame(at: job.index) }
            let seconds = MonotonicClock.now - start
            let (waiting, byteCount) = state.withLock { state in
                let waiting = state.finish(job, in: sequence, try? result.get(), seconds: seconds)
                return (waiting, state.byteCount)
            }
            for continuation in waiting { continuation.resume(with: result) }
            if byteCount >= Self.watchedByteCount { MemoryPressure.watchKernel() }
            // Others get the thread in between.
            run(sequence)
        }
    }
}
