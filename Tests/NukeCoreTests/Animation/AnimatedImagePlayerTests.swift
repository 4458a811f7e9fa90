import NukeCore
import NukeTestSupport
import Testing

@Suite("Animated image player", .timeLimit(.minutes(5)))
struct AnimatedImagePlayerTests {
    private typealias Shown = Playing.Shown

    private let durations = [0.1, 0.02, 0.06, 0.04]

    @Test(
        "frame k comes at its time at rates 0.5, 1 and 4, play after play",
        arguments: [
            (0.5, [0, 200, 240, 360, 440, 640, 680, 800, 880]), (1, [0, 100, 120, 180, 220, 320, 340, 400, 440]),
            (4, [0, 25, 30, 45, 55, 80, 85, 100, 110]),
        ] as [(Double, [Double])])
    func rates(rate: Double, times: [Double]) async {
        let playing = await Playing(CountedFrames().animation(durations), rate: rate)
        await playing.advance(milliseconds: Int(times[8]))
        #expect(playing.shown == times.enumerated().map { Shown($0 % 4, $1) })
        #expect(playing.player.statistics.droppedFrameCount == 0)
        #expect(playing.player.statistics.shownFrameCount == 9)
        await playing.cancel()
    }

    @Test("each frame has the pixels of its index, and tells when it was due and in which play")
    func frames() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(3))
        let player = AnimatedImagePlayer(
            CountedFrames().animation(durations), pool: AnimatedImageFramePool(), clock: clock)
        clock.advance(by: .seconds(2))
        let iterator = player.makeAsyncIterator()
        for (number, due) in [0, 100, 120, 180, 220, 320].enumerated() {
            // Ten milliseconds late for each but the first, from which time counts.
            if number == 1 { clock.advance(by: .milliseconds(10)) }
            if number > 0 { clock.advance(by: .milliseconds([100, 20, 60, 40][(number - 1) % 4])) }
            let frame = try #require(try await iterator.next())
            #expect((frame.index, frame.playIndex, frame.image.number) == (number % 4, number / 4, number % 4))
            #expect(frame.presentationTime == .seconds(2) + .milliseconds(due))
        }
        #expect(clock.sleeps.isEmpty)
    }

    @Test("the rate can be changed while playing: what is left of a frame takes so much longer or shorter")
    func changingRate() async {
        let playing = await Playing(CountedFrames().animation([0.1, 0.1, 0.1, 0.1]))
        await playing.advance(milliseconds: 150)
        await playing.change { $0.rate = 0.5 }
        await playing.advance(milliseconds: 200)
        await playing.change { $0.rate = 4 }
        await playing.advance(milliseconds: 50)
        #expect(
            playing.shown == [
                Shown(0, 0), Shown(1, 100), Shown(2, 250), Shown(3, 365), Shown(0, 390),
            ])
        #expect(playing.player.rate == 4)
        await playing.cancel()
    }

    @Test("time stands still while paused, and goes on where it stood")
    func pausing() async {
        let playing = await Playing(CountedFrames().animation([0.1, 0.1, 0.1]))
        await playing.advance(milliseconds: 130)
        playing.player.pause()
        #expect(playing.player.isPaused)
        await waitUntil { playing.clock.sleeperCount == 0 }
        playing.clock.advance(by: .seconds(100))
        #expect(abs(playing.player.currentTime - 0.13) < 1e-9)
        playing.player.pause()
        await playing.change {
            $0.resume()
            $0.resume()
        }
        #expect(!playing.player.isPaused)
        await playing.advance(milliseconds: 75)
        #expect(playing.shown == [Shown(0, 0), Shown(1, 100), Shown(2, 100_200)])
        #expect(playing.player.statistics.droppedFrameCount == 0)
        await playing.cancel()
    }

    @Test("a frame that is sought comes at once, and time goes on from it; forwards, backwards, to a time within it")
    func seeking() async {
        let playing = await Playing(CountedFrames().animation([0.1, 0.1, 0.1, 0.1]))
        await playing.advance(milliseconds: 50)
        playing.player.seek(toFrame: 3)
        await waitUntil { playing.shown.count == 2 }
        await playing.advance(milliseconds: 120)
        playing.player.seek(toFrame: 1)
        await waitUntil { playing.shown.count == 4 }
        await playing.advance(milliseconds: 30)
        playing.player.seek(toTime: 0.275)
        await waitUntil { playing.shown.count == 5 }
        #expect(abs(playing.player.currentTime - 0.275) < 1e-9)
        await playing.advance(milliseconds: 25)
        #expect(
            playing.shown == [
                Shown(0, 0), Shown(3, 50), Shown(0, 150), Shown(1, 170), Shown(2, 200), Shown(3, 225),
            ])
        #expect(playing.player.statistics.droppedFrameCount == 0)
        await playing.cancel()
    }

    @Test("a frame that is sought while paused is shown, and then nothing until resumed")
    func seekingWhilePaused() async {
        let playing = await Playing(CountedFrames().animation([0.1, 0.1, 0.1, 0.1]))
        playing.player.pause()
        playing.player.seek(toFrame: 2)
        await waitUntil { playing.shown.count == 2 }
        playing.clock.advance(by: .seconds(5))
        #expect(playing.player.currentIndex == 2)
        await playing.change { $0.resume() }
        await playing.advance(milliseconds: 100)
        #expect(playing.shown == [Shown(0, 0), Shown(2, 0), Shown(3, 5100)])
        await playing.cancel()
    }

    @Test("a player that was paused or sent to a frame before it is iterated begins so")
    func beforeIterating() async throws {
        let clock = TestClock()
        let animation = CountedFrames().animation([0.1, 0.1, 0.1])
        let player = AnimatedImagePlayer(animation, pool: AnimatedImageFramePool(), clock: clock)
        player.pause()
        player.seek(toTime: 0.2)
        clock.advance(by: .seconds(1))
        #expect(player.currentIndex == 2)
        let iterator = player.makeAsyncIterator()
        #expect(try await iterator.next()?.index == 2)
        clock.advance(by: .seconds(1))
        player.resume()
        clock.advance(by: .milliseconds(100))
        #expect(try await iterator.next()?.index == 0)
    }

    @Test(
        "all frames are shown as often as stored, or as told; the last one keeps its time",
        arguments: [
            (2, .asStored, 2), (nil, .times(3), 3), (5, .times(1), 1), (3, .times(0), 1),
        ] as [(Int?, AnimatedImagePlayer.Repetition, Int)])
    func repetition(stored: Int?, repetition: AnimatedImagePlayer.Repetition, plays: Int) async {
        let animation = CountedFrames().animation([0.02, 0.03], playCount: stored)
        let playing = await Playing(animation, repetition: repetition)
        await playing.advance(milliseconds: plays * 50 - 5)
        #expect(!playing.hasEnded)
        #expect(playing.indices == Array(repeating: [0, 1], count: plays).flatMap { $0 })
        await playing.advance(milliseconds: 5)
        #expect(playing.hasEnded)
        #expect(playing.clock.sleeperCount == 0)
        #expect(playing.player.currentIndex == 1)
    }

    @Test("for ever means for ever, until told otherwise")
    func forever() async {
        let playing = await Playing(CountedFrames().animation([0.02, 0.03], playCount: 1), repetition: .forever)
        await playing.advance(milliseconds: 500)
        #expect(playing.shown.count == 21)
        await playing.change { $0.setRepetition(.times(11)) }
        await playing.advance(milliseconds: 45)
        #expect(!playing.hasEnded)
        await playing.advance(milliseconds: 5)
        #expect(playing.hasEnded)
    }

    @Test("after the end it plays from the start again, or from the frame that was sought")
    func playingAgain() async {
        let playing = await Playing(CountedFrames().animation([0.02, 0.03], playCount: 1))
        await playing.advance(milliseconds: 50)
        #expect(playing.hasEnded)
        playing.play()
        await playing.settle()
        await playing.advance(milliseconds: 50)
        #expect(playing.hasEnded)
        #expect(playing.indices == [0, 1, 0, 1])
        playing.player.seek(toFrame: 1)
        playing.play()
        await playing.settle()
        await playing.advance(milliseconds: 30)
        #expect(playing.hasEnded)
        #expect(playing.indices == [0, 1, 0, 1, 1])
    }

    @Test("who comes late gets the frame that is due by then; the dropped are counted, and nothing drifts")
    func lateConsumer() async throws {
        let clock = TestClock()
        let animation = CountedFrames().animation(Array(repeating: 0.1, count: 10))
        let player = AnimatedImagePlayer(animation, pool: AnimatedImageFramePool(), clock: clock)
        let iterator = player.makeAsyncIterator()
        var shown: [Int] = []
        for late in [0, 350, 100, 1250, 130, 70] {
            clock.advance(by: .milliseconds(late))
            shown.append(try #require(try await iterator.next()).index)
        }
        #expect(shown == [0, 3, 4, 7, 8, 9])
        #expect(player.statistics.droppedFrameCount == 2 + 12)
        #expect(player.statistics.shownFrameCount == 6)
    }

    @Test("a decoder that is slower than the frames drops some, shows others, and is on time again afterwards")
    func slowDecoder() async throws {
        let clock = TestClock()
        let isSlow = Locked(true)
        let frames = CountedFrames { index in
            // Each takes as long as two and a half frames are shown; the first is waited for.
            if index > 0, isSlow.withLock({ $0 }) { clock.advance(by: .milliseconds(250)) }
        }
        // No frame is kept, so none is decoded ahead.
        let player = AnimatedImagePlayer(
            frames.animation(Array(repeating: 0.1, count: 100)), pool: AnimatedImageFramePool(byteLimit: 0),
            clock: clock)
        let iterator = player.makeAsyncIterator()
        var shown: [Int] = []
        clock.advance(by: .seconds(1))
        shown.append(try #require(try await iterator.next()).index)
        clock.advance(by: .milliseconds(100))
        for _ in 0..<4 { shown.append(try #require(try await iterator.next()).index) }
        isSlow.withLock { $0 = false }
        #expect(shown == [0, 1, 3, 6, 8])
        #expect(player.statistics.droppedFrameCount == 4)
        let late = try #require(try await iterator.next())
        #expect((late.index, late.presentationTime) == (11, .seconds(1) + .milliseconds(1100)))
        #expect(frames.decoded == [0, 1, 3, 6, 8, 11])
    }

    @Test("one frame is decoded ahead while one is shown, and no more")
    func ahead() async throws {
        let frames = CountedFrames()
        let playing = await Playing(frames.animation([0.1, 0.1, 0.1, 0.1]))
        await waitUntil { frames.decoded.count == 2 }
        await playing.advance(milliseconds: 100)
        await waitUntil { frames.decoded.count == 3 }
        #expect(frames.decoded == [0, 1, 2])
        let statistics = playing.player.statistics
        #expect(statistics.decodedFrameCount == 3 && statistics.bufferedFrameCount == 3)
        #expect(statistics.decodeTime > .zero)
        await playing.cancel()
    }

    @Test("a frame that can't be decoded leaves the one before; only when there is none at all the error is thrown")
    func brokenFrames() async throws {
        let playing = await Playing(CountedFrames(broken: [1, 2]).animation([0.1, 0.1, 0.1, 0.1], playCount: 1))
        await playing.advance(milliseconds: 400)
        #expect(playing.shown == [Shown(0, 0), Shown(3, 300)])
        #expect(playing.player.statistics.failedFrameCount == 2)
        #expect(playing.hasEnded && playing.failure == nil)
        let broken = await Playing(CountedFrames(broken: [0, 1, 2]).animation([0.1, 0.1, 0.1]))
        await broken.advance(milliseconds: 200)
        #expect(broken.failure is ImageDecodingError)
        #expect(broken.shown.isEmpty)
    }

    @Test("cancelling the consumer ends the iteration without an error, and nothing is left", .holdsCodecThreads)
    func cancellation() async throws {
        let pool = AnimatedImageFramePool()
        let left = await Self.playAndCancel(pool)
        // A decode ahead may hold the animation for a moment.
        await waitUntil { left.animation == nil }
        #expect(left.player == nil && left.animation == nil)
    }

    private struct Left: Sendable {
        weak let player: AnimatedImagePlayer?
        weak let animation: ImageAnimation?
    }

    private static func playAndCancel(_ pool: AnimatedImageFramePool) async -> Left {
        let playing = await Playing(CountedFrames().animation([0.1, 0.1, 0.1]), pool: pool)
        await playing.advance(milliseconds: 100)
        #expect(pool.frameCount > 0)
        await playing.cancel()
        #expect(playing.hasEnded && playing.failure == nil)
        #expect(playing.clock.sleeperCount == 0)
        #expect(pool.frameCount == 0 && pool.byteCount == 0)
        return Left(player: playing.player, animation: playing.player.animation)
    }

    @Test("who waits for a decode when it is cancelled does not wait for its end", .holdsCodecThreads)
    func cancellationWhileDecoding() async {
        let gate = ThreadGate()
        let frames = CountedFrames { _ in gate.wait() }
        let pool = AnimatedImageFramePool()
        let player = AnimatedImagePlayer(frames.animation([0.1, 0.1]), pool: pool, clock: TestClock())
        let task = Task { try await player.makeAsyncIterator().next() }
        await waitUntil { player.statistics.bufferedFrameCount == 0 }
        task.cancel()
        let outcome = await task.result
        #expect(try! outcome.get() == nil)
        gate.open()
        #expect(pool.byteCount == 0)
    }

    @Test("leaving the loop lets go of the frames; a later iteration ends the one before")
    func leaving() async throws {
        let pool = AnimatedImageFramePool()
        let player = AnimatedImagePlayer(CountedFrames().animation([0.1, 0.1]), pool: pool, clock: TestClock())
        for try await frame in player {
            #expect(frame.index == 0 && pool.frameCount > 0)
            break
        }
        #expect(pool.frameCount == 0)
        let first = player.makeAsyncIterator()
        player.seek(toFrame: 0)
        #expect(try await first.next()?.index == 0)
        let second = player.makeAsyncIterator()
        #expect(try await first.next() == nil)
        player.seek(toFrame: 1)
        #expect(try await second.next()?.index == 1)
    }

    @Test("frames are shrunk to fit the decode size, never enlarged; a size that is none is an error")
    func decodeSize() async throws {
        let pool = AnimatedImageFramePool()
        func first(_ size: ImageSize?) async throws -> ImageSize? {
            let player = AnimatedImagePlayer(
                CountedFrames(side: 40).animation([0.1]), decodeSize: size, pool: pool, clock: TestClock())
            return try await player.makeAsyncIterator().next()?.image.size
        }
        #expect(try await first(nil) == ImageSize(width: 40, height: 40))
        #expect(try await first(ImageSize(width: 10, height: 20)) == ImageSize(width: 10, height: 10))
        #expect(try await first(ImageSize(width: 400, height: 400)) == ImageSize(width: 40, height: 40))
        await #expect(throws: ImageProcessingError.self) { try await first(ImageSize(width: 0.0, height: -.infinity)) }
    }

    @Test("the system's clock serves without being named")
    func systemClock() async throws {
        let player = AnimatedImagePlayer(
            CountedFrames().animation([0.011, 0.011, 0.011], playCount: 1), pool: AnimatedImageFramePool())
        var last = -1
        for try await frame in player { last = frame.index }
        #expect(last == 2)
    }
}
