import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// What a request for a thumbnail asks for, and what a pipeline makes of it.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ThumbnailTests {
    private typealias Options = ImageRequest.ThumbnailOptions

    private let url = URL(string: "http://test.com/example.jpeg")

    private func request(
        _ options: ImageRequest.ThumbnailOptions = .init(maxPixelSize: 400), processors: [any ImageProcessing] = []
    ) -> ImageRequest {
        var request = ImageRequest(url: url, processors: processors)
        request.thumbnail = options
        return request
    }

    private func size(of options: Options, width: Int = 640, height: Int = 480) -> ImageSize? {
        let decoder = MockImageDecoder(size: ImageSize(width: width, height: height))
        return options.makeThumbnail(with: Data([1]), registry: decoder.registry)?.size
    }

    // MARK: Options

    @Test("all four flags are true by default [THM-01]")
    func defaults() {
        for options in [Options(maxPixelSize: 1), Options(size: ImageSize(width: 1, height: 1))] {
            #expect(options.createThumbnailFromImageIfAbsent && options.createThumbnailFromImageAlways)
            #expect(options.createThumbnailWithTransform && options.shouldCacheImmediately)
        }
    }

    @Test("maxPixelSize bounds the longer side and keeps the shape [THM-02]")
    func longerSide() {
        #expect(size(of: .init(maxPixelSize: 400)) == ImageSize(width: 400, height: 300))
        #expect(size(of: .init(maxPixelSize: 400), width: 480, height: 640) == ImageSize(width: 300, height: 400))
    }

    @Test("a size is filled by default, in points by default, and fitted when told [THM-03] [THM-04]")
    func sizes() {
        let square = ImageSize(width: 400, height: 400)
        #expect(size(of: .init(size: square, unit: .pixels)) == ImageSize(width: 533, height: 400))
        #expect(size(of: .init(size: square)) == ImageSize(width: 533, height: 400))
        let fit = Options(size: square, unit: .pixels, contentMode: .aspectFit)
        #expect(size(of: fit) == ImageSize(width: 400, height: 300))
        #expect(
            Options(size: square) == Options(size: square, unit: .points, contentMode: .aspectFill))
        let fill180 = Options(size: ImageSize(width: 180, height: 180))
        #expect(size(of: fill180, width: 640, height: 360) == ImageSize(width: 320, height: 180))
        let fit160 = Options(size: ImageSize(width: 160, height: 160), contentMode: .aspectFit)
        #expect(size(of: fit160, width: 640, height: 360) == ImageSize(width: 160, height: 90))
    }

    @Test("a thumbnail is never larger than the picture [THM-05]")
    func noEnlarging() {
        let whole = ImageSize(width: 640, height: 480)
        #expect(size(of: .init(maxPixelSize: 2000)) == whole)
        #expect(size(of: .init(size: ImageSize(width: 2000, height: 2000))) == whole)
        #expect(size(of: .init(maxPixelSize: 0)) == whole && size(of: .init(maxPixelSize: .nan)) == whole)
    }

    @Test("nothing is registered for the data, or the data is empty: no thumbnail [THM-06]")
    func noDecoder() {
        #expect(Options(maxPixelSize: 10).makeThumbnail(with: Data(), registry: ImageDecoderRegistry()) == nil)
        let decoder = MockImageDecoder()
        decoder.error = ImageDecodingError.corruptData("", codec: "")
        #expect(Options(maxPixelSize: 10).makeThumbnail(with: Data([1]), registry: decoder.registry) == nil)
    }

    @Test("points are pixels times the request's scale, and the thumbnail has that scale [THM-09]")
    func scale() async throws {
        var points = request(.init(size: ImageSize(width: 100, height: 75)))
        points.scale = 2
        let image = try await TestPipeline().pipeline.image(for: points)
        #expect(image.scale == 2 && image.size == ImageSize(width: 200, height: 150))
        var pixels = request(.init(size: ImageSize(width: 100, height: 75), unit: .pixels))
        pixels.scale = 2
        #expect(try await TestPipeline().pipeline.image(for: pixels).size == ImageSize(width: 100, height: 75))
        // Pixels and points that come to the same share an entry on disk; points of another scale do not.
        var same = request(.init(size: ImageSize(width: 200, height: 150), unit: .pixels))
        #expect(same.dataKey == points.dataKey)
        same.thumbnail = points.thumbnail
        #expect(same.dataKey != points.dataKey)
    }

    @Test("options are equal if flags, size and content mode are [THM-12]")
    func equality() {
        let options = Options(size: ImageSize(width: 10, height: 20))
        var others = [
            Options(size: ImageSize(width: 10, height: 21)), Options(size: ImageSize(width: 11, height: 20)),
            Options(size: ImageSize(width: 10, height: 20), contentMode: .aspectFit), Options(maxPixelSize: 10),
        ]
        for flag in flags {
            var other = options
            other[keyPath: flag] = false
            others.append(other)
        }
        #expect(options == Options(size: ImageSize(width: 10, height: 20)))
        #expect(Set(others + [options]).count == 9)
    }

    private var flags: [WritableKeyPath<ImageRequest.ThumbnailOptions, Bool>] {
        [
            \.createThumbnailFromImageIfAbsent, \.createThumbnailFromImageAlways, \.createThumbnailWithTransform,
            \.shouldCacheImmediately,
        ]
    }

    @Test("options and scale make other keys in memory, and each flag in memory and on disk [THM-20]")
    func keys() {
        var keys = Set([ImageCacheKey(request: ImageRequest(url: url)), ImageCacheKey(request: request())])
        var dataKeys = Set([ImageRequest(url: url).dataKey, request().dataKey])
        for flag in flags {
            var options = Options(maxPixelSize: 400)
            options[keyPath: flag] = false
            keys.insert(ImageCacheKey(request: request(options)))
            dataKeys.insert(request(options).dataKey)
        }
        var scaled = request()
        scaled.scale = 3
        keys.insert(ImageCacheKey(request: scaled))
        #expect(keys.count == 7 && dataKeys.count == 6)
    }

    @Test("a decoder that does not look at the request gives its whole picture [THM-19]")
    func ignoredOptions() async throws {
        let decoder = MockImageDecoder()
        let test = TestPipeline { $0.makeImageDecoder = { _ in decoder } }
        #expect(try await test.pipeline.image(for: request()).size == ImageSize(width: 640, height: 480))
    }

    @Test("an embedded thumbnail or nothing: a decoder that has none fails")
    func embeddedOnly() async throws {
        var options = Options(maxPixelSize: 400)
        options.createThumbnailFromImageAlways = false
        #expect(try await TestPipeline().pipeline.image(for: request(options)).size.width == 400)
        options.createThumbnailFromImageIfAbsent = false
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await TestPipeline().pipeline.image(for: request(options))
        }
        guard case .decodingFailed(_, _, let cause as ImageDecodingError) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.code == .unsupported)
    }

    // MARK: Pipeline

    @Test("a thumbnail is decoded in the decoding queue [THM-13]")
    @ImagePipelineActor
    func decodingQueue() async throws {
        let test = TestPipeline()
        let queue = test.pipeline.configuration.imageDecodingQueue
        queue.isSuspended = true
        let task = test.pipeline.imageTask(with: request())
        await waitUntil { test.pipeline.fetchImagePool.allNodes.contains { $0.operation != nil } }
        #expect(test.decoder.decodeCount == 0)
        queue.isSuspended = false
        #expect(try await task.image.size == ImageSize(width: 400, height: 300))
        #expect(test.decoder.decodeCount == 1)
    }

    @Test("the original is stored on disk under the plain key, the thumbnail in memory under its own [THM-14]")
    func stores() async throws {
        let test = TestPipeline(hasDataCache: true)
        _ = try await test.pipeline.image(for: request())
        await test.pipeline.finishDataStores()
        #expect(try #require(test.dataCache).entries.keys.sorted() == [ImageRequest(url: url).dataKey])
        #expect(test.imageCache.keys == [ImageCacheKey(request: request())])
    }

    @Test(
        "where the policy stores all, or decides, the encoded thumbnail is stored under its own key too [THM-15]",
        arguments: [ImagePipeline.DataCachePolicy.storeAll, .automatic])
    func storesEncoded(_ policy: ImagePipeline.DataCachePolicy) async throws {
        let encoder = MockEncoder()
        let test = TestPipeline(hasDataCache: true) {
            $0.dataCachePolicy = policy
            $0.makeImageEncoder = { _ in encoder }
        }
        _ = try await test.pipeline.image(for: request())
        await test.pipeline.finishDataStores()
        let entries = try #require(test.dataCache).entries
        #expect(Set(entries.keys) == [ImageRequest(url: url).dataKey, request().dataKey])
        #expect(entries[request().dataKey] != entries[ImageRequest(url: url).dataKey])
    }

    /// A pipeline with the original on disk.
    private func pipelineWithOriginal() throws -> TestPipeline {
        let test = TestPipeline(hasDataCache: true)
        try #require(test.dataCache).storeData(Data([1, 2]), for: ImageRequest(url: url).dataKey)
        return test
    }

    @Test("a thumbnail is made from the original on disk, without a load, and not written back [THM-16] [THM-18]")
    func original() async throws {
        let test = try pipelineWithOriginal()
        let response = try await test.pipeline.imageTask(with: request()).response
        #expect(response.image.size == ImageSize(width: 400, height: 300) && response.cacheType == .disk)
        await test.pipeline.finishDataStores()
        #expect(test.loader.loadCount == 0 && test.dataCache?.entries.count == 1 && test.dataCache?.writeCount == 1)
    }

    @Test("with processors too: they are applied to the thumbnail of the original on disk [THM-17]")
    func originalWithProcessors() async throws {
        let test = try pipelineWithOriginal()
        let counter = MockProcessor.Counter()
        let processors = [MockProcessor("1", counter: counter), MockProcessor("2", counter: counter)]
        let image = try await test.pipeline.image(for: request(processors: processors))
        #expect(image.size == ImageSize(width: 400, height: 300) && counter.order == ["1", "2"])
        #expect(test.loader.loadCount == 0 && test.decoder.decodeCount == 1)
    }
}
