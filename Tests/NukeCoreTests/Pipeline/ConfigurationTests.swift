import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConfigurationTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    @Test("the shared pipeline stores in memory only, and any thread may set it [CFG-01]")
    func sharedPipeline() async {
        let original = ImagePipeline.shared
        defer { ImagePipeline.shared = original }
        #expect(original.configuration.dataCache == nil)
        #expect(original.configuration.imageCache === ImageCache.shared)
        let pipelines = (0..<8).map { _ in TestPipeline().pipeline }
        await withTaskGroup { group in
            for pipeline in pipelines {
                group.addTask {
                    ImagePipeline.shared = pipeline
                    _ = ImagePipeline.shared.configuration
                }
            }
        }
        #expect(pipelines.contains { $0 === ImagePipeline.shared })
    }

    @Test("merging, local resources and previews in memory are on; progressive decoding and rate limit off [CFG-02]")
    func flags() {
        let configuration = ImagePipeline.Configuration()
        #expect(configuration.isTaskCoalescingEnabled && configuration.isLocalResourcesSupportEnabled)
        #expect(configuration.isStoringPreviewsInMemoryCache)
        #expect(!configuration.isProgressiveDecodingEnabled && !configuration.isRateLimiterEnabled)
    }

    @Test("six loads at once, and as many of the rest as there are codec threads [CFG-03]")
    func queues() {
        let configuration = ImagePipeline.Configuration()
        #expect(configuration.dataLoadingQueue.maxConcurrentOperationCount == 6)
        let others = [
            configuration.imageDecodingQueue, configuration.imageProcessingQueue, configuration.imageEncodingQueue,
        ]
        #expect(others.map(\.maxConcurrentOperationCount) == [Int](repeating: CodecThreads.shared.count, count: 3))
    }

    @Test("copies share their queues until one is replaced, in that copy alone [CFG-04]")
    func copies() async throws {
        let loader = MockDataLoader()
        var original = ImagePipeline.Configuration(dataLoader: loader)
        original.decoderRegistry = MockImageDecoder().registry
        original.imageCache = nil
        var copy = original
        let (a, b) = (ImagePipeline(configuration: original), ImagePipeline(configuration: copy))
        #expect(a.configuration.dataLoadingQueue === b.configuration.dataLoadingQueue)
        original.dataLoadingQueue.isSuspended = true
        let tasks = [a.imageTask(with: request), b.imageTask(with: request)]
        await waitUntil { original.dataLoadingQueue.pendingCount == 2 }
        original.dataLoadingQueue.isSuspended = false
        for task in tasks { _ = try await task.image }
        copy.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 1)
        #expect(copy.dataLoadingQueue !== original.dataLoadingQueue)
        #expect(original.dataLoadingQueue.maxConcurrentOperationCount == 6)
        #expect(copy.imageDecodingQueue === original.imageDecodingQueue)
    }

    @Test("changing a configuration leaves the pipelines made from it alone [CFG-05]")
    func immutable() async throws {
        let (loader, other) = (MockDataLoader(), MockDataLoader())
        var configuration = ImagePipeline.Configuration(dataLoader: loader)
        configuration.decoderRegistry = MockImageDecoder().registry
        configuration.imageCache = nil
        let pipeline = ImagePipeline(configuration: configuration)
        configuration.dataLoader = other
        configuration.isTaskCoalescingEnabled = false
        _ = try await pipeline.image(for: request)
        #expect(loader.loadCount == 1 && other.loadCount == 0)
        #expect(pipeline.configuration.isTaskCoalescingEnabled)
    }

    @Test("the shared image cache is used unless one was assigned; nil is no cache [CFG-06]")
    func imageCache() async throws {
        var configuration = ImagePipeline.Configuration()
        #expect(configuration.imageCache === ImageCache.shared)
        let own = MockImageCache()
        configuration.imageCache = own
        #expect(configuration.imageCache === own)
        let test = TestPipeline { $0.imageCache = nil }
        #expect(test.pipeline.configuration.imageCache == nil)
        _ = try await test.pipeline.image(for: request)
        _ = try await test.pipeline.image(for: request)
        #expect(test.loader.loadCount == 2 && test.imageCache.count == 0)
    }

    private func isInvalidated(_ error: ImagePipeline.Error?) -> Bool {
        if case .pipelineInvalidated? = error { true } else { false }
    }

    @Test("invalidated, a pipeline cancels what runs and fails what comes, once [CFG-10]")
    func invalidate() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        test.pipeline.invalidate()
        let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
        guard case .cancelled? = error else {
            Issue.record("not cancelled: \(String(describing: error))")
            return
        }
        await waitUntil { test.loader.cancelCount == 1 && test.pipeline.taskCount == 0 }
        let late = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: request) }
        #expect(isInvalidated(late))
        let count = delegate.records.count
        test.pipeline.invalidate()
        let data = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.data(for: request) }
        #expect(isInvalidated(data) && delegate.records.count == count && test.loader.cancelCount == 1)
    }

    @Test("a task made right after the invalidation fails too, even where memory has the image [CFG-11]")
    func rightAfter() async {
        for isHit in [false, true] {
            let test = TestPipeline()
            if isHit { test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock()) }
            test.pipeline.invalidate()
            let task = test.pipeline.imageTask(with: request)
            let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
            let other = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: request) }
            #expect(isInvalidated(error) && isInvalidated(other) && test.loader.loadCount == 0)
        }
    }

    @Test(
        "of a task that an invalidated pipeline turns away the delegate hears created and failed, not started [CFG-12]")
    func turnedAway() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.pipeline.invalidate()
        await waitUntilEnded(test.pipeline.imageTask(with: request))
        await waitUntil { delegate.records.count == 2 }
        #expect(delegate.records == [.created(1), .failed(1, "\(ImagePipeline.Error.pipelineInvalidated)")])
    }

    private struct FixedDecoder: ImageDecoding {
        let image: Bitmap
        func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: image) }
    }

    private struct FixedEncoder: ImageEncoding {
        func encode(_ image: PlatformImage) -> Data? { Data("encoded".utf8) }
    }

    @Test("factories for decoders and encoders take the place of the registry and the default [CFG-13]")
    func factories() async throws {
        let image = Bitmap.mock()
        let test = TestPipeline(hasDataCache: true) {
            $0.makeImageDecoder = { _ in FixedDecoder(image: image) }
            $0.makeImageEncoder = { _ in FixedEncoder() }
            $0.dataCachePolicy = .storeEncodedImages
        }
        #expect(try await test.pipeline.image(for: request) === image)
        #expect(test.decoder.decodeCount == 0)
        await waitUntil { test.dataCache?.writeCount == 1 }
        #expect(test.dataCache.map { Array($0.entries.values) } == [Data("encoded".utf8)])
    }

    @Test("the closure of the initialiser changes a fresh default configuration [CFG-14]")
    func closure() {
        let first = ImagePipeline { $0.isTaskCoalescingEnabled = false }
        let second = ImagePipeline { configuration in
            #expect(configuration.isTaskCoalescingEnabled && configuration.dataLoader == nil)
            configuration.maximumResponseDataSize = 7
        }
        #expect(!first.configuration.isTaskCoalescingEnabled)
        #expect(first.configuration.maximumResponseDataSize != 7 && second.configuration.maximumResponseDataSize == 7)
        #expect(first.configuration.dataLoadingQueue !== second.configuration.dataLoadingQueue)
    }
}
