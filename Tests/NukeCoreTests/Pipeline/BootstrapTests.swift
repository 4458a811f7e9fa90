import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// How an app registers what it chose, and what it is told where something is missing.
@Suite(.timeLimit(.minutes(5)))
struct BootstrapTests {
    let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0])

    /// A format of data that begins with its name, decoded to pictures of a gray.
    private func format(_ name: StaticString, gray: UInt8, declines: Bool = false) -> ImageFormat {
        ImageFormat(
            name: name.description, type: AssetType(rawValue: "org.example.\(name)"), mimeTypes: [],
            fileExtensions: [name.description.lowercased()], capabilities: [.decode],
            sniff: { $0.starts(with: name) ? .yes : .no },
            makeDecoder: { _ in declines ? nil : GrayDecoder(gray: gray) })
    }

    private struct GrayDecoder: ImageDecoding {
        let gray: UInt8
        func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: .mock(gray: gray)) }
    }

    private func pipeline(_ registry: ImageDecoderRegistry) -> ImagePipeline {
        ImagePipeline { configuration in
            configuration.decoderRegistry = registry
            configuration.dataLoaderRegistry = DataLoaderRegistry()
            configuration.imageCache = nil
        }
    }

    private func request(_ data: Data) -> ImageRequest {
        ImageRequest(url: URL(string: "data:;base64,\(data.base64EncodedString())"))
    }

    private func gray(_ data: Data, _ registry: ImageDecoderRegistry) async throws -> UInt8 {
        try await pipeline(registry).image(for: request(data)).pixel(0, 0)[0]
    }

    @Test("without a decoder the error names the product to add", arguments: [false, true])
    func emptyRegistry(isCleared: Bool) async {
        let registry = ImageDecoderRegistry()
        if isCleared {
            registry.register(format("PIX1", gray: 1))
            registry.register { _ in GrayDecoder(gray: 1) }
            registry.clear()
        }
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await pipeline(registry).image(for: request(png))
        }
        guard case .decoderNotRegistered(let context)? = error else {
            Issue.record("not decoderNotRegistered: \(String(describing: error))")
            return
        }
        #expect(context.data == png && context.isCompleted && context.request.url == request(png).url)
        #expect("\(error!)".contains("NukeDecodersPNG"))
    }

    @Test("data of no known format is said to be that, with its MIME type")
    func unknownData() async {
        let test = TestPipeline { $0.decoderRegistry = ImageDecoderRegistry() }
        let response = DataResponse(url: nil, statusCode: 200, headers: ["content-type": "text/html; charset=utf-8"])
        test.loader.answerEverything(with: .init(chunks: [Data("<html>".utf8)], response: response))
        let error = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: "http://x/y") }
        #expect("\(error!)" == "the data (6 bytes, served as text/html) is of no known image format")
    }

    @Test("without a loader the error names the product to add, and the scheme", arguments: ["http", "HTTPS", "ftp"])
    func noLoader(scheme: String) async {
        let url = URL(string: "\(scheme)://test.com/a.png")
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await pipeline(ImageDecoderRegistry()).image(for: ImageRequest(url: url))
        }
        let loadingError = error?.dataLoadingError as? DataLoadingError
        #expect(loadingError?.code == .noLoader(scheme: scheme.lowercased()))
        #expect("\(error!)".contains("NukeCurlLoader") == (scheme != "ftp"))
    }

    @Test("what is registered after the pipeline was used counts")
    func registeredLate() async throws {
        let registry = ImageDecoderRegistry()
        let pipeline = pipeline(registry)
        let data = Data("PIX1".utf8)
        await #expect(throws: ImagePipeline.Error.self) { try await pipeline.image(for: request(data)) }
        registry.register(format("PIX1", gray: 7))
        #expect(try await pipeline.image(for: request(data)).pixel(0, 0)[0] == 7)
        let loaders = pipeline.configuration.dataLoaderRegistry
        let url: ImageRequest = "http://test.com/a"
        await #expect(throws: ImagePipeline.Error.self) { try await pipeline.image(for: url) }
        let loader = MockDataLoader()
        loader.answerEverything(with: .init(chunks: [data]))
        loaders.register(loader, for: ["HTTP"])
        #expect(try await pipeline.image(for: url).pixel(0, 0)[0] == 7)
    }

    @Test("a format registered twice is there once, the newer one")
    func registeredTwice() async throws {
        let registry = ImageDecoderRegistry()
        registry.register(format("PIX1", gray: 1), format("OTHER", gray: 2))
        registry.register(format("PIX1", gray: 3))
        #expect(registry.formats.map(\.name) == ["PIX1", "OTHER"])
        #expect(try await gray(Data("PIX1".utf8), registry) == 3)
    }

    @Test("the newest format is asked first, and one that declines lets the search go on")
    func order() async throws {
        let registry = ImageDecoderRegistry()
        registry.register(format("P", gray: 1))
        registry.register(format("PI", gray: 2), format("PIX", gray: 3, declines: true))
        #expect(registry.formats.map(\.name) == ["PIX", "PI", "P"])
        #expect(try await gray(Data("PIX1".utf8), registry) == 2)
        #expect(try await gray(Data("PA".utf8), registry) == 1)
    }

    @Test("closures are asked before formats, the newest first; unregistering takes one out, once")
    func closures() async throws {
        let registry = ImageDecoderRegistry()
        registry.register(format("PIX1", gray: 1))
        let old = registry.register { _ in GrayDecoder(gray: 2) }
        let new = registry.register { _ in GrayDecoder(gray: 3) }
        registry.register { _ in nil }
        let data = Data("PIX1".utf8)
        #expect(try await gray(data, registry) == 3)
        registry.unregister(new)
        registry.unregister(new)
        #expect(try await gray(data, registry) == 2)
        registry.unregister(old)
        #expect(try await gray(data, registry) == 1)
    }

    @Test("a closure may register while it is asked")
    func registerWhileAsked() async throws {
        let registry = ImageDecoderRegistry()
        registry.register { [unowned registry] _ in
            registry.register { _ in GrayDecoder(gray: 9) }
            return nil
        }
        registry.register(format("PIX1", gray: 1))
        #expect(try await gray(Data("PIX1".utf8), registry) == 1)
        #expect(try await gray(Data("PIX1".utf8), registry) == 9)
    }

    @Test("formats that nobody registered are added at the end, and never override")
    func missingFormats() async throws {
        let registry = ImageDecoderRegistry()
        registry.register(format("PIX1", gray: 1))
        registry.registerMissing([format("PIX1", gray: 2), format("OTHER", gray: 3)])
        registry.registerMissing([format("OTHER", gray: 4)])
        #expect(registry.formats.map(\.name) == ["PIX1", "OTHER"])
        #expect(try await gray(Data("PIX1".utf8), registry) == 1)
        #expect(try await gray(Data("OTHER".utf8), registry) == 3)
        let loaders = DataLoaderRegistry()
        let own = MockDataLoader()
        loaders.register(own, for: ["http"])
        loaders.registerMissing({ MockDataLoader() }, for: ["http", "https"])
        #expect(loaders.loader(for: "http") as? MockDataLoader === own && loaders.loader(for: "https") != nil)
        loaders.registerMissing(
            {
                Issue.record("nothing was missing")
                return MockDataLoader()
            }, for: ["HTTP", "https"])
    }

    @Test("each pipeline may have a registry, or a factory, of its own")
    func perPipeline() async throws {
        let data = Data("PIX1".utf8)
        let (a, b) = (ImageDecoderRegistry(), ImageDecoderRegistry())
        a.register(format("PIX1", gray: 1))
        b.register(format("PIX1", gray: 2))
        #expect(try await gray(data, a) == 1)
        #expect(try await gray(data, b) == 2)
        let factory = ImagePipeline { configuration in
            configuration.decoderRegistry = a
            configuration.makeImageDecoder = { _ in GrayDecoder(gray: 3) }
            configuration.imageCache = nil
        }
        #expect(try await factory.image(for: request(data)).pixel(0, 0)[0] == 3)
    }

    @Test("a sniff that needs more is a no once there is no more")
    func needsMore() {
        let format = ImageFormat(
            name: "M", type: "m", mimeTypes: [], fileExtensions: [], capabilities: [],
            sniff: { $0.count < 4 ? .needsMoreData : $0.starts(with: "ABCD") ? .yes : .no })
        #expect(format.matches(Data("AB".utf8), isCompleted: false) == .needsMoreData)
        #expect(format.matches(Data("AB".utf8), isCompleted: true) == .no)
        #expect(format.matches(Data("xxABCD".utf8).dropFirst(2), isCompleted: false) == .yes)
        let greedy = ImageFormat(
            name: "G", type: "g", mimeTypes: [], fileExtensions: [], capabilities: [],
            sniff: { prefix in
                #expect(prefix.count <= ImageFormat.Prefix.maximumCount)
                return .needsMoreData
            })
        #expect(greedy.matches(Data(count: 20_000), isCompleted: false) == .no)
    }
}
