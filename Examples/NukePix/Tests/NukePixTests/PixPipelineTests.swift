import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukePix
import NukeTestKit
import Testing

/// What the guide says of a format that is registered, or is not.
@Suite("Pix in a pipeline", .timeLimit(.minutes(5)))
struct PixPipelineTests {
    private let registry = ImageDecoderRegistry()
    private let loader = ScriptedLoader()
    private let file = TestPictures.file(120, 90)
    private let request = ImageRequest(url: URL(string: "https://example.com/a.pix"))

    private func pipeline(_ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline {
        ImagePipeline {
            $0.dataLoader = loader
            $0.decoderRegistry = registry
            $0.imageCache = nil
            configure(&$0)
        }
    }

    private func answer(_ data: Data) { loader.answerEverything(with: .init(chunks: [data])) }

    @Test("Without the decoder the error says that none is registered")
    func withoutDecoder() async {
        answer(file)
        let error = await #expect(throws: ImagePipeline.Error.self) { try await pipeline().image(for: request) }
        guard case .decoderNotRegistered(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.data == file)
    }

    @Test("With it the picture is loaded, and resized")
    func withDecoder() async throws {
        registry.register(.pix)
        answer(file)
        let response = try await pipeline().imageTask(with: request).response
        #expect(response.image.size == ImageSize(width: 120, height: 90))
        #expect(response.container.type == .pix)
        let small = ImageRequest(url: request.url, processors: [.resize(width: 40)])
        #expect(try await pipeline().image(for: small).size == ImageSize(width: 40, height: 30))
    }

    @Test("While it loads there are previews, the small picture first")
    func previews() async throws {
        registry.register(.pix)
        loader.answerEverything(with: nil)
        let pipeline = pipeline {
            $0.isProgressiveDecodingEnabled = true
            $0.progressiveDecodingInterval = 0
        }
        let task = pipeline.imageTask(with: request)
        let previews = task.previews
        let load = Task { try await task.response }
        while loader.transfers.isEmpty { await Task.yield() }
        let transfer = loader.transfers[0]
        let response = DataResponse(url: request.url, statusCode: 200, expectedContentLength: Int64(file.count))
        transfer.send(file.prefix(9 + 15 * 12 * 3), response)
        var iterator = previews.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first.container.isPreview && first.image.size == ImageSize(width: 120, height: 90))
        transfer.send(file.dropFirst(9 + 15 * 12 * 3), response)
        transfer.finish()
        #expect(try await load.value.container.isPreview == false)
    }

    @Test("Cut short it fails, and with a lenient policy shows the rows that are there")
    func cutShort() async throws {
        registry.register(.pix)
        answer(file.prefix(file.count / 2))
        let error = await #expect(throws: ImagePipeline.Error.self) { try await pipeline().image(for: request) }
        guard case .decodingFailed(_, _, let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((reason as? ImageDecodingError)?.code == .truncated)
        let response = try await pipeline { $0.truncationPolicy = .lenient }.imageTask(with: request).response
        #expect(response.image.size == ImageSize(width: 120, height: 90))
        #expect(response.container.userInfo[.isTruncatedKey] as? Bool == true)
    }

    @Test("A PNG goes to the decoder of PNG, and without that one fails as not registered")
    func png() async throws {
        registry.register(.pix)
        let picture = try #require(TestPictures.picture(20, 10))
        let context = ImageEncodingContext(request: request, image: picture)
        let png = try #require(ImageFormat.png.makeEncoder?(.init()))
            .encodedData(for: ImageContainer(image: picture), context: context)
        answer(png)
        let error = await #expect(throws: ImagePipeline.Error.self) { try await pipeline().image(for: request) }
        guard case .decoderNotRegistered? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        registry.register(.png)
        #expect(try await pipeline().imageTask(with: request).response.container.type == .png)
    }
}
