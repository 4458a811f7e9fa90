import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore
@testable import NukeKit

/// Real requests over real connections, with real codecs and files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct EndToEndTests {
    private func pipeline(
        decodes: Locked<Int> = Locked(0), _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> ImagePipeline {
        var configuration = CountingDecoder.configuration(decodes)
        configure(&configuration)
        return ImagePipeline(configuration: configuration)
    }

    @Test("100 tasks on one URL, 3 processor lists, 2 sizes: 1 request, a decode a hint, each processor once")
    func coalescing() async throws {
        let gate = ThreadGate()
        let jpeg = Array(try Fixture.data("jpeg/gen-420.jpg"))
        let server = try ScriptedServer { _ in [.wait(gate), .response(body: jpeg)] }
        let decodes = Locked(0)
        let pipeline = pipeline(decodes: decodes)
        let counter = MockProcessor.Counter()
        let lists = [100.0, 50].flatMap { width -> [[any ImageProcessing]] in
            let resize = ImageProcessors.Resize(width: width)
            let one = MockProcessor("1-\(width)", counter: counter)
            let two = MockProcessor("2-\(width)", counter: counter)
            return [[resize], [resize, one], [resize, one, two]]
        }
        let url = URL(string: server.url("/a.jpg"))
        let tasks = (0..<100).map { pipeline.imageTask(with: ImageRequest(url: url, processors: lists[$0 % 6])) }
        await waitUntil { pipeline.taskCount == 100 }
        gate.open()
        for (index, task) in tasks.enumerated() {
            let image = try await task.image
            #expect(image.width == (index % 6 < 3 ? 100 : 50))
        }
        #expect(server.requests.count == 1 && decodes.withLock { $0 } == 2)
        #expect(counter.order.sorted() == ["1-100.0", "1-50.0", "2-100.0", "2-50.0"])
        server.stop()
    }

    @Test("two Authorization values: 2 requests, no shared memory entry or file, and no value in any file")
    func authorization() async throws {
        let folder = try TemporaryFolder()
        let jpeg = Array(try Fixture.data("jpeg/gen-444.jpg"))
        let server = try ScriptedServer { _ in [.response(body: jpeg)] }
        let cache = try DataCache(path: folder.path)
        let memory = MockImageCache()
        let pipeline = pipeline {
            $0.dataCache = cache
            $0.imageCache = memory
        }
        let secrets = ["Bearer hunter-one", "Bearer hunter-two"]
        var images: [Bitmap] = []
        for secret in secrets {
            var dataRequest = DataRequest(url: URL(string: server.url("/a.jpg")))
            dataRequest.headers["Authorization"] = secret
            images.append(try await pipeline.image(for: ImageRequest(dataRequest: dataRequest)))
        }
        #expect(server.requests.map { $0.headers["Authorization"] } == secrets)
        #expect(images[0] !== images[1] && memory.count == 2)
        await pipeline.finishDataStores()
        cache.flush()
        #expect(cache.totalCount == 2)
        var files = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            guard let data = try? File.read(folder.file(name)) else { continue }
            files += 1
            #expect(!data.contains(text: "hunter") && !name.contains("hunter"))
        }
        #expect(files >= 2)
        server.stop()
    }

    @Test("loaded, then from disk, then from memory")
    func caches() async throws {
        let folder = try TemporaryFolder()
        let jpeg = Array(try Fixture.data("jpeg/gen-420.jpg"))
        let server = try ScriptedServer { _ in [.response(body: jpeg)] }
        let cache = try DataCache(path: folder.path)
        let request = ImageRequest(url: URL(string: server.url("/a.jpg")), processors: [.resize(width: 64)])
        let memory = ImageCache()
        let passes: [(ImageResponse.CacheType?, ImageCache)] = [
            (nil, ImageCache()), (.disk, memory), (.memory, memory),
        ]
        for (expected, imageCache) in passes {
            let pipeline = pipeline {
                $0.dataCache = cache
                $0.imageCache = imageCache
            }
            let response = try await pipeline.imageTask(with: request).response
            #expect(response.cacheType == expected && response.image.width == 64)
            await pipeline.finishDataStores()
        }
        #expect(server.requests.count == 1)
        server.stop()
    }

    @Test("errors of the network, of statuses and of codecs come through as they are")
    func errors() async throws {
        let cut = Array(try Fixture.data("broken/trunc50-plain.png"))
        let server = try ScriptedServer { request in
            switch request.target {
            case "/404": [.response(404)]
            case "/cut": [.send(ScriptedServer.head(headers: [("Content-Length", "1000")]) + [1, 2, 3]), .close]
            case "/damaged": [.response(body: cut)]
            case "/text": [.response(headers: [("Content-Type", "text/html")], body: Array("<html>".utf8))]
            default: [.response()]
            }
        }
        let pipeline = pipeline()
        func error(_ path: String) async -> ImagePipeline.Error? {
            do throws(ImagePipeline.Error) {
                _ = try await pipeline.image(for: ImageRequest(url: URL(string: server.url(path))))
                return nil
            } catch {
                return error
            }
        }
        #expect(await error("/404")?.dataLoadingError as? DataLoadingError == .statusCodeUnacceptable(404))
        #expect((await error("/cut")?.dataLoadingError as? DataLoadingError)?.code == .truncatedBody)
        guard case .dataIsEmpty? = await error("/empty") else {
            Issue.record("not empty")
            return
        }
        guard case .decodingFailed(_, _, let damage as ImageDecodingError)? = await error("/damaged") else {
            Issue.record("not a decoding error")
            return
        }
        #expect(damage.codec == "PNG" && (damage.code == .truncated || damage.code == .corruptData))
        guard case .decoderNotRegistered? = await error("/text") else {
            Issue.record("a decoder for HTML")
            return
        }
        server.stop()
    }
}
