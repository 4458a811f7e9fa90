import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

@Suite("Accept over HTTP", .timeLimit(.minutes(5)))
struct AcceptHeaderTests {
    @Test("a server is told what can be decoded, once, unless the request says it itself")
    func told() async throws {
        let jpeg = Array(try Fixture.data("jpeg/gen-444.jpg"))
        let server = try ScriptedServer { _ in [.response(body: jpeg)] }
        defer { server.stop() }
        let registry = ImageDecoderRegistry()
        registry.registerMissing([.jpeg, .webp, .avif, .mp4])
        let pipeline = ImagePipeline {
            $0.dataLoader = CurlLoader()
            $0.decoderRegistry = registry
            $0.imageCache = nil
        }
        _ = try await pipeline.image(for: ImageRequest(url: URL(string: server.url("/a.jpg"))))
        var own = DataRequest(url: URL(string: server.url("/b.jpg")))
        own.headers["Accept"] = "image/jpeg"
        _ = try await pipeline.image(for: ImageRequest(dataRequest: own))
        let expected = """
            image/webp, image/avif, image/avif-sequence, image/jpeg;q=0.9, video/mp4;q=0.6, video/3gpp;q=0.6, \
            image/*;q=0.5, */*;q=0.1
            """
        #expect(server.requests.map { $0.headers.values(for: "Accept") } == [[expected], ["image/jpeg"]])
    }
}
