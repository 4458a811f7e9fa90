import NukeCore
import NukeTestSupport

/// A player on a clock of its own, and a task that notes each frame when it comes.
final class Playing: Sendable {
    /// A frame and when it came, in milliseconds.
    struct Shown: Equatable, Sendable, CustomStringConvertible {
        let index: Int
        let milliseconds: Double

        init(_ index: Int, _ milliseconds: Double) { (self.index, self.milliseconds) = (index, milliseconds) }

        var description: String { "\(index)@\(milliseconds)" }
    }

    let clock: TestClock
    let player: AnimatedImagePlayer
    private let log = Locked<[Shown]>([])
    private let outcome = Locked<Result<Void, any Error>?>(nil)
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Starts to play; returns when the first frame was shown.
    init(
        _ animation: ImageAnimation, repetition: AnimatedImagePlayer.Repetition = .asStored, rate: Double = 1,
        pool: AnimatedImageFramePool = AnimatedImageFramePool(), clock: TestClock = TestClock()
    ) async {
        self.clock = clock
        player = AnimatedImagePlayer(animation, repetition: repetition, rate: rate, pool: pool, clock: clock)
        play()
        await settle()
    }

    /// Iterates; also anew, after the end.
    func play() {
        outcome.withLock { $0 = nil }
        let task = Task { [player, clock, log, outcome] in
            do {
                for try await frame in player {
                    let now = clock.now.offset
                    precondition(frame.presentationTime <= now, "too early")
                    log.withLock { $0.append(Shown(frame.index, now / .milliseconds(1))) }
                }
                outcome.withLock { $0 = .success(()) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        self.task.withLock { $0 = task }
    }

    /// The frames so far.
    var shown: [Shown] { log.withLock { $0 } }

    /// The indices of the frames so far.
    var indices: [Int] { shown.map(\.index) }

    /// Whether the iteration is over.
    var hasEnded: Bool { outcome.withLock { $0 != nil } }

    /// What the iteration ended with.
    var failure: (any Error)? {
        outcome.withLock { outcome in
            if case .failure(let error) = outcome { return error }
            return nil
        }
    }

    /// Waits until the player waits for time to pass, or has ended.
    func settle() async { await waitUntil { self.clock.sleeperCount == 1 || self.hasEnded } }

    /// Changes something, and waits until the player waits anew.
    func change(_ body: (AnimatedImagePlayer) -> Void) async {
        let count = clock.sleeps.count
        body(player)
        await waitUntil { self.clock.sleeps.count > count && self.clock.sleeperCount == 1 }
    }

    /// Lets time pass, in steps small enough for every frame.
    func advance(milliseconds: Int, step: Int = 5) async {
        for _ in 0..<milliseconds / step {
            clock.advance(by: .milliseconds(step))
            await settle()
        }
    }

    func cancel() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}
