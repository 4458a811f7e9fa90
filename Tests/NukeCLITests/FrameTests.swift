import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

/// `nuke load --frame`.
@Suite("nuke load --frame", .timeLimit(.minutes(2)))
struct FrameTests {
    let nuke: CommandLineProgram

    init() throws { nuke = try CommandLineProgram() }

    /// The frames of a fixture, as the library gives them.
    private func frames(_ path: String) async throws -> [Bitmap] {
        NukeKit.install()
        let data = try Fixture.data(path)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        let decoder = try #require(ImageDecoderRegistry.shared.decoder(for: context))
        let animation = try #require(try decoder.decode(data).animation)
        var frames: [Bitmap] = []
        for index in 0..<animation.frameCount { frames.append(try await animation.frame(at: index)) }
        return frames
    }

    @Test("writes the frame with that number, counted from 0")
    func frame() async throws {
        try nuke.add("webp/gen-anim-offsets.webp", as: "a.webp")
        let frames = try await frames("webp/gen-anim-offsets.webp")
        #expect(frames.count == 6)
        for index in [0, 3, 5] {
            let outcome = try await nuke.run(
                "load", "a.webp", "--frame", "\(index)", "--format", "png", "-o", "\(index).png")
            #expect(outcome.status == 0 && outcome.errors.isEmpty)
            let picture = try nuke.picture("\(index).png")
            #expect(PixelStatistics(picture).mean == PixelStatistics(frames[index]).mean)
            #expect(picture.size == frames[index].size)
        }
        #expect(try nuke.folder.data("0.png") != nuke.folder.data("3.png"))
        // Without the option: all frames, the first of which is the still picture.
        #expect(try await nuke.run("load", "a.webp", "--format", "png", "-o", "all.png").status == 0)
        #expect(try nuke.picture("all.png").byteArray == nuke.picture("0.png").byteArray)
        #expect(try nuke.folder.data("all.png").count > nuke.folder.data("0.png").count * 2)
    }

    @Test("resizes and encodes a frame like any picture")
    func processed() async throws {
        try nuke.add("webp/gen-anim-loop65535.webp", as: "a.webp")  // 96×64
        let outcome = try await nuke.run(
            "load", "a.webp", "--frame", "4", "--resize", "30x30", "--crop", "--format", "jpg", "-o", "out/", "--json")
        #expect(outcome.status == 0)
        let object = try outcome.objects()[0]
        #expect(object["width"] == .number(30) && object["height"] == .number(30) && object["format"] == .text("jpeg"))
        let picture = try nuke.picture("out/a.jpg")
        #expect(picture.width == 30 && picture.height == 30)
    }

    @Test("an index out of range fails for that input alone, and tells how many frames there are")
    func outOfRange() async throws {
        try nuke.add("webp/gen-anim-offsets.webp", as: "a.webp")
        try nuke.add("webp/gen-anim-loop65535.webp", as: "b.webp")
        try nuke.add("jpeg/gen-420.jpg", as: "c.jpg")
        let outcome = try await nuke.run("load", "a.webp", "b.webp", "c.jpg", "--frame", "6", "-o", "out", "--json")
        #expect(outcome.status == 1)
        let objects = try outcome.objects()
        #expect(objects.map { $0["ok"] } == [.flag(false), .flag(true), .flag(false)])
        #expect(objects[0]["error"] == .text("no frame 6: there are 6 frames, 0 to 5"))
        #expect(objects[2]["error"] == .text("no frame 6: there is one frame, 0"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: nuke.folder.file("out")) == ["b.webp"])
    }

    @Test("a still picture is its own frame 0")
    func still() async throws {
        try nuke.add("jpeg/gen-o6.jpg", as: "a.jpg")
        for options in [["--frame", "0"], []] {
            let outcome = try await nuke.run(
                ["load", "a.jpg", "--resize", "20", "--format", "png", "-o", "\(options.count).png"] + options)
            #expect(outcome.status == 0)
            #expect(try nuke.picture("\(options.count).png").size == ImageSize(width: 20, height: 36))
        }
    }
}
