import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// What servers are told of the formats that are registered.
@Suite("Accept", .timeLimit(.minutes(5)))
struct AcceptTests {
    private struct NoDecoder: ImageDecoding {
        func decode(_ data: Data) throws -> ImageContainer { throw ImageDecodingError.unknown }
    }

    private func format(_ type: AssetType, _ mimeTypes: String..., isDecodable: Bool = true) -> ImageFormat {
        var makeDecoder: (@Sendable (ImageDecodingContext) -> (any ImageDecoding)?)?
        if isDecodable { makeDecoder = { _ in NoDecoder() } }
        return ImageFormat(
            name: type.rawValue, type: type, mimeTypes: mimeTypes, fileExtensions: [], capabilities: [],
            sniff: { _ in .no }, makeDecoder: makeDecoder)
    }

    private func registry(_ formats: [ImageFormat]) -> ImageDecoderRegistry {
        let registry = ImageDecoderRegistry()
        registry.registerMissing(formats)
        return registry
    }

    private var common: [ImageFormat] {
        [
            format(.jpeg, "image/jpeg"), format(.png, "image/png", "image/apng"), format(.gif, "image/gif"),
            format(.webp, "image/webp"), format(.avif, "image/avif"), format(.mp4, "video/mp4"),
        ]
    }

    @Test("new formats come first, older ones have weights, any image and anything come last")
    func weights() {
        let value = """
            image/webp, image/avif, image/jpeg;q=0.9, image/png;q=0.9, image/apng;q=0.9, image/gif;q=0.8, video/mp4;q=0.6, \
            image/*;q=0.5, */*;q=0.1
            """
        #expect(registry(common).acceptHeaderValue == value)
        // The same on every run, and whoever asks.
        #expect(Set((0..<20).map { _ in registry(common).acceptHeaderValue }) == [value])
    }

    @Test("what is registered, added or removed counts at once; formats of one's own come first")
    func changes() {
        let registry = ImageDecoderRegistry()
        #expect(registry.acceptHeaderValue == nil)
        registry.register { _ in nil }
        #expect(registry.acceptHeaderValue == nil)
        registry.register(format(.jpeg, "image/jpeg"))
        #expect(registry.acceptHeaderValue == "image/jpeg;q=0.9, image/*;q=0.5, */*;q=0.1")
        registry.register(format("org.example.pix", "image/x-pix", "IMAGE/JPEG"))
        #expect(registry.acceptHeaderValue == "image/x-pix, image/jpeg, image/*;q=0.5, */*;q=0.1")
        registry.register(format("org.example.pix", "image/x-pix"))
        #expect(registry.acceptHeaderValue == "image/x-pix, image/jpeg;q=0.9, image/*;q=0.5, */*;q=0.1")
        registry.clear()
        #expect(registry.acceptHeaderValue == nil)
    }

    @Test("what can only be written, and what is no media type, is left out")
    func leftOut() {
        let formats = [
            format(.jpeg, "image/jpeg", isDecodable: false),
            format("org.example.odd", "image/a b", "image", "image/x;q=1", "image/\r\nCookie: a", "a/b/c", "image/ü"),
        ]
        #expect(registry([formats[0]]).acceptHeaderValue == nil)
        #expect(registry(formats).acceptHeaderValue == "image/*;q=0.5, */*;q=0.1")
    }

    private func accepted(
        _ request: ImageRequest, _ formats: [ImageFormat], delegate: (any ImagePipeline.Delegate)? = nil
    ) async -> [String?] {
        let test = TestPipeline(delegate: delegate) { $0.decoderRegistry = registry(formats) }
        _ = try? await test.pipeline.data(for: request)
        return test.loader.transfers.map { $0.request.headers["Accept"] }
    }

    @Test("the pipeline tells it over HTTP where a request does not, and it is in no key")
    func pipeline() async throws {
        let value = registry(common).acceptHeaderValue
        for text in ["http://example.com/a", "HTTPS://example.com/a"] {
            #expect(await accepted(ImageRequest(url: URL(string: text)), common) == [value])
        }
        #expect(await accepted(ImageRequest(url: URL(string: "other://example.com/a")), common) == [nil])
        #expect(await accepted(ImageRequest(url: URL(string: "http://example.com/a")), []) == [nil])
        var own = DataRequest(url: URL(string: "http://example.com/a"))
        own.headers["accept"] = "image/png"
        #expect(await accepted(ImageRequest(dataRequest: own), common) == ["image/png"])
        let pipelines = [common, []].map { formats in TestPipeline { $0.decoderRegistry = registry(formats) } }
        let plain = ImageRequest(url: own.url)
        let keys = pipelines.map { $0.pipeline.cache.makeDataCacheKey(for: plain) }
        #expect(
            keys[0] == keys[1]
                && keys[0] != pipelines[0].pipeline.cache.makeDataCacheKey(for: ImageRequest(dataRequest: own)))
    }

    @Test("a delegate sees it, and has the last word")
    func delegate() async {
        let seen = Locked<String?>(nil)
        let delegate = HookedDelegate { hooks in
            hooks.willLoadData = { _, dataRequest in
                var changed = dataRequest
                seen.withLock { $0 = dataRequest.headers["Accept"] }
                changed.headers["Accept"] = nil
                return changed
            }
        }
        #expect(
            await accepted(ImageRequest(url: URL(string: "http://example.com/a")), common, delegate: delegate) == [nil])
        #expect(seen.withLock { $0 } == registry(common).acceptHeaderValue)
    }
}
