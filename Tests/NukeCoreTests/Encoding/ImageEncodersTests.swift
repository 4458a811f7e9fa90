import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ImageEncodersTests {
    private let opaque = ImageContainer(image: .mock())
    /// Every alpha is full, but the bitmap has an alpha channel that may be anything.
    private let withAlpha = ImageContainer(image: .make(width: 2, height: 2) { _, _ in [9, 9, 9, 255] })

    private func registry(_ formats: ImageFormat...) -> ImageDecoderRegistry {
        let registry = ImageDecoderRegistry()
        for format in formats { registry.register(format) }
        return registry
    }

    private func context(_ container: ImageContainer) -> ImageEncodingContext {
        ImageEncodingContext(request: ImageRequest(url: URL(string: "http://test.com")), image: container.image)
    }

    private func text(_ encoder: some ImageEncoding, _ container: ImageContainer) throws -> String {
        String(decoding: try encoder.encodedData(for: container, context: context(container)), as: UTF8.self)
    }

    private func error(_ encoder: some ImageEncoding, _ container: ImageContainer) -> ImageEncodingError? {
        #expect(throws: ImageEncodingError.self) { try text(encoder, container) }
    }

    // MARK: Default

    @Test("opaque images become JPEG, others PNG, with quality 0.8 [ENC-01]")
    func byOpacity() throws {
        let encoder = ImageEncoders.Default(registry: registry(.mock(.jpeg, capabilities: .encode), .mock(.png)))
        #expect(try text(encoder, opaque) == "public.jpeg 0.8")
        #expect(try text(encoder, withAlpha) == "public.png 0.8")
        #expect(encoder.encode(opaque.image) == Data("public.jpeg 0.8".utf8))
        let rough = ImageEncoders.Default(compressionQuality: 0.1, registry: registry(.mock(.jpeg)))
        #expect(try text(rough, opaque) == "public.jpeg 0.1")
    }

    @Test("an alpha channel counts, not what is in it [ENC-02]")
    func alphaChannel() throws {
        let encoder = ImageEncoders.Default(registry: registry(.mock(.jpeg), .mock(.png)))
        #expect(try text(encoder, withAlpha).hasPrefix("public.png"))
        guard let gray = PixelBuffer(width: 1, height: 1, format: .gray8) else { return }
        #expect(try text(encoder, ImageContainer(image: gray.freeze())).hasPrefix("public.jpeg"))
    }

    @Test("a GIF that is an animation becomes what is preferred, if that holds animations; else its data is the result")
    func preferredAnimation() throws {
        final class Frames: ImageFrameDecoding {
            func frame(at index: Int) throws -> Bitmap { .mock() }
        }
        var container = ImageContainer(image: .mock(), type: .gif, data: Data("GIF89a".utf8))
        let all = registry(
            .mock(.jpeg), .mock(.png), .mock(.webp, capabilities: [.encode, .animationEncoding]), .mock(.gif))
        func text(_ type: AssetType?, _ container: ImageContainer) throws -> String {
            try self.text(ImageEncoders.Default(preferredType: type, registry: all), container)
        }
        #expect(try text(.webp, container) == "GIF89a")
        container.animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Frames())
        #expect(try text(.webp, container).hasPrefix("org.webmproject.webp"))
        for type in [nil, .png, .gif, .heic] as [AssetType?] { #expect(try text(type, container) == "GIF89a") }
        container.data = nil
        #expect(throws: ImageEncodingError.self) { try text(.gif, container) }
    }

    @Test("another type is written if preferred, registered and able to hold the image [ENC-01]")
    func preferredType() throws {
        let all = registry(.mock(.jpeg), .mock(.png), .mock(.webp), .mock(.heic, capabilities: .encode))
        var encoder = ImageEncoders.Default(preferredType: .webp, registry: all)
        #expect(try text(encoder, opaque).hasPrefix("org.webmproject.webp"))
        #expect(try text(encoder, withAlpha).hasPrefix("org.webmproject.webp"))
        encoder.isHEIFPreferred = true
        #expect(try text(encoder, opaque).hasPrefix("public.heic"))
        #expect(try text(encoder, withAlpha).hasPrefix("public.png"))
        encoder.isHEIFPreferred = false
        #expect(encoder.preferredType == nil && !encoder.isHEIFPreferred)
        let unregistered = ImageEncoders.Default(preferredType: .webp, registry: registry(.mock(.jpeg)))
        #expect(try text(unregistered, opaque).hasPrefix("public.jpeg"))
    }

    @Test("what is not registered is an error that names the product to add")
    func missingProduct() throws {
        let none = ImageEncoders.Default(registry: registry())
        let jpeg = try #require(error(none, opaque))
        #expect(jpeg.code == .encoderNotRegistered && jpeg.reason.contains("NukeDecodersJPEG"))
        let png = try #require(error(ImageEncoders.Default(registry: registry(.mock(.jpeg))), withAlpha))
        #expect(png.code == .encoderNotRegistered && png.reason.contains("NukeDecodersPNG"))
        let webp = try #require(error(ImageEncoders.ImageIO(type: .webp, registry: registry()), opaque))
        #expect(webp.code == .encoderNotRegistered && webp.reason.contains("NukeDecodersWebP"))
        #expect(none.encode(opaque.image) == nil && none.encode(opaque, context: context(opaque)) == nil)
        let onlyPNG = ImageEncoders.Default(registry: registry(.mock(.png)))
        #expect(try text(onlyPNG, opaque).hasPrefix("public.png"))
    }

    @Test("a format registered after the encoder was made counts")
    func lateRegistration() throws {
        let registry = registry()
        let encoder = ImageEncoders.Default(registry: registry)
        #expect(encoder.encode(opaque.image) == nil)
        registry.register(.mock(.jpeg))
        #expect(encoder.encode(opaque.image) != nil)
    }

    @Test("a GIF is its own data, and nothing without it [ENC-05]")
    func gif() throws {
        let encoder = ImageEncoders.Default(registry: registry(.mock(.jpeg), .mock(.png), .mock(.gif)))
        let gif = ImageContainer(image: .mock(), type: .gif, data: Data("GIF89a".utf8))
        #expect(try text(encoder, gif) == "GIF89a")
        var withoutData = gif
        withoutData.data = nil
        #expect(encoder.encode(withoutData, context: context(withoutData)) == nil)
        #expect(error(encoder, withoutData)?.code == .unsupported)
    }

    @Test("errors of an encoder are passed on as they are, or in words, and no data is one")
    func encoderErrors() {
        struct Broken: Error {}
        let cases: [(@Sendable () throws -> Data?, ImageEncodingError)] = [
            ({ throw ImageEncodingError.missingCodec("install it", codec: "X") }, .missingCodec("", codec: "X")),
            ({ throw Broken() }, .failed("", codec: "public.jpeg")),
            ({ Data() }, .failed("", codec: "public.jpeg")),
        ]
        for (result, expected) in cases {
            let format = ImageFormat.mock(.jpeg) { _ in MockEncoder { _ in try result() } }
            #expect(error(ImageEncoders.Default(registry: registry(format)), opaque) == expected)
        }
        let declining = ImageFormat.mock(.jpeg) { _ in nil }
        #expect(error(ImageEncoders.Default(registry: registry(declining)), opaque)?.code == .unsupported)
    }

    // MARK: One type

    @Test("an encoder of one type: JPEG and PNG where registered; other types and images are nil [ENC-06]")
    func oneType() throws {
        let refusing = ImageFormat.mock(.webp) { _ in MockEncoder { _ in nil } }
        let registry = registry(.mock(.jpeg), .mock(.png), refusing)
        for type in [AssetType.jpeg, .png] {
            #expect(ImageEncoders.ImageIO.isSupported(type: type, in: registry))
            let encoder = ImageEncoders.ImageIO(type: type, registry: registry)
            #expect(try text(encoder, withAlpha).hasPrefix(type.rawValue))
            #expect(encoder.encode(opaque.image) != nil)
        }
        let unknown = ImageEncoders.ImageIO(type: "org.example.unknown", registry: registry)
        #expect(!ImageEncoders.ImageIO.isSupported(type: unknown.type, in: registry))
        #expect(unknown.encode(opaque.image) == nil && error(unknown, opaque)?.code == .encoderNotRegistered)
        #expect(ImageEncoders.ImageIO(type: .webp, registry: registry).encode(opaque.image) == nil)
        let decodeOnly = ImageFormat(
            name: "GIF", type: .gif, mimeTypes: [], fileExtensions: [], capabilities: .decode, sniff: { _ in .no })
        registry.register(decodeOnly)
        #expect(!ImageEncoders.ImageIO.isSupported(type: .gif, in: registry))
    }

    @Test("support can be asked for from many threads while formats are registered [ENC-07]")
    func supportQueries() async {
        let registry = registry(.mock(.jpeg))
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<100 {
                group.addTask {
                    if index % 10 == 0 { registry.register(.mock(AssetType(rawValue: "org.example.\(index)"))) }
                    return ImageEncoders.ImageIO.isSupported(type: .jpeg, in: registry)
                        && !ImageEncoders.ImageIO.isSupported(type: .png, in: registry)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        registry.register(.mock(.png))
        #expect(ImageEncoders.ImageIO.isSupported(type: .png, in: registry))
    }

    @Test("the default ratio is 0.8 [ENC-08]")
    func ratio() throws {
        #expect(ImageEncoders.ImageIO(type: .jpeg).compressionRatio == 0.8)
        #expect(
            try text(ImageEncoders.ImageIO(type: .jpeg, registry: registry(.mock(.jpeg))), opaque) == "public.jpeg 0.8")
        let encoder: some ImageEncoding = .imageIO(type: .jpeg, compressionRatio: 0.5)
        #expect((encoder as? ImageEncoders.ImageIO)?.compressionRatio == 0.5)
        let other: some ImageEncoding = .default(compressionQuality: 0.3)
        #expect((other as? ImageEncoders.Default)?.compressionQuality == 0.3)
    }

    // MARK: Configuration

    @Test("a pipeline's encoder is the configuration's, or the default one with its own registry [ENC-11]")
    func configuredEncoder() throws {
        let custom = MockEncoder()
        let own = ImagePipeline { $0.makeImageEncoder = { _ in custom } }
        #expect(own.delegate.imageEncoder(for: context(opaque), pipeline: own) as? MockEncoder === custom)
        let registry = registry(.mock(.jpeg))
        let plain = ImagePipeline { $0.decoderRegistry = registry }
        let encoder = plain.delegate.imageEncoder(for: context(opaque), pipeline: plain)
        #expect(encoder is ImageEncoders.Default && encoder.encode(opaque.image) == Data("public.jpeg 0.8".utf8))
    }

    @Test("the configuration's encoder gets request, image and response [ENC-11]")
    func encoderContext() async throws {
        let made = Locked<[ImageEncodingContext]>([])
        let encoder = MockEncoder()
        let test = TestPipeline(hasDataCache: true) { configuration in
            configuration.dataCachePolicy = .storeEncodedImages
            configuration.makeImageEncoder = { context in
                made.withLock { $0.append(context) }
                return encoder
            }
        }
        let request = ImageRequest(url: URL(string: "http://test.com/a.jpeg"), processors: [MockProcessor("1")])
        let image = try await test.pipeline.image(for: request)
        await test.pipeline.finishDataStores()
        for contexts in [made.withLock { $0 }, encoder.contexts] {
            #expect(contexts.map(\.image) == [image] && contexts.map(\.request.url) == [request.url])
            #expect(contexts.first?.dataResponse?.statusCode == 200)
        }
        #expect(test.dataCache?.entries == [request.dataKey: Data("encoded".utf8)])
    }
}
