import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

@Suite("WebP encoding of animations", .timeLimit(.minutes(5)))
struct WebPAnimatedEncoderTests {
    private func file(_ container: ImageContainer, quality: Double = 1) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        let options = ImageEncodingOptions(quality: quality)
        return try ImageEncoders.WebP(options: options).encodedData(for: container, context: context)
    }

    private func decoder(_ data: Data) -> ImageDecoders.WebP {
        ImageDecoders.WebP(context: ImageDecodingContext(request: ImageRequest(url: nil), data: data))
    }

    private func animation(_ data: Data) throws -> ImageAnimation {
        try #require(try decoder(data).decode(data).animation)
    }

    @Test(
        "without loss every frame comes back as it was, whatever its alphas, in any order [rows 157, 158]",
        arguments: [[255], [0, 255], [0, 1, 77, 128, 254, 255]] as [[UInt32]])
    func roundTrip(alphas: [UInt32]) throws {
        for seed in 0..<60 as Range<UInt64> {
            let frames = try AnimationFrames.random(seed: seed, alphas: alphas)
            let animation = try animation(file(AnimationFrames.container(frames)))
            #expect(animation.frameCount == frames.count)
            for index in frames.indices.reversed() {
                #expect(
                    try animation.decodeFrame(at: index).byteArray == frames[index].byteArray, "\(seed): \(index)")
            }
        }
    }

    @Test("lossy frames are near to what they were, with alpha as it was")
    func lossy() throws {
        let frames = try (0..<4).map { index in
            try Bitmap.picture(64, 48) { x, y in
                let isInside = (x - 20 - index * 8) * (x - 20 - index * 8) + (y - 24) * (y - 24) < 200
                return isInside ? 0xFF00_0000 | UInt32(x * 3) | UInt32(y * 4) << 8 | 0x40_0000 : 0
            }
        }
        let data = try file(AnimationFrames.container(frames), quality: 0.9)
        let animation = try animation(data)
        for (index, frame) in frames.enumerated() {
            let result = try animation.decodeFrame(at: index)
            var sum = 0
            for (place, pair) in zip(result.byteArray, frame.byteArray).enumerated() {
                if place % 4 == 3 { #expect(pair.0 == pair.1) }
                sum += (Int(pair.0) - Int(pair.1)) * (Int(pair.0) - Int(pair.1))
            }
            #expect(Double(sum) / Double(64 * 48 * 4) < 30, "\(index)")
        }
        #expect(try file(AnimationFrames.container(frames), quality: 0.9) == data)
    }

    @Test("equal frames are not merged, and take a pixel; sparse changes leave out what stays")
    func differences() throws {
        func noise(_ x: Int, _ y: Int) -> UInt32 {
            0xFF00_0000 | UInt32(truncatingIfNeeded: (x &* 7919 ^ y &* 104_729) &* 2_654_435_761) >> 8
        }
        let still = try Bitmap.picture(200, 100, isOpaque: true, noise)
        let corners = try Bitmap.picture(200, 100, isOpaque: true) { x, y in
            (x, y) == (1, 1) || (x, y) == (198, 98) ? 0xFF00_00FF : noise(x, y)
        }
        let alone = try file(ImageContainer(image: still))
        for quality in [0.8, 1] {
            let one = try file(ImageContainer(image: still), quality: quality)
            let same = try file(AnimationFrames.container([still, still, still]), quality: quality)
            #expect(try animation(same).frameCount == 3)
            #expect(same.count < one.count + 250)
        }
        let sparse = try file(AnimationFrames.container([still, corners, still]))
        #expect(sparse.count < alone.count + 1000)
        #expect(try animation(sparse).decodeFrame(at: 1).byteArray == corners.byteArray)
        #expect(try animation(sparse).decodeFrame(at: 2).byteArray == still.byteArray)
    }

    @Test("durations add up in milliseconds, and none is one that players alter")
    func durations() throws {
        let frame = try Bitmap.picture(2, 2) { _, _ in 0xFF00_00FF }
        func stored(_ durations: [Double]) throws -> [Int] {
            let data = try file(AnimationFrames.container(durations.map { _ in frame }, durations: durations))
            let properties = try #require(try decoder(data).properties(of: data))
            #expect(properties.frameCount == durations.count)
            return properties.frameDurations.map { Int(($0 * 1000).rounded()) }
        }
        let thirds = try stored([Double](repeating: 1 / 30, count: 30))
        #expect(thirds.reduce(0, +) == 1000 && Set(thirds) == [33, 34])
        #expect(try stored([0, 0.01, 0.0106, 0.011, 0.1]) == [100, 100, 11, 11, 100])
        #expect(try stored([16_777.215, 20_000, 0.05]) == [16_777_215, 16_777_215, 50])
    }

    @Test("the play count comes back [row 149]", arguments: [nil, 1, 2, 65_535] as [Int?])
    func playCount(count: Int?) throws {
        let frames = try AnimationFrames.random(seed: 1, alphas: [255])
        let data = try file(AnimationFrames.container(frames, playCount: count))
        #expect(try animation(data).playCount == count)
        #expect(try decoder(data).properties(of: data)?.loopCount == count ?? 0)
        let many = try file(AnimationFrames.container(frames, playCount: 100_000))
        #expect(try animation(many).playCount == 65_535)
    }

    @Test("the colour profile is stored")
    func profile() throws {
        var bytes = [UInt8](repeating: 7, count: 301)
        bytes.replaceSubrange(36..<40, with: Array("acsp".utf8))
        bytes.replaceSubrange(16..<20, with: Array("RGB ".utf8))
        let space = try #require(ColorSpace(iccProfile: Data(bytes), for: .rgba8))
        let frames = try (0..<2).map { index in
            try Bitmap.picture(4, 4, isOpaque: true, colorSpace: space) { x, _ in 0xFF00_0000 | UInt32(x + index) }
        }
        let data = try file(AnimationFrames.container(frames))
        #expect(try decoder(data).decode(data).image.colorSpace.iccProfile == Data(bytes))
        #expect(try animation(data).decodeFrame(at: 1).byteArray == frames[1].byteArray)
    }

    @Test("an animation of one frame is a still; frames of several sizes, or too large, are an error")
    func others() throws {
        let (small, large) = (
            try Bitmap.picture(3, 3) { _, _ in 0xFF00_00FF }, try Bitmap.picture(16_384, 1) { _, _ in 0xFF00_00FF }
        )
        #expect(try file(AnimationFrames.container([small])) == file(ImageContainer(image: small)))
        #expect(throws: ImageEncodingError.failed("", codec: "WebP")) {
            try file(AnimationFrames.container([small, large]))
        }
        #expect(throws: ImageEncodingError.unsupported("", codec: "WebP")) {
            try file(AnimationFrames.container([large, large]))
        }
    }
}
