import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ContainerTests {
    let url = URL(string: "http://test.com/example.jpeg")

    @Test("a container of just an image has the defaults [CNT-01]")
    func defaults() {
        let container = ImageContainer(image: .mock())
        #expect(container.type == nil && !container.isPreview && container.data == nil && container.userInfo.isEmpty)
    }

    @Test("changing a copy leaves the source as it is [CNT-02]")
    func copies() {
        let source = ImageContainer(image: .mock())
        var copy = source
        copy.image = .mock(gray: 1)
        copy.type = .png
        copy.isPreview = true
        copy.data = Data([1])
        copy.userInfo = ["a": 1]
        #expect(source.image !== copy.image && source.type == nil && !source.isPreview)
        #expect(source.data == nil && source.userInfo.isEmpty)
        #expect(copy.type == .png && copy.isPreview && copy.data == Data([1]) && copy.userInfo["a"] as? Int == 1)
    }

    @Test("the scan number's key is the one that people know [CNT-03]")
    func scanNumberKey() {
        #expect(ImageContainer.UserInfoKey.scanNumberKey.rawValue == "com.github/kean/nuke/scan-number")
        var container = ImageContainer(image: .mock())
        container.userInfo[.scanNumberKey] = 1
        #expect(container.userInfo["com.github/kean/nuke/scan-number"] as? Int == 1)
    }

    @Test("a response has the container's image and preview flag [CNT-04]")
    func forwarding() {
        let image = Bitmap.mock()
        let container = ImageContainer(image: image, isPreview: true)
        let response = ImageResponse(container: container, request: ImageRequest(url: url))
        #expect(response.image === image && response.isPreview)
    }

    @Test("a response has no data response and no cache type by default [CNT-05]")
    func responseDefaults() {
        let response = ImageResponse(container: ImageContainer(image: .mock()), request: ImageRequest(url: url))
        #expect(response.dataResponse == nil && response.cacheType == nil)
        #expect(Set([ImageResponse.CacheType.memory, .disk]).count == 2)
    }

    @Test("the cache type tells memory, disk, or nothing for what was loaded [CNT-06]")
    func cacheTypes() async throws {
        let test = TestPipeline(hasDataCache: true)
        let request = ImageRequest(url: url)
        #expect(try await test.pipeline.imageTask(with: request).response.cacheType == nil)
        #expect(try await test.pipeline.imageTask(with: request).response.cacheType == .memory)
        test.imageCache.removeAll()
        #expect(try await test.pipeline.imageTask(with: request).response.cacheType == .disk)
        let closure = ImageRequest(id: "a", data: { Data([1]) }, options: [.disableDiskCache])
        #expect(try await test.pipeline.imageTask(with: closure).response.cacheType == nil)
        let local = ImageRequest(url: URL(string: "data:,x"))
        #expect(try await test.pipeline.imageTask(with: local).response.cacheType == nil)
        let file = ImageRequest(url: URL(filePath: Fixture.folder + "/README.md"))
        #expect(try await test.pipeline.imageTask(with: file).response.cacheType == nil)
    }

    @Test("what is processed from a cached image keeps its cache type [CNT-07]", arguments: ["memory", "disk"])
    func processedFromCache(kind: String) async throws {
        let test = TestPipeline(hasDataCache: true)
        _ = try await test.pipeline.image(for: ImageRequest(url: url))
        await test.pipeline.dataStores.completion()
        if kind == "disk" { test.imageCache.removeAll() }
        let request = ImageRequest(url: url, processors: [MockProcessor("1")])
        let response = try await test.pipeline.imageTask(with: request).response
        #expect(response.cacheType == (kind == "disk" ? .disk : .memory))
        #expect(test.loader.loadCount == 1)
    }

    @Test("cached, local and closure images have no data response [CNT-08]")
    func dataResponses() async throws {
        let test = TestPipeline(hasDataCache: true)
        let request = ImageRequest(url: url)
        #expect(try await test.pipeline.imageTask(with: request).response.dataResponse?.statusCode == 200)
        #expect(try await test.pipeline.imageTask(with: request).response.dataResponse == nil)
        test.imageCache.removeAll()
        #expect(try await test.pipeline.imageTask(with: request).response.dataResponse == nil)
        for request in [
            ImageRequest(id: "a", data: { Data([1]) }), ImageRequest(url: URL(string: "data:,x")),
            ImageRequest(id: "b", image: { ImageContainer(image: .mock()) }),
        ] {
            #expect(try await test.pipeline.imageTask(with: request).response.dataResponse == nil)
        }
    }

    @Test("a memory hit is the very object that was stored [CNT-09]")
    func identity() async throws {
        let test = TestPipeline()
        let first = try await test.pipeline.image(for: ImageRequest(url: url))
        #expect(try await test.pipeline.image(for: ImageRequest(url: url)) === first)
        #expect(try await test.pipeline.imageTask(with: ImageRequest(url: url)).image === first)
    }
}
