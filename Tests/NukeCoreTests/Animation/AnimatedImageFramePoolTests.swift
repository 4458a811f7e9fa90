import NukeCore
import NukeTestSupport
import Testing

@Suite("Frame pool", .timeLimit(.minutes(5)))
struct AnimatedImageFramePoolTests {
    @Test("players of one image share frames and decode each once; other sizes and images are apart")
    func sharing() async throws {
        let frames = CountedFrames()
        let animation = frames.animation([0.1, 0.1, 0.1])
        let pool = AnimatedImageFramePool()
        let clock = TestClock()
        let players = (0..<3).map { _ in AnimatedImagePlayer(animation, pool: pool, clock: clock) }
        let iterators = players.map { $0.makeAsyncIterator() }
        for _ in 0..<7 {
            var images: [Bitmap] = []
            for iterator in iterators { images.append(try #require(try await iterator.next()).image) }
            #expect(images.allSatisfy { $0 === images[0] })
            clock.advance(by: .milliseconds(100))
        }
        #expect(frames.decoded == [0, 1, 2])
        #expect(pool.frameCount == 3)
        let small = AnimatedImagePlayer(animation, decodeSize: ImageSize(width: 2, height: 2), pool: pool, clock: clock)
        let iterator = small.makeAsyncIterator()
        #expect(try await iterator.next()?.image.width == 2)
        #expect(frames.decoded.count >= 4)
        withExtendedLifetime(iterators) {}
    }

    @Test("players that ask for one frame at the same time wait for one decode", .holdsCodecThreads)
    func oneDecode() async throws {
        let gate = ThreadGate()
        let frames = CountedFrames { _ in gate.wait() }
        let animation = frames.animation([0.1])
        let pool = AnimatedImageFramePool()
        let players = (0..<8).map { _ in AnimatedImagePlayer(animation, pool: pool, clock: TestClock()) }
        let images = try await withThrowingTaskGroup(of: Bitmap?.self) { group in
            for player in players { group.addTask { try await player.makeAsyncIterator().next()?.image } }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(images.count == 8 && images.allSatisfy { $0 != nil })
        #expect(pool.frameCount == 0, "the last player has left")
    }

    @Test(
        "36 animations never take more than the 4 MB of their pool, whether what they show has room or not [row 88]",
        arguments: [(64, true), (112, true), (240, false)])
    func budget(side: Int, hasRoom: Bool) async throws {
        let limit = 4 << 20
        let pool = AnimatedImageFramePool(byteLimit: limit)
        let clock = TestClock()
        let decoders = (0..<36).map { _ in CountedFrames(side: side) }
        let players = decoders.map { frames in
            AnimatedImagePlayer(frames.animation(Array(repeating: 0.1, count: 12)), pool: pool, clock: clock)
        }
        var iterators = players.map { $0.makeAsyncIterator() }
        for step in 0..<30 {
            for (number, iterator) in iterators.enumerated() {
                let frame = try #require(try await iterator.next())
                #expect(frame.index == step % 12 && frame.image.number == step % 12)
                #expect(pool.byteCount <= limit)
                let live = decoders.reduce(0) { $0 + $1.liveByteCount }
                // Beside what is kept there are this frame and, the first time, those of which no size was known.
                #expect(live <= limit + side * side * 4 * 2, "player \(number), step \(step)")
            }
            clock.advance(by: .milliseconds(100))
        }
        #expect(pool.highestByteCount <= limit && pool.highestByteCount > limit - side * side * 4)
        if hasRoom {
            // What each shows, and what it shows next.
            await waitUntil { pool.frameCount >= 72 }
            #expect(pool.frameCount >= 72)
        }
        let decodedCount = decoders.reduce(0) { $0 + $1.decoded.count }
        // Of what has no room to stay each is decoded again, but never more often than it is shown, or about to be.
        #expect(decodedCount <= 36 * 31)
        iterators = []
        await waitUntil { pool.byteCount == 0 }
        #expect(pool.frameCount == 0)
    }

    @Test("under memory pressure what each player shows and shows next stays, and nothing else; it fills again")
    func pressure() async throws {
        let frames = CountedFrames()
        let animation = frames.animation(Array(repeating: 0.1, count: 10))
        let pool = AnimatedImageFramePool()
        let clock = TestClock()
        let player = AnimatedImagePlayer(animation, pool: pool, clock: clock)
        let other = AnimatedImagePlayer(animation, pool: pool, clock: clock)
        let (iterator, otherIterator) = (player.makeAsyncIterator(), other.makeAsyncIterator())
        other.pause()
        other.seek(toFrame: 8)
        #expect(try await otherIterator.next()?.index == 8)
        for _ in 0..<6 {
            _ = try await iterator.next()
            clock.advance(by: .milliseconds(100))
        }
        // 0 to 6 of one, 8 and 9 of the other.
        await waitUntil { pool.frameCount == 9 }
        pool.respond(to: .normal)
        #expect(pool.frameCount == 9)
        pool.respond(to: .moderate)
        #expect(pool.frameCount == 4)
        let decoded = frames.decoded.count
        #expect(try await iterator.next()?.index == 6)
        otherIterator.withExtendedLife()
        await waitUntil { pool.frameCount == 5 }
        #expect(frames.decoded.count == decoded + 1)
    }

    @Test("every pool gives memory up when pressure is reported")
    func reported() async {
        // In a process of its own, as it concerns every pool and cache there is.
        await #expect(processExitsWith: .success) {
            let pool = AnimatedImageFramePool()
            let player = AnimatedImagePlayer(
                CountedFrames().animation([0.1, 0.1, 0.1, 0.1]), pool: pool, clock: TestClock())
            let iterator = player.makeAsyncIterator()
            for index in 0..<4 {
                player.seek(toFrame: index)
                _ = try await iterator.next()
            }
            #expect(pool.frameCount == 4)
            MemoryPressure.report(.critical)
            #expect(pool.frameCount == 2)
            iterator.withExtendedLife()
        }
    }

    @Test("a limit that is lowered holds at once, also for what is shown; what is dropped first is shown last")
    func lowering() async throws {
        let frames = CountedFrames()
        let pool = AnimatedImageFramePool(byteLimit: 5 * 64)
        let clock = TestClock()
        let player = AnimatedImagePlayer(
            frames.animation(Array(repeating: 0.1, count: 10)), pool: pool, clock: clock)
        let iterator = player.makeAsyncIterator()
        for _ in 0..<10 {
            _ = try await iterator.next()
            await waitUntil { player.statistics.bufferedFrameCount == min(5, frames.decoded.count) }
            clock.advance(by: .milliseconds(100))
        }
        // Those just shown went first: 0, 1, 2 are still there, and shown again without a decode.
        await waitUntil { pool.frameCount == 5 }
        let decoded = frames.decoded.count
        for index in 0..<2 {
            #expect(try await iterator.next()?.index == index)
            clock.advance(by: .milliseconds(100))
        }
        #expect(frames.decoded.count == decoded)
        pool.byteLimit = 64
        #expect(pool.byteCount == 64 && pool.frameCount == 1)
        pool.byteLimit = 63
        #expect(pool.byteCount == 0)
        #expect(try await iterator.next()?.image.number == 2)
        #expect(pool.byteCount == 0)
    }

    @Test("a pool of one's own, and the shared one, have a limit from the memory there is")
    func defaults() {
        #expect(AnimatedImageFramePool().byteLimit == AnimatedImageFramePool.defaultByteLimit)
        #expect(AnimatedImageFramePool.shared.byteLimit > 1 << 20)
        #expect(AnimatedImageFramePool.defaultByteLimit <= 256 << 20)
    }
}

extension AnimatedImagePlayer.AsyncIterator {
    /// Keeps the iteration, and the player's place in the pool, until here.
    fileprivate func withExtendedLife() { withExtendedLifetime(self) {} }
}
