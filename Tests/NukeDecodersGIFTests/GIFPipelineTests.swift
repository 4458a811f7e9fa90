import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF in a pipeline", .timeLimit(.minutes(5)))
struct GIFPipelineTests {
    private let request = ImageRequest(url: URL(string: "http://example.org/a.gif"))

    private func pipeline(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> TestPipeline {
        TestPipeline { configuration in
            let registry = ImageDecoderRegistry()
            registry.register(.gif)
            configuration.decoderRegistry = registry
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = 0
            configure(&configuration)
        }
    }

    private var body: Data {
        var file = GIFFile.noise(80, 60)
        file.frames += file.frames + file.frames
        return file.data
    }

    @Test("a load gives the first frame, the type, all data, and the other frames [DEC-13]")
    func load() async throws {
        let download = await PartialDownload(pipeline(), request, body: body)
        let container = try await download.finish().get().container
        #expect(container.type == .gif && container.data == body)
        #expect(container.image.byteArray == (try Decoding.container(body).image.byteArray))
        #expect(container.animation?.frameCount == 3)
        #expect(try await container.animation?.frame(at: 2).width == 80)
    }

    @Test("a session has one preview, without a scan number [PRG-32]")
    func preview() async throws {
        let download = await PartialDownload(pipeline(), request, body: body)
        for end in stride(from: 500, to: body.count / 2, by: 500) { await download.send(upTo: end) }
        await waitUntil { download.previews.count == 1 }
        for end in stride(from: body.count / 2, to: body.count, by: 500) { await download.send(upTo: end) }
        let response = try await download.finish().get()
        let previews = await download.previews
        #expect(previews.count == 1)
        #expect(previews.first?.container.isPreview == true)
        #expect(previews.first?.container.userInfo[.scanNumberKey] == nil)
        #expect(previews.first?.image.width == 80)
        #expect(!response.container.isPreview)
    }

    @Test("with previews disabled there is none [PRG-33] [row 155]")
    func noPreview() async throws {
        let test = pipeline { $0.isProgressiveDecodingEnabled = false }
        let download = await PartialDownload(test, request, body: body)
        for end in stride(from: 500, to: body.count, by: 500) { await download.send(upTo: end) }
        #expect(try await download.finish().get().container.animation?.frameCount == 3)
        #expect(await download.previews.isEmpty)
    }

    @Test("what only begins with GIF has no decoder [DEC-14] [row 154]")
    func otherSignature() async {
        let body = Data("GIFxyz".utf8) + body.dropFirst(6)
        let download = await PartialDownload(pipeline(), request, body: body)
        let error = await #expect(throws: ImagePipeline.Error.self) { try await download.finish().get() }
        if case .decoderNotRegistered = error {} else { Issue.record("\(String(describing: error))") }
    }

    @Test("a file that ends within its second frame is the first [DEC-17]")
    func truncated() async throws {
        let body = body.prefix(body.count / 2)
        let download = await PartialDownload(pipeline(), request, body: body)
        let response = try await download.finish().get()
        #expect(response.image.width == 80)
        #expect(response.container.animation == nil)
    }
}
