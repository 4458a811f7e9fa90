/// Plays an animation: an asynchronous sequence of frames, each of which comes when it is due.
///
/// One player serves one view. It decodes one frame ahead, on codec threads, and nothing while nobody iterates; time begins
/// to pass when the first frame is handed out, and after a seek when the frame that was sought is. Who comes late for a
/// frame gets the one that is due by then; what was passed over is counted, so that nothing drifts. After the last frame of
/// the last play, and its time, the sequence ends; iterating again plays from the start.
///
/// Iterate in one place at a time: a later iteration ends the one before. It also ends, without an error, when the Swift
/// task that iterates is cancelled. Controls can be used from any thread, at any time.
///
/// ```swift
/// let player = AnimatedImagePlayer(animation)
/// for try await frame in player { view.show(frame.image) }
/// ```
public final class AnimatedImagePlayer: AsyncSequence, Sendable {
    /// A frame with its time.
    public typealias Element = Frame
    /// The error of a decoder or a processor, once no frame at all can be had.
    public typealias Failure = any Error

    /// What is played.
    public let animation: ImageAnimation
    /// The size, in pixels, that frames are shrunk to fit; nil: they are whole.
    public let decodeSize: ImageSize?

    let pool: AnimatedImageFramePool
    let time: TimeSource
    let changes = ChangeSignal()
    let state: Lock<State>

    struct State {
        var timeline: PlaybackTimeline
        var statistics = Statistics()
        /// Which seek was the last.
        var seekNumber = 0
        /// Which iteration is under way.
        var iterationNumber = 0
        var hasEnded = false
        /// The place in the pool, while somebody iterates.
        weak var member: AnimatedImageFramePool.Member?

        mutating func noteSeek() {
            seekNumber += 1
            // Who seeks after the end wants what is there, not the start.
            hasEnded = false
        }
    }

    /// Creates a player that stands at the first frame.
    ///
    /// - Parameters:
    ///   - animation: What to play; players of the same object, at the same size, share frames.
    ///   - decodeSize: The size, in pixels, that frames are shrunk to fit; nil, the default: they are whole.
    ///   - repetition: How often all frames are shown; as stored by default.
    ///   - rate: How much faster than stored to play, 0.01…100; 1 by default.
    ///   - pool: What keeps frames; the shared pool by default.
    ///   - clock: What tells the time; the system's by default.
    public init(
        _ animation: ImageAnimation, decodeSize: ImageSize? = nil, repetition: Repetition = .asStored, rate: Double = 1,
        pool: AnimatedImageFramePool = .shared, clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.animation = animation
        self.decodeSize = decodeSize
        self.pool = pool
        time = TimeSource(clock)
        let timeline = PlaybackTimeline(
            durations: animation.durations, playCount: repetition.playCount(of: animation), rate: Self.checked(rate))
        state = Lock(State(timeline: timeline))
    }

    // MARK: Control

    /// How much faster than stored it plays, 0.01…100; changes count from the moment they are made.
    public var rate: Double {
        get { state.withLock { $0.timeline.rate } }
        set { change { $0.timeline.setRate(Self.checked(newValue), at: $1) } }
    }

    private static func checked(_ rate: Double) -> Double {
        precondition(rate >= 0.01 && rate <= 100, "a rate is 0.01 to 100")
        return rate
    }

    /// Whether time stands still.
    public var isPaused: Bool { state.withLock { $0.timeline.isPaused } }

    /// Lets time stand still; a frame that is sought meanwhile comes nevertheless.
    public func pause() { change { $0.timeline.pause(at: $1) } }

    /// Lets time pass again.
    public func resume() { change { $0.timeline.resume(at: $1) } }

    /// Sets how often all frames are shown, counted with the plays that there were.
    public func setRepetition(_ repetition: Repetition) {
        let playCount = repetition.playCount(of: animation)
        change { state, _ in state.timeline.setPlayCount(playCount) }
    }

    /// Goes to a frame of the play that is under way; it comes as soon as it is decoded.
    ///
    /// - Parameter index: Below the animation's `frameCount`.
    public func seek(toFrame index: Int) {
        precondition(animation.durations.indices.contains(index), "there are \(animation.frameCount) frames")
        change { state, _ in
            state.timeline.seek(toFrame: index)
            state.noteSeek()
        }
    }

    /// Goes to a time of the play that is under way; the frame comes as soon as it is decoded, and stays for what is left.
    ///
    /// - Parameter seconds: Seconds from the start of the play at rate 1; the ends count for what is beyond them.
    public func seek(toTime seconds: Double) {
        change { state, _ in
            state.timeline.seek(toSeconds: seconds)
            state.noteSeek()
        }
    }

    private func change(_ body: (inout State, Duration) -> Void) {
        state.withLock { state in
            // Under the lock, so that times come in order.
            body(&state, time.now())
        }
        changes.send()
    }

    // MARK: State

    /// The frame that was handed out last, or else the one that will be first.
    public var currentIndex: Int { state.withLock { $0.timeline.index } }

    /// Seconds from the start of the play that is under way, at rate 1.
    public var currentTime: Double { state.withLock { $0.timeline.seconds(at: time.now()) } }

    /// What it did so far, and what it has at hand.
    public var statistics: Statistics {
        var (statistics, member) = state.withLock { ($0.statistics, $0.member) }
        guard let contents = member?.contents else { return statistics }
        statistics.bufferedFrameCount = contents.frames.count
        statistics.decodedFrameCount = contents.decodedCount
        statistics.decodeTime = .seconds(contents.decodeSeconds)
        return statistics
    }

    // MARK: Iteration

    /// Starts to play from where the player stands; after the end from the start.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(player: self) }

    /// Gives frames when they are due.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let iteration: Iteration

        init(player: AnimatedImagePlayer) { iteration = Iteration(player) }

        /// The next frame, once it is due; nil after the last one and when the Swift task is cancelled.
        public func next() async throws -> Frame? { try await iteration.next() }
    }
}

extension AnimatedImagePlayer.Repetition {
    fileprivate func playCount(of animation: ImageAnimation) -> Int? {
        switch self {
        case .asStored: animation.playCount
        case .forever: nil
        case .times(let count): count
        }
    }
}
