import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("Animated PNG", .needsLibrary, .timeLimit(.minutes(5)))
struct APNGTests {
    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let green: [UInt8] = [0, 255, 0, 255]
    private static let blue: [UInt8] = [0, 0, 255, 255]
    private static let clear: [UInt8] = [0, 0, 0, 0]

    private func animation(
        _ file: APNGFile, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws -> ImageAnimation {
        try #require(try Decoding.container(file.data, change).animation)
    }

    /// Red, a green pixel, a blue one, on 3×1.
    private var pixels: APNGFile {
        APNGFile(
            3, 1,
            [.init(3, 1, Self.red), .init(1, 1, Self.green), .init(1, 1, Self.blue, left: 1)])
    }

    private func frames(_ file: APNGFile, _ order: [Int]? = nil) async throws -> [[[UInt8]]] {
        let animation = try animation(file)
        var frames: [[[UInt8]]] = []
        for index in order ?? Array(0..<animation.frameCount) {
            let frame = try await animation.frame(at: index)
            frames.append((0..<frame.width).map { frame.pixel($0, 0) })
        }
        return frames
    }

    @Test("a frame's disposal counts before the next is drawn, in its place alone [row 167]")
    func disposals() async throws {
        let (red, green, blue, clear) = (Self.red, Self.green, Self.blue, Self.clear)
        var file = pixels
        #expect(try await frames(file) == [[red, red, red], [green, red, red], [green, blue, red]])
        file.frames[1].disposal = 1
        #expect(try await frames(file) == [[red, red, red], [green, red, red], [clear, blue, red]])
        file.frames[1].disposal = 2
        #expect(try await frames(file) == [[red, red, red], [green, red, red], [red, blue, red]])
        for disposal in [1, 2] {
            // Before the first frame there was nothing.
            file.frames[0].disposal = disposal
            #expect(try await frames(file)[1] == [green, clear, clear])
        }
    }

    @Test("half transparent over half transparent is three quarters, colours by their weight [row 166]")
    func over() async throws {
        var file = APNGFile(1, 1, [.init(1, 1, [255, 255, 255, 128]), .init(1, 1, [255, 0, 0, 128])])
        file.frames[1].blending = 1
        // 128 + 128 × 127 ÷ 255, and of the white below 128 × 127 ÷ 255.
        #expect(try await frames(file)[1] == [[192, 64, 64, 192]])
        file.frames[1].blending = 0
        #expect(try await frames(file)[1] == [[128, 0, 0, 128]])
        file.frames[1] = .init(1, 1, Self.clear)
        file.frames[1].blending = 1
        #expect(try await frames(file)[1] == [[128, 128, 128, 128]])
    }

    @Test("random files look as a plain compositor draws them, in any order", arguments: 0..<60)
    func randomFiles(_ seed: UInt64) async throws {
        var random = SeededNumbers(seed: seed)
        let file = APNGFile.random(&random, frameCount: 8)
        let (expected, animation) = (file.composed, try animation(file))
        let order = Array(0..<8) + (0..<20).map { _ in Int.random(in: 0..<8, using: &random) }
        for index in order {
            let frame = try await animation.frame(at: index)
            let isNear = zip(frame.byteArray, expected[index]).allSatisfy { abs(Double($0) - $1) <= 2 }
            #expect(isNear, "frame \(index)")
            #expect(!frame.isOpaque || stride(from: 3, to: 120, by: 4).allSatisfy { frame.byteArray[$0] == 255 })
        }
    }

    @Test("a still picture that is no frame is the image, and not in the animation")
    func hiddenImage() async throws {
        var file = pixels
        file.hiddenImage = .init(3, 1, [9, 9, 9, 255])
        file.frames[0] = .init(1, 1, Self.red, left: 2)
        let container = try Decoding.container(file.data)
        #expect(container.image.pixel(0, 0) == [9, 9, 9, 255])
        #expect(container.animation?.frameCount == 3)
        #expect(try await frames(file)[0] == [Self.clear, Self.clear, Self.red])
        #expect(try Decoding.properties(file.data)?.frameCount == 3)
        // One frame that is another picture is an animation too: it is what is shown.
        file.frames.removeLast(2)
        #expect(try Decoding.container(file.data).animation?.frameCount == 1)
        #expect(try Decoding.image(file.data).pixel(2, 0) == [9, 9, 9, 255])
    }

    @Test("delays and plays are told as stored; a denominator of 0 is 100, no plays are plays for ever")
    func numbers() throws {
        var file = pixels
        (file.frames[0].delay, file.frames[1].delay, file.frames[2].delay) = ((1, 4), (7, 0), (0, 1000))
        let properties = try #require(try Decoding.properties(file.data))
        #expect(properties.frameDurations == [0.25, 0.07, 0] && properties.loopCount == 0)
        #expect(try animation(file).playCount == nil)
        #expect(try animation(file).durations == [0.25, 0.07, 0.1])
        file.playCount = 3
        #expect(try Decoding.properties(file.data)?.loopCount == 3)
        #expect(try animation(file).playCount == 3)
    }

    @Test("a palette and its transparency serve every frame; depths and passes are the file's")
    func palette() async throws {
        let header = PNGFile.header(width: 2, height: 1, depth: 8, colorType: 3, isInterlaced: true)
        func control(_ number: Int) -> PNGFile.Chunk {
            let numbers = [number, 2, 1, 0, 0].flatMap { PNGFile.bigEndian($0) }
            return .init(type: "fcTL", contents: numbers + [0, 1, 0, 10, 0, 0])
        }
        let file = PNGFile([
            header, .init(type: "acTL", contents: PNGFile.bigEndian(2) + PNGFile.bigEndian(0)),
            .init(type: "PLTE", contents: [255, 0, 0, 0, 0, 255]), .init(type: "tRNS", contents: [255, 128]),
            control(0), .init(type: "IDAT", contents: PNGFile.zlib([0, 0, 0, 1])), control(1),
            .init(type: "fdAT", contents: PNGFile.bigEndian(2) + PNGFile.zlib([0, 1, 0, 0])),
            .init(type: "IEND", contents: []),
        ])
        let animation = try #require(try Decoding.container(file.data).animation)
        let frame = try await animation.frame(at: 1)
        #expect([frame.pixel(0, 0), frame.pixel(1, 0)] == [[0, 0, 128, 128], [255, 0, 0, 255]])
    }

    @Test("frames are turned upright as the image is, and have the request's scale")
    func orientation() async throws {
        var file = pixels
        file.before = [.init(type: "eXIf", contents: ExifData(orientation: 6).bytes)]
        let container = try Decoding.container(file.data) { $0.request.scale = 2 }
        #expect((container.image.width, container.image.height) == (1, 3))
        let frame = try #require(try await container.animation?.frame(at: 2))
        #expect((frame.width, frame.height, frame.scale) == (1, 3, 2))
        #expect((0..<3).map { frame.pixel(0, $0) } == [Self.green, Self.blue, Self.red])
        let third = try await container.animation?.frame(at: 2)
        #expect(third?.byteArray == frame.byteArray)
    }

    @Test("frames have limits of their own")
    func limits() async throws {
        let data = pixels.data
        #expect(Decoding.error(data) { $0.limits.frameCount = 3 } == nil)
        #expect(Decoding.error(data) { $0.limits.frameCount = 2 }?.code == .limitExceeded)
        var large = APNGFile(100, 100, [.init(100, 100, Self.red), .init(100, 100, Self.blue)])
        large.frames[1].blending = 1
        let animation = try animation(large) { $0.limits.workingSetBytes = 50_000 }
        let error = await #expect(throws: ImageDecodingError.self) { try await animation.frame(at: 1) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("frames are there after the load was cancelled")
    func cancelled() async throws {
        let flag = CancellationFlag()
        let animation = try animation(pixels) { $0.cancellation = flag }
        flag.cancel()
        #expect(try await animation.frame(at: 1).pixel(0, 0) == Self.green)
    }
}
