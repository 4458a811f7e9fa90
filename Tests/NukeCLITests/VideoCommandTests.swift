import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

@Suite(
    .enabled(if: ImageFormat.mp4.missingLibrary() == nil, "libav is not there"), .timeLimit(.minutes(5)))
struct VideoCommandTests {
    private let nuke: CommandLineProgram
    private let path = Fixture.folder + "/video/gen-black-first.mp4"

    init() throws { nuke = try CommandLineProgram() }

    @Test("load writes the first picture that is not black, that of a time or a part, or a sheet")
    func load() async throws {
        for (arguments, isBlack, width, height) in [
            ([], false, 160, 120), (["--at", "0s"], true, 160, 120), (["--at", "0.5"], true, 160, 120),
            (["--at", "1.5s"], false, 160, 120), (["--at", "50%"], false, 160, 120),
            (["--sheet", "4x2", "--resize", "320"], false, 320, 120),
        ] as [([String], Bool, Int, Int)] {
            let outcome = try await nuke.run(["load", path, "-o", "out.png", "--force"] + arguments)
            #expect(outcome.status == 0, "\(outcome.errors)")
            let data = try nuke.folder.data("out.png")
            let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
            let image = try ImageDecoders.PNG(context: context).decode(data).image
            #expect((image.width, image.height) == (width, height), "\(arguments)")
            #expect((PixelStatistics(image).mean[0] < 5) == isBlack, "\(arguments)")
        }
    }

    @Test("info tells the duration, the codec, the rate and whether there is sound")
    func info() async throws {
        let object = try #require(try await nuke.run("info", path, "--json").objects().first)
        #expect(object["durationMs"] == .number(3000) && object["codec"] == .text("h264"))
        #expect(object["frameRate"] == .number(15) && object["hasAudio"] == .flag(false))
    }

    @Test(
        "what is no time, part or sheet is a wrong use",
        arguments: [
            ["--at", "x"], ["--at", "-1s"], ["--at", "101%"], ["--at", "nan"], ["--at", ""], ["--sheet", "4"],
            ["--sheet", "0x4"], ["--sheet", "500x1"], ["--sheet", "30x30"], ["--at", "1s", "--sheet", "2x2"],
        ])
    func usage(_ arguments: [String]) async throws {
        let outcome = try await nuke.run(["load", path] + arguments)
        #expect(outcome.status == 2 && outcome.errors.hasPrefix("nuke: "))
    }

    @Test("A thumbnail of a JPEG, and --version, open none of libav's libraries")
    func opensNothing() async throws {
        let picture = Fixture.folder + "/jpeg/gen-420.jpg"
        for arguments in [["load", picture, "--resize", "32", "-o", "a.jpg"], ["--version"]] {
            let log = nuke.folder.file("opened")
            let outcome = try await nuke.run(arguments, environment: ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": log])
            #expect(outcome.status == 0)
            let names = nuke.folder.names.filter { $0.hasPrefix("opened") }
            let text = try names.map { String(decoding: try nuke.folder.data($0), as: UTF8.self) }.joined()
            #expect(text.contains("libjpeg") && !text.contains("libav") && !text.contains("libswscale"))
        }
    }
}
