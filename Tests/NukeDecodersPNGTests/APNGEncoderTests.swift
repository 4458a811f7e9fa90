import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("APNG encoding", .needsLibrary, .timeLimit(.minutes(5)))
struct APNGEncoderTests {
    private func file(_ container: ImageContainer, isProgressive: Bool = false) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        let options = ImageEncodingOptions(isProgressive: isProgressive)
        return try ImageEncoders.PNG(options: options).encodedData(for: container, context: context)
    }

    private func decoder(_ data: Data) -> ImageDecoders.PNG {
        ImageDecoders.PNG(context: ImageDecodingContext(request: ImageRequest(url: nil), data: data))
    }

    private func expectFrames(_ frames: [Bitmap], in data: Data, _ comment: Comment) throws {
        let container = try decoder(data).decode(data)
        let animation = try #require(container.animation, comment)
        #expect(container.image.byteArray == frames[0].byteArray, comment)
        #expect(animation.frameCount == frames.count, comment)
        for index in frames.indices.reversed() {
            #expect(try animation.decodeFrame(at: index).byteArray == frames[index].byteArray, comment)
        }
    }

    @Test(
        "every frame comes back as it was, whatever its alphas, in any order [rows 157, 158, 166]",
        arguments: [[255], [0, 255], [0, 1, 77, 128, 254, 255]] as [[UInt32]])
    func roundTrip(alphas: [UInt32]) throws {
        for seed in 0..<60 as Range<UInt64> {
            let frames = try AnimationFrames.random(seed: seed, alphas: alphas)
            let data = try file(AnimationFrames.container(frames), isProgressive: seed % 4 == 3)
            try expectFrames(frames, in: data, "seed \(seed)")
        }
    }

    @Test("opaque frames stay opaque ones, and one that is not among them is no harm")
    func opacity() throws {
        let opaque = try (0..<3).map { index in
            try Bitmap.picture(20, 20, isOpaque: true) { x, y in 0xFF00_0000 | UInt32((x + index) * y) }
        }
        let data = try file(AnimationFrames.container(opaque))
        #expect(try decoder(data).decode(data).image.isOpaque)
        #expect(try decoder(data).properties(of: data)?.hasAlpha == false)
        try expectFrames(opaque, in: data, "opaque")
        let faint = try Bitmap.picture(20, 20) { x, _ in UInt32(x * 12) << 24 }
        try expectFrames(
            opaque + [faint, opaque[0]], in: file(AnimationFrames.container(opaque + [faint, opaque[0]])), "mixed")
    }

    @Test("frames are cut to what changed, and pixels that stay are left out where they are many")
    func differences() throws {
        func noise(_ x: Int, _ y: Int) -> UInt32 {
            0xFF00_0000 | UInt32(truncatingIfNeeded: (x &* 7919 ^ y &* 104_729) &* 2_654_435_761) >> 8
        }
        let still = try Bitmap.picture(200, 100, isOpaque: true, noise)
        let corners = try Bitmap.picture(200, 100, isOpaque: true) { x, y in
            (x, y) == (1, 1) || (x, y) == (198, 98) ? 0xFF00_00FF : noise(x, y)
        }
        let alone = try file(ImageContainer(image: still))
        let same = try file(AnimationFrames.container([still, still, still]))
        let sparse = try file(AnimationFrames.container([still, corners, still]))
        try expectFrames([still, still, still], in: same, "same")
        try expectFrames([still, corners, still], in: sparse, "sparse")
        #expect(same.count < alone.count + 400)
        #expect(sparse.count < alone.count * 2)
    }

    @Test("durations come back as they are played: whole milliseconds, and fractions of 16 bits")
    func durations() throws {
        let frame = try Bitmap.picture(2, 2) { _, _ in 0xFF00_00FF }
        let durations = [
            0.1, 0.011, 0.033, 1.0 / 30, 1001.0 / 30_000, 1.0 / 24, 1, 65.535, 655.35, 4321, 2.0 / 65_535, 7.0 / 9,
        ]
        let container = AnimationFrames.container(durations.map { _ in frame }, durations: durations + [])
        let animation = try #require(decoder(try file(container)).decode(try file(container)).animation)
        for (result, duration) in zip(animation.durations, durations) {
            // What is stored as up to 10 ms is played for 100.
            let played = duration < 0.010_5 ? 0.1 : duration
            #expect(abs(result - played) < 1e-12, "\(duration): \(result)")
        }
        let long = AnimationFrames.container([frame, frame], durations: [65_536, .infinity])
        let clamped = try #require(decoder(try file(long)).decode(try file(long)).animation)
        #expect(clamped.durations == [65_535, 65_535])
    }

    @Test("the play count comes back", arguments: [nil, 1, 2, 65_537, Int(Int32.max)] as [Int?])
    func playCount(count: Int?) throws {
        let frames = try AnimationFrames.random(seed: 1, alphas: [255])
        let data = try file(AnimationFrames.container(frames, playCount: count))
        #expect(try decoder(data).decode(data).animation?.playCount == count)
        #expect(try decoder(data).properties(of: data)?.loopCount == count ?? 0)
        #expect(try file(AnimationFrames.container(frames, playCount: count)) == data)
    }

    @Test("an animation of one frame is a still; frames of several sizes, or that fail, are an error")
    func others() throws {
        let (small, large) = (
            try Bitmap.picture(3, 3) { _, _ in 0xFF00_00FF }, try Bitmap.picture(4, 3) { _, _ in 0xFF00_00FF }
        )
        #expect(try file(AnimationFrames.container([small])) == file(ImageContainer(image: small)))
        #expect(throws: ImageEncodingError.failed("", codec: "PNG")) {
            try file(AnimationFrames.container([small, large]))
        }
        final class Broken: ImageFrameDecoding {
            func frame(at index: Int) throws -> Bitmap { throw ImageDecodingError.corruptData("", codec: "PNG") }
        }
        var container = ImageContainer(image: small)
        container.animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Broken())
        #expect(throws: ImageEncodingError.failed("", codec: "PNG")) { try file(container) }
    }
}
