import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF encoding of animations", .timeLimit(.minutes(5)))
struct GIFAnimatedEncoderTests {
    private static let colors: [UInt32] = [0, 0xFF00_00FF, 0xFF00_FF00, 0xFFFF_0000, 0xFFFF_FFFF]

    /// Frames that change in places, where there may also come to be nothing.
    private func frames(_ random: inout SeededGenerator, hasNothing: Bool) throws -> [Bitmap] {
        let least = hasNothing ? 0 : 1
        var pixels = (0..<56).map { _ in Self.colors[Int.random(in: least...4, using: &random)] }
        return try (0..<Int.random(in: 2...9, using: &random)).map { _ in
            let frame = try Bitmap.picture(8, 7, isOpaque: !hasNothing) { x, y in pixels[y * 8 + x] }
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                pixels[Int.random(in: 0..<56, using: &random)] = Self.colors[Int.random(in: least...4, using: &random)]
            }
            return frame
        }
    }

    @Test("every frame comes back as it was, with and without nothing in it [rows 143, 157]")
    func roundTrip() async throws {
        var random = SeededGenerator(11)
        for round in 0..<200 {
            let frames = try frames(&random, hasNothing: round % 2 == 0)
            let animation = try #require(
                Decoding.container(ImageEncoders.GIF().file(AnimationFrames.container(frames))).animation)
            #expect(animation.frameCount == frames.count)
            for index in frames.indices {
                #expect(try await animation.frame(at: index).byteArray == frames[index].byteArray, "\(round): \(index)")
            }
        }
    }

    @Test("frames are cut to what changed; equal ones take a pixel")
    func differences() throws {
        let still = try Bitmap.photograph(200, 100)
        let moved = try Bitmap.picture(200, 100, isOpaque: true) { x, y in
            (40..<50).contains(x) && (30..<40).contains(y)
                ? 0xFF00_00FF : still.pixel(x, y).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        let one = try ImageEncoders.GIF().file(AnimationFrames.container([still, still]))
        let two = try ImageEncoders.GIF().file(AnimationFrames.container([still, moved, moved]))
        let alone = try ImageEncoders.GIF().file(ImageContainer(image: still))
        #expect(one.count < alone.count + 120)
        #expect(two.count < alone.count + 300)
        let animation = try #require(try Decoding.container(two).animation)
        #expect(animation.frameCount == 3)
        #expect(try animation.decodeFrame(at: 1).pixel(45, 35) == [255, 0, 0, 255])
    }

    @Test("durations add up, and none is one that players alter [row 146]")
    func durations() throws {
        let frame = try Bitmap.picture(2, 2) { x, y in Self.colors[x + y + 1] }
        func stored(_ durations: [Double]) throws -> [Int] {
            let frames = durations.map { _ in frame }
            let file = try ImageEncoders.GIF().file(AnimationFrames.container(frames, durations: durations))
            let properties = try #require(try Decoding.properties(file))
            #expect(properties.frameCount == durations.count)
            return properties.frameDurations.map { Int(($0 * 100).rounded()) }
        }
        let thirds = try stored([Double](repeating: 1 / 30, count: 30))
        #expect(thirds.reduce(0, +) == 100 && Set(thirds) == [3, 4])
        // What is stored as 0 or 10 ms is played for 100 ms, and so it is here.
        #expect(try stored([0, 0.01, 0.02, 0.1]) == [10, 10, 2, 10])
        #expect(try stored([0.012, 0.015, 0.1]) == [2, 2, 10])
        #expect(try stored([655.35, 5000, 0.05, 1e300]) == [65_535, 65_535, 5, 65_535])
    }

    @Test(
        "the play count survives [row 148]", arguments: [nil, 1, 2, 3, 65_536] as [Int?])
    func playCount(count: Int?) throws {
        let frames = try (1...2).map { index in try Bitmap.picture(2, 2) { _, _ in Self.colors[index] } }
        let file = try ImageEncoders.GIF().file(AnimationFrames.container(frames, playCount: count))
        #expect(try Decoding.container(file).animation?.playCount == count)
        #expect(try Decoding.properties(file)?.loopCount == (count == 1 ? nil : count.map { $0 - 1 } ?? 0))
    }

    @Test("more plays than can be stored become as many as can")
    func manyPlays() throws {
        let frames = try (1...2).map { index in try Bitmap.picture(2, 2) { _, _ in Self.colors[index] } }
        let file = try ImageEncoders.GIF().file(AnimationFrames.container(frames, playCount: 1_000_000))
        #expect(try Decoding.container(file).animation?.playCount == 65_536)
    }

    @Test("each frame has colours that serve it: none is below 33 dB, whatever the first one's are")
    func palettes() throws {
        let first = try Bitmap.picture(96, 64, isOpaque: true) { x, _ in 0xFF00_0000 | UInt32(x) }
        let frames = try [first] + (2...4).map { try Bitmap.photograph(96, 64, seed: $0) } + [first]
        let file = try ImageEncoders.GIF().file(AnimationFrames.container(frames))
        let animation = try #require(try Decoding.container(file).animation)
        for (index, frame) in frames.enumerated() {
            #expect(frame.peakSignalToNoise(try animation.decodeFrame(at: index)) > 33, "\(index)")
        }
        #expect(try ImageEncoders.GIF().file(AnimationFrames.container(frames)) == file)
    }

    @Test("an animation of one frame is a still of the image")
    func oneFrame() throws {
        let image = try Bitmap.picture(3, 3) { _, _ in Self.colors[1] }
        let other = try Bitmap.picture(3, 3) { _, _ in Self.colors[2] }
        var container = AnimationFrames.container([other], playCount: 4)
        container.image = image
        #expect(try ImageEncoders.GIF().file(container) == ImageEncoders.GIF().file(ImageContainer(image: image)))
    }

    @Test("frames that fail, or differ in size, are the encoder's error")
    func failures() throws {
        let (small, large) = (
            try Bitmap.picture(3, 3) { _, _ in Self.colors[1] }, try Bitmap.picture(4, 3) { _, _ in Self.colors[2] }
        )
        #expect(throws: ImageEncodingError.failed("", codec: "GIF")) {
            try ImageEncoders.GIF().file(AnimationFrames.container([small, large]))
        }
        final class Broken: ImageFrameDecoding {
            func frame(at index: Int) throws -> Bitmap { throw ImageDecodingError.corruptData("", codec: "GIF") }
        }
        var container = ImageContainer(image: small)
        container.animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Broken())
        #expect(throws: ImageEncodingError.failed("", codec: "GIF")) { try ImageEncoders.GIF().file(container) }
    }
}
