import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

/// Real animations through players.
@Suite("Animations of every format", .timeLimit(.minutes(5)), .enabled(if: Fixture.corpus != nil))
struct AnimationTests {
    private static let formats: [ImageFormat] = [.gif, .png, .webp].filter { $0.missingLibrary() == nil }

    private let registry = ImageDecoderRegistry()

    init() { registry.registerMissing(Self.formats) }

    private func container(_ path: String) throws -> ImageContainer {
        let data = try File.read(try #require(Fixture.corpus) + "/" + path)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        return try #require(registry.decoder(for: context)).decode(data)
    }

    /// The frames in order, each by a hash of its pixels.
    private func hashes(_ animation: ImageAnimation) async throws -> [Int] {
        var hashes: [Int] = []
        for index in 0..<animation.frameCount {
            hashes.append(try await animation.frame(at: index).byteArray.hashValue)
        }
        return hashes
    }

    @Test("seeking in any order gives the pixels that come in order: GIF, APNG, WebP [row 157]")
    func seeking() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            ["gif/", "apng/", "webp/"].contains { entry.path.hasPrefix($0) } && entry.expected.frames ?? 1 > 1
                && entry.expected.error == .decodes
        }
        #expect(entries.count >= 70)
        for entry in entries {
            let expected = try await hashes(try #require(try container(entry.path).animation, "\(entry.path)"))
            let animation = try #require(try container(entry.path).animation)
            // Nothing is kept, so each frame is composed anew.
            let player = AnimatedImagePlayer(
                animation, repetition: .forever, pool: AnimatedImageFramePool(byteLimit: 0), clock: TestClock())
            let iterator = player.makeAsyncIterator()
            player.pause()
            // A step that meets every frame once, going forwards and back.
            let count = expected.count
            var indices = Array((0..<count).reversed().prefix(4))
            indices += (0..<8).map { $0 * 7919 % count } + [count - 1, 0, count / 2, count / 2]
            for index in indices {
                player.seek(toFrame: index)
                let frame = try #require(try await iterator.next())
                #expect(frame.index == index && frame.image.byteArray.hashValue == expected[index], "\(entry.path)")
            }
        }
    }

    @Test("a pipeline gives an animation of which each frame is resized, and a player shows it at its times")
    func resized() async throws {
        let folder = try #require(Fixture.corpus)
        for (path, height) in [
            ("gif/nuke-cat.gif", 56), ("apng/dart-test_apng4.png", 37), ("webp/sharp-rotating-squares.webp", 80),
        ] {
            let request = ImageRequest(
                url: URL(filePath: folder + "/" + path), processors: [ImageProcessors.Resize(width: 100)])
            let response = try await ImagePipeline { $0.decoderRegistry = registry }.imageTask(with: request).response
            let animation = try #require(response.container.animation)
            let (clock, pool) = (TestClock(), AnimatedImageFramePool())
            let player = AnimatedImagePlayer(animation, repetition: .times(2), pool: pool, clock: clock)
            var (due, count) = (0.0, 0)
            for try await frame in player {
                #expect(frame.index == count % animation.frameCount)
                #expect((frame.image.width, frame.image.height) == (min(100, response.image.width), height), "\(path)")
                #expect(abs(frame.presentationTime / .seconds(1) - due) < 1e-6, "\(path)")
                due += animation.durations[frame.index]
                count += 1
                clock.advance(by: .nanoseconds(Int64((due * 1e9).rounded())) - clock.now.offset)
            }
            #expect(count == 2 * animation.frameCount)
            #expect(player.statistics.droppedFrameCount == 0 && pool.byteCount == 0)
        }
    }

    @Test("the cost of an animated image counts its canvases, and its data once, attached or not [row 88]")
    func cost() throws {
        let gif = try container("gif/nuke-cat.gif")
        #expect(gif.data != nil && gif.memoryCost == 500 * 279 * 4 * 2 + 427_672)
        let webp = try container("webp/sharp-rotating-squares.webp")
        let size = try File.read(try #require(Fixture.corpus) + "/webp/sharp-rotating-squares.webp").count
        #expect(webp.data == nil && webp.memoryCost == 80 * 80 * 4 * 2 + size)
        let restoring = try container("apng/suite-dispose_op_previous.png")
        let count = try File.read(try #require(Fixture.corpus) + "/apng/suite-dispose_op_previous.png").count
        #expect(restoring.memoryCost == 128 * 64 * 4 * 3 + count)
    }
}
