import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ProcessingPipelineTests {
    let url = URL(string: "http://test.com/example.jpeg")
    let counter = MockProcessor.Counter()

    private func request(_ ids: String...) -> ImageRequest {
        ImageRequest(url: url, processors: ids.map { MockProcessor($0, counter: counter) })
    }

    private func error(of task: ImageTask) async -> ImagePipeline.Error? {
        do {
            _ = try await task.response
            return nil
        } catch {
            return error
        }
    }

    @Test("processors run in order, in their queue, on codec threads [PRC-01]")
    func order() async throws {
        let test = TestPipeline()
        let queue = test.pipeline.configuration.imageProcessingQueue
        #expect(queue.maxConcurrentOperationCount == CodecThreads.shared.count)
        queue.isSuspended = true
        let names = Locked<[String]>([])
        let processors = ["1", "2", "3"].map { id in
            MockProcessor(id, counter: counter) {
                let name = try? File.read("/proc/thread-self/comm")
                names.withLock { $0.append(String(decoding: name ?? Data(), as: UTF8.self)) }
            }
        }
        let task = test.pipeline.imageTask(with: ImageRequest(url: url, processors: processors))
        await waitUntil { queue.pendingCount == 1 }
        #expect(test.decoder.decodeCount == 1 && counter.total == 0)
        queue.isSuspended = false
        _ = try await task.image
        #expect(counter.order == ["1", "2", "3"])
        #expect(names.withLock { $0 }.allSatisfy { $0.hasPrefix("nuke-codec") })
    }

    @Test("a failure names the processor, with request, input and what it threw [PRC-02] [PRC-03]")
    func failures() async throws {
        struct Reason: Error, Equatable {}
        struct Throwing: ImageProcessing {
            let identifier = "throws"
            func process(_ image: PlatformImage) -> PlatformImage? { image }
            func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
                throw Reason()
            }
        }
        let test = TestPipeline()
        for processor in [.process(id: "nil") { _ in nil }, Throwing()] as [any ImageProcessing] {
            let request = ImageRequest(url: url, processors: [processor])
            guard
                case .processingFailed(let failed, let context, let cause) = await error(
                    of: test.pipeline.imageTask(with: request))
            else {
                Issue.record("another error, or none")
                return
            }
            #expect(failed.identifier == processor.identifier && context.isCompleted)
            #expect(context.request.url == url && context.response.image.width == 640)
            if processor is Throwing {
                #expect(cause is Reason)
            } else {
                #expect(cause as? ImageProcessingError == .unknown)
            }
        }
    }

    @Test("where a later processor fails, the load fails and nothing is stored for the list [PRC-04]")
    func laterFailure() async {
        let test = TestPipeline(hasDataCache: true)
        var request = request("1")
        request.processors.append(.process(id: "2") { _ in nil })
        let failure = await error(of: test.pipeline.imageTask(with: request))
        await test.pipeline.finishDataStores()
        guard case .processingFailed = failure else {
            Issue.record("another error, or none")
            return
        }
        #expect(counter["1"] == 1 && test.imageCache[ImageCacheKey(request: request)] == nil)
        #expect(test.dataCache?.entries[request.dataKey] == nil)
    }

    @Test("the longest beginning of the list that is in a cache is taken, memory before disk [PRC-07]")
    func intermediates() async throws {
        let whole = request("1", "2", "3")
        // In memory: the longest wins.
        var test = TestPipeline()
        test.imageCache[ImageCacheKey(request: request("1"))] = ImageContainer(image: .mock(width: 1))
        test.imageCache[ImageCacheKey(request: request("1", "2"))] = ImageContainer(image: .mock(width: 2))
        #expect(try await test.pipeline.image(for: whole).width == 2)
        #expect(counter.order == ["3"] && test.loader.loadCount == 0 && test.decoder.decodeCount == 0)
        // On disk: also before what is shorter and in memory.
        test = TestPipeline(hasDataCache: true)
        test.imageCache[ImageCacheKey(request: request("1"))] = ImageContainer(image: .mock(width: 1))
        test.dataCache?.storeData(Data([1]), for: request("1", "2").dataKey)
        #expect(try await test.pipeline.image(for: whole).width == 640)
        #expect(counter.order == ["3", "3"] && test.loader.loadCount == 0 && test.decoder.decodeCount == 1)
        // In both: memory.
        test = TestPipeline(hasDataCache: true)
        test.imageCache[ImageCacheKey(request: request("1", "2"))] = ImageContainer(image: .mock(width: 2))
        test.dataCache?.storeData(Data([1]), for: request("1", "2").dataKey)
        #expect(try await test.pipeline.image(for: whole).width == 2)
        #expect(counter.order == ["3", "3", "3"] && test.decoder.decodeCount == 0)
        // Nowhere: everything is done.
        test = TestPipeline(hasDataCache: true)
        _ = try await test.pipeline.image(for: whole)
        #expect(counter.order.suffix(3) == ["1", "2", "3"] && test.loader.loadCount == 1)
    }

    @Test("points are pixels times the request's scale, in results, hints and keys [PRC-48]")
    func scale() async throws {
        func request(_ width: Double, _ unit: ImageProcessingOptions.Unit, scale: Double) -> ImageRequest {
            var request = ImageRequest(url: url, processors: [.resize(width: width, unit: unit)])
            request.scale = scale
            return request
        }
        let points = request(80, .points, scale: 2)
        let test = TestPipeline(hasDataCache: true)
        let image = try await test.pipeline.image(for: points)
        #expect(image.width == 160 && image.height == 120 && image.scale == 2)
        #expect(test.decoder.hints == [ImageSize(width: 160, height: 120)])
        let same = request(160, .pixels, scale: 2)
        #expect(points.dataKey == same.dataKey && ImageCacheKey(request: points) == ImageCacheKey(request: same))
        #expect(
            LoadImageKey(points, hintedBy: points.hintingProcessor)
                == LoadImageKey(same, hintedBy: same.hintingProcessor))
        #expect(try await test.pipeline.image(for: same) === image)
        let other = request(80, .pixels, scale: 2)
        #expect(points.dataKey != other.dataKey && ImageCacheKey(request: points) != ImageCacheKey(request: other))
        #expect(try await test.pipeline.image(for: other).width == 80)
        #expect(points.dataKey != request(80, .points, scale: 3).dataKey)
        #expect(request(80, .points, scale: 0).dataKey == request(80, .pixels, scale: 1).dataKey)
        var composed = points
        composed.processors = [ImageProcessors.Composition([.resize(width: 80), .roundedCorners(radius: 8)])]
        #expect(try await test.pipeline.image(for: composed).width == 160)
        #expect(composed.dataKey.contains("radius=16.0"))
    }

    @Test("a thumbnail's points are pixels times the request's scale too [PRC-48]")
    func thumbnailScale() async throws {
        func request(_ side: Double, _ unit: ImageProcessingOptions.Unit, scale: Double) -> ImageRequest {
            var request = ImageRequest(url: url)
            request.thumbnail = .init(
                size: ImageSize(width: side, height: side), unit: unit, contentMode: .aspectFit)
            request.scale = scale
            return request
        }
        let (points, pixels) = (request(80, .points, scale: 2), request(160, .pixels, scale: 2))
        let image = try await TestPipeline().pipeline.image(for: points)
        #expect(image.width == 160 && image.height == 120 && image.scale == 2)
        #expect(points.dataKey == pixels.dataKey && points.dataKey != request(80, .points, scale: 3).dataKey)
        #expect(ImageCacheKey(request: points) == ImageCacheKey(request: pixels))
        #expect(ImageCacheKey(request: points) != ImageCacheKey(request: request(80, .pixels, scale: 2)))
    }

    @Test("a step that several requests wait for is done once [PRC-52]")
    func sharedStep() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let requests = [request("1"), request("1", "2"), request("1", "3"), request("1")]
        let tasks = requests.map { test.pipeline.imageTask(with: $0) }
        await waitUntil { test.pipeline.taskCount == 4 && test.loader.loadCount == 1 }
        test.loader.isSuspended = false
        for task in tasks { _ = try await task.image }
        #expect(counter["1"] == 1 && counter["2"] == 1 && counter["3"] == 1)
    }

    @Test("processing that is cancelled while it waits never runs [PRC-53]")
    func cancellation() async throws {
        let test = TestPipeline()
        let queue = test.pipeline.configuration.imageProcessingQueue
        queue.isSuspended = true
        let task = test.pipeline.imageTask(with: request("1"))
        await waitUntil { queue.pendingCount == 1 }
        task.cancel()
        guard case .cancelled = await error(of: task) else {
            Issue.record("another error, or none")
            return
        }
        await waitUntil { queue.pendingCount == 0 }
        queue.isSuspended = false
        _ = try await test.pipeline.image(for: request("2"))
        #expect(counter.order == ["2"])
    }
}
