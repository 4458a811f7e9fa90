import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ImageTaskMetricsTests {
    typealias Kind = ImageTask.Metrics.Stage.Kind

    private let url = "http://test.com/image"

    private func request(_ processors: String..., options: ImageRequest.Options = []) -> ImageRequest {
        ImageRequest(url: URL(string: url), processors: processors.map { MockProcessor($0) }, options: options)
    }

    private func kinds(_ metrics: ImageTask.Metrics) -> [Kind] { metrics.stages.map(\.kind) }

    @Test("the metrics of a load tell every step in order, with names, times and sizes")
    func load() async throws {
        let test = TestPipeline(hasDataCache: true)
        let task = test.pipeline.imageTask(with: request("a", "b"))
        #expect(task.metrics == nil || task.status.result != nil)
        let response = try await task.response
        let metrics = try #require(response.metrics)
        #expect(
            kinds(metrics).filter { ![.memoryCacheLookup, .dataCacheLookup].contains($0) }
                == [.dataLoading, .decoding, .processing, .processing])
        #expect(kinds(metrics).first == .memoryCacheLookup && kinds(metrics).contains(.dataCacheLookup))
        let processing = metrics.stages.filter { $0.kind == .processing }
        #expect(processing.map(\.name) == ["a", "b"])
        #expect(processing.map(\.outputByteCount) == [640 * 480 * 4, 640 * 480 * 4])
        for stage in metrics.stages {
            #expect(stage.start >= 0 && stage.duration >= 0 && stage.queued >= 0)
            #expect(stage.start + stage.duration <= metrics.duration)
        }
        #expect(metrics.sourceSize == ImageSize(width: 640, height: 480))
        #expect(metrics.decodedSize == ImageSize(width: 640, height: 480))
        #expect(metrics.decoder?.isEmpty == false)
        #expect(metrics.detectedType == "org.nuke.mock")
        #expect(metrics.bodyByteCount == 22789 && metrics.wireByteCount == 22789 && metrics.resumedByteCount == 0)
        #expect(metrics.dataCacheKey != nil && metrics.cacheType == nil && metrics.previewCount == 0)
        #expect(task.metrics?.duration == metrics.duration)
    }

    @Test("the time that steps wait for their turn is told apart from the time they take")
    @ImagePipelineActor
    func queued() async throws {
        let test = TestPipeline()
        let queue = test.pipeline.configuration.imageProcessingQueue
        queue.isSuspended = true
        let task = test.pipeline.imageTask(with: request("a"))
        await waitUntil { queue.pendingCount == 1 }
        let start = MonotonicClock.now
        await waitUntil { MonotonicClock.now > start + 0.001 }
        queue.isSuspended = false
        let metrics = try #require(try await task.response.metrics)
        let stage = try #require(metrics.stages.first { $0.kind == .processing })
        #expect(stage.queued > 0.001)
        #expect(metrics.queuedDuration >= stage.queued && metrics.duration >= stage.queued + stage.duration)
    }

    @Test("what a decode is reduced to, what the server declares and what comes over the wire are told")
    func sizes() async throws {
        let test = TestPipeline()
        let response = DataResponse(
            url: URL(string: url), statusCode: 200,
            headers: ["Content-Type": "image/png", "Content-Encoding": "gzip", "Content-Length": "700"])
        test.loader.answerEverything(with: .init(chunks: [Data(count: 1000)], response: response))
        let request = ImageRequest(url: URL(string: url), processors: [ImageProcessors.Resize(width: 64)])
        let metrics = try #require(try await test.pipeline.imageTask(with: request).response.metrics)
        #expect(metrics.sourceSize == ImageSize(width: 640, height: 480))
        #expect(metrics.decodedSize == ImageSize(width: 128, height: 96))
        #expect(metrics.servedMIMEType == "image/png")
        #expect(metrics.bodyByteCount == 1000 && metrics.wireByteCount == 700)
        let stage = try #require(metrics.stages.last)
        #expect(stage.kind == .processing && stage.outputByteCount == 64 * 48 * 4)
        #expect(stage.name?.contains("resize") == true)
    }

    @Test("a hit of the memory cache has that step alone")
    func memoryHit() async throws {
        let test = TestPipeline()
        _ = try await test.pipeline.image(for: request())
        let metrics = try #require(try await test.pipeline.imageTask(with: request()).response.metrics)
        #expect(kinds(metrics) == [.memoryCacheLookup])
        #expect(metrics.cacheType == .memory && metrics.bodyByteCount == nil && metrics.decoder == nil)
    }

    @Test("an image of the data cache has the look-up and the decode, and the key that it was found under")
    func dataCacheHit() async throws {
        let test = TestPipeline(hasDataCache: true) { $0.imageCache = nil }
        _ = try await test.pipeline.image(for: request())
        await test.pipeline.finishDataStores()
        let metrics = try #require(try await test.pipeline.imageTask(with: request()).response.metrics)
        #expect(kinds(metrics) == [.memoryCacheLookup, .dataCacheLookup, .decoding])
        #expect(metrics.cacheType == .disk && metrics.bodyByteCount == nil)
        #expect(metrics.dataCacheKey == test.pipeline.cache.makeDataCacheKey(for: request()))
        #expect(metrics.stages[1].outputByteCount == 22789)
    }

    @Test("tasks that share a load each have its steps")
    @ImagePipelineActor
    func shared() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let first = test.pipeline.imageTask(with: request("a"))
        await waitUntil { test.loader.loadCount == 1 }
        let second = test.pipeline.imageTask(with: request("b"))
        await waitUntil { test.pipeline.fetchDataPool.allNodes.first?.imageTasks.count == 2 }
        test.loader.isSuspended = false
        let metrics = [
            try #require(try await first.response.metrics), try #require(try await second.response.metrics),
        ]
        for (metrics, name) in zip(metrics, ["a", "b"]) {
            #expect(kinds(metrics).filter { $0 == .dataLoading || $0 == .decoding } == [.dataLoading, .decoding])
            #expect(metrics.stages.filter { $0.kind == .processing }.map(\.name) == [name])
        }
        let start = try #require(metrics[1].stages.first { $0.kind == .dataLoading }?.start)
        #expect(start < 0)
    }

    @Test("a task that fails has the steps up to there")
    func failure() async throws {
        let test = TestPipeline()
        test.decoder.error = DataLoadingError.badURL
        let task = test.pipeline.imageTask(with: request("a"))
        await #expect(throws: ImagePipeline.Error.self) { try await task.response }
        let metrics = try #require(task.metrics)
        #expect(kinds(metrics).suffix(2) == [.dataLoading, .decoding])
    }

    @Test("a task that is cancelled has the load that was under way, up to then")
    @ImagePipelineActor
    func cancellation() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request("a"))
        await waitUntil { test.loader.loadCount == 1 }
        task.cancel()
        await #expect(throws: ImagePipeline.Error.self) { try await task.response }
        let metrics = try #require(task.metrics)
        let stage = try #require(metrics.stages.last)
        #expect(stage.kind == .dataLoading && stage.start + stage.duration <= metrics.duration + 1e-9)
    }

    @Test("previews are counted, and their steps have names of their own")
    @ImagePipelineActor
    func previews() async throws {
        let test = TestPipeline {
            $0.isProgressiveDecodingEnabled = true
            $0.progressiveDecodingInterval = 0
        }
        test.decoder.enablePreviews()
        let download = await PartialDownload(test, request("a"))
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 2 }
        let metrics = try #require(try await download.finish().get().metrics)
        #expect(metrics.previewCount == 2)
        #expect(kinds(metrics).filter { $0 == .previewDecoding }.count == 2)
        #expect(kinds(metrics).filter { $0 == .previewProcessing }.count == 2)
        #expect(download.previews.allSatisfy { $0.metrics == nil })
    }
}
