import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

@Suite("nuke load of animations", .timeLimit(.minutes(2)))
struct AnimationLoadTests {
    let nuke: CommandLineProgram
    private let frames: [Bitmap]

    init() throws {
        NukeKit.install()
        nuke = try CommandLineProgram()
        frames = try (0..<4).map { index in
            try Bitmap.picture(120, 80, isOpaque: true) { x, _ in x / 30 == index ? 0xFF00_00FF : 0xFFFF_FFFF }
        }
        let container = AnimationFrames.container(frames, durations: [0.05, 0.1, 0.2, 0.4], playCount: 3)
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        for format in [ImageFormat.gif, .png, .webp] {
            let encoder = try #require(format.makeEncoder?(ImageEncodingOptions(quality: 1)))
            let data = try encoder.encodedData(for: container, context: context)
            try data.write(to: URL(filePath: nuke.folder.file("a." + format.fileExtensions[0])))
        }
    }

    private func container(_ name: String) throws -> ImageContainer {
        let data = try nuke.folder.data(name)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        return try #require(ImageDecoderRegistry.shared.decoder(for: context)).decode(data)
    }

    @Test(
        "any animated format becomes any other, and keeps its frames, when resized", arguments: ["gif", "png", "webp"])
    func resized(from: String) async throws {
        for to in ["gif", "png", "webp"] {
            let outcome = try await nuke.run(
                "load", "a." + from, "--resize", "60", "--format", to, "-o", "out." + to, "--force")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let container = try container("out." + to)
            #expect(container.image.width == 60 && container.image.height == 40)
            let animation = try #require(container.animation, "\(from) to \(to)")
            #expect(animation.durations == [0.05, 0.1, 0.2, 0.4] && animation.playCount == 3)
            for index in 0..<4 {
                let frame = try animation.decodeFrame(at: index)
                #expect(frame.width == 60 && frame.height == 40)
                for place in 0..<4 {
                    // In the middle of the strip: red where it is that of the frame.
                    let pixel = frame.pixel(place * 15 + 7, 20)
                    #expect(pixel[0] > 230 && (pixel[1] < 40) == (place == index), "\(from) to \(to): \(pixel)")
                }
            }
        }
    }

    @Test("without --format an animation keeps its format", arguments: ["gif", "png", "webp"])
    func sameFormat(name: String) async throws {
        #expect(try await nuke.run("load", "a." + name, "-o", "out/").status == 0)
        let container = try container("out/a." + name)
        #expect(container.type == (try self.container("a." + name).type))
        #expect(container.animation?.frameCount == 4)
        #expect(container.animation?.durations == [0.05, 0.1, 0.2, 0.4])
        #expect(container.animation?.playCount == 3)
    }

    @Test("a format without animations, or --frame, gives one picture")
    func onePicture() async throws {
        #expect(try await nuke.run("load", "a.gif", "--format", "jpeg", "-o", "a.jpg").status == 0)
        #expect(try container("a.jpg").animation == nil)
        let outcome = try await nuke.run("load", "a.gif", "--frame", "2", "--resize", "60", "-o", "b.gif")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let picture = try container("b.gif")
        #expect(picture.animation == nil && picture.image.width == 60)
        #expect(picture.image.pixel(37, 20) == [255, 0, 0, 255])
    }
}
