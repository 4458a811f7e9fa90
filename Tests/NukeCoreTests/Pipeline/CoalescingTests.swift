import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct CoalescingTests {
    let url = URL(string: "http://test.com/example.jpeg")
    var request: ImageRequest { ImageRequest(url: url) }
    let counter = MockProcessor.Counter()

    private func processed(_ ids: String..., options: ImageRequest.Options = []) -> ImageRequest {
        ImageRequest(url: url, processors: ids.map { MockProcessor($0, counter: counter) }, options: options)
    }

    /// Starts all requests before the loader answers, and waits for all of them.
    private func loadTogether(_ test: TestPipeline, _ requests: [ImageRequest]) async throws -> [ImageResponse] {
        test.loader.isSuspended = true
        let tasks = requests.map { test.pipeline.imageTask(with: $0) }
        await waitUntil {
            test.loader.loadCount > 0
                && test.pipeline.fetchDataPool.allNodes.map(\.imageTasks.count).reduce(0, +) == requests.count
        }
        test.loader.isSuspended = false
        var responses: [ImageResponse] = []
        for task in tasks { responses.append(try await task.response) }
        return responses
    }

    @Test("two equal requests: one load, one decode, one processing; both get the image [COA-01]")
    func equalRequests() async throws {
        let test = TestPipeline()
        let responses = try await loadTogether(test, [processed("1"), processed("1")])
        #expect(responses[0].image === responses[1].image)
        #expect(test.loader.loadCount == 1 && test.decoder.decodeCount == 1 && counter["1"] == 1)
    }

    @Test("other processors: one load, one decode, each processor once [COA-02]")
    func differentProcessors() async throws {
        let test = TestPipeline()
        _ = try await loadTogether(test, [processed("1"), processed("2")])
        #expect(test.loader.loadCount == 1 && test.decoder.decodeCount == 1)
        #expect(counter["1"] == 1 && counter["2"] == 1 && counter.total == 2)
    }

    @Test("varying header fields are loaded apart, and never share an entry in a cache [COA-02]")
    func varyingHeaders() async throws {
        let test = TestPipeline(hasDataCache: true)
        let requests = ["a", "b"].map { value in
            var dataRequest = DataRequest(url: url)
            dataRequest.headers["Authorization"] = value
            return ImageRequest(dataRequest: dataRequest)
        }
        let responses = try await loadTogether(test, requests)
        await test.pipeline.dataStores.completion()
        #expect(test.loader.loadCount == 2 && responses[0].image !== responses[1].image)
        #expect(test.imageCache.count == 2 && test.dataCache?.entries.count == 2)
    }

    @Test("a step that two lists begin with is done once [COA-03]")
    func sharedSteps() async throws {
        let test = TestPipeline()
        _ = try await loadTogether(test, [processed("1"), processed("1", "2")])
        #expect(counter["1"] == 1 && counter["2"] == 1 && test.decoder.decodeCount == 1)
    }

    @Test("[1], [2] and [1] are two operations [COA-04]")
    func threeRequests() async throws {
        let test = TestPipeline()
        _ = try await loadTogether(test, [processed("1"), processed("2"), processed("1")])
        #expect(counter.total == 2)
    }

    @Test(
        "a thumbnail and the whole of one URL: one load, two sizes, in either order [COA-05]", arguments: [true, false])
    func thumbnailAndWhole(isThumbnailFirst: Bool) async throws {
        let test = TestPipeline()
        var thumbnail = request
        thumbnail.thumbnail = .init(maxPixelSize: 160)
        let requests = isThumbnailFirst ? [thumbnail, request] : [request, thumbnail]
        let images = try await loadTogether(test, requests).map(\.image)
        let (small, whole) = isThumbnailFirst ? (images[0], images[1]) : (images[1], images[0])
        #expect(small.width == 160 && small.height == 120 && whole.width == 640 && whole.height == 480)
        #expect(test.loader.loadCount == 1)
    }

    @Test("an image and the data of one URL: one load [COA-06]")
    func imageAndData() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let (pipeline, request) = (test.pipeline, request)
        let task = pipeline.imageTask(with: request)
        async let data = pipeline.data(for: request)
        await waitUntil { test.pipeline.taskCount == 2 && test.loader.loadCount == 1 }
        test.loader.isSuspended = false
        _ = try await task.image
        #expect(try await data.0.count == 22789)
        #expect(test.loader.loadCount == 1)
    }

    @Test("different cache policies are loaded apart [COA-07]")
    func cachePolicies() async throws {
        let test = TestPipeline()
        var reload = DataRequest(url: url)
        reload.cachePolicy = .reloadIgnoringLocalCacheData
        _ = try await loadTogether(test, [request, ImageRequest(dataRequest: reload)])
        #expect(test.loader.loadCount == 2)
    }

    @Test("other options share the load [COA-08]")
    func options() async throws {
        let test = TestPipeline()
        let reload = ImageRequest(url: url, options: [.reloadIgnoringCachedData])
        _ = try await loadTogether(test, [request, reload])
        #expect(test.loader.loadCount == 1)
    }

    @Test("a failure of the shared load fails everybody, after one load [COA-09]")
    func failure() async {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.statusCodeUnacceptable(500)))
        test.loader.isSuspended = true
        let tasks = [request, processed("1"), processed("2")].map { test.pipeline.imageTask(with: $0) }
        await waitUntil { test.pipeline.taskCount == 3 && test.loader.loadCount == 1 }
        test.loader.isSuspended = false
        for task in tasks {
            let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
            #expect(error?.dataLoadingError as? DataLoadingError == .statusCodeUnacceptable(500))
        }
        #expect(test.loader.loadCount == 1)
    }

    @Test("one of two cancelled, the other completes; both cancelled, the load is, once [COA-10]")
    func cancellation() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        var tasks = (0..<2).map { _ in test.pipeline.imageTask(with: request) }
        await waitUntil { test.pipeline.taskCount == 2 && test.loader.loadCount == 1 }
        tasks[0].cancel()
        await waitUntil { test.pipeline.taskCount == 1 }
        test.loader.isSuspended = false
        _ = try await tasks[1].image
        #expect(test.loader.cancelCount == 0)
        test.loader.isSuspended = true
        tasks = (0..<2).map { _ in test.pipeline.imageTask(with: ImageRequest(url: URL(string: "http://test.com/2"))) }
        await waitUntil { test.pipeline.taskCount == 2 && test.loader.loadCount == 2 }
        for task in tasks { task.cancel() }
        await waitUntil { test.pipeline.taskCount == 0 }
        #expect(test.loader.cancelCount == 1 && test.loader.loadCount == 2)
    }

    @Test("with coalescing off each request does everything itself [COA-11]")
    func coalescingOff() async throws {
        let test = TestPipeline { $0.isTaskCoalescingEnabled = false }
        test.loader.isSuspended = true
        let tasks = (0..<2).map { _ in test.pipeline.imageTask(with: processed("1")) }
        await waitUntil { test.loader.loadCount == 2 }
        test.loader.isSuspended = false
        for task in tasks { _ = try await task.image }
        #expect(test.decoder.decodeCount == 2 && counter["1"] == 2)
    }

    @Test("after the end, the next request looks in the caches, and on a miss loads again [COA-12]")
    func afterTheEnd() async throws {
        let test = TestPipeline()
        _ = try await test.pipeline.image(for: request)
        _ = try await test.pipeline.image(for: request)
        #expect(test.loader.loadCount == 1)
        test.imageCache.removeAll()
        _ = try await test.pipeline.image(for: request)
        #expect(test.loader.loadCount == 2)
    }

    @Test("who joins a running load gets later events only [COA-13]")
    func joining() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: nil)
        let first = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        let response = DataResponse(url: url, statusCode: 200, expectedContentLength: 20)
        test.loader.transfers[0].send(Data(repeating: 1, count: 10), response)
        await waitUntil { first.status.progress.completed == 10 }
        let second = test.pipeline.imageTask(with: request)
        let progress = second.progress
        await waitUntil { test.pipeline.taskCount == 2 }
        test.loader.transfers[0].send(Data(repeating: 1, count: 10), response)
        test.loader.transfers[0].finish()
        _ = try await second.image
        var seen: [ImageTask.Progress] = []
        for await value in progress { seen.append(value) }
        #expect(seen == [.init(completed: 20, total: 20)])
    }

    @Test("who joins at a higher priority raises the shared load; when it leaves, the rest counts [COA-14]")
    func joiningPriority() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let low = test.pipeline.imageTask(with: ImageRequest(url: url, priority: .low))
        await waitUntil { test.loader.transfers.first?.priorities == [.low] }
        let high = test.pipeline.imageTask(with: ImageRequest(url: url, priority: .veryHigh))
        await waitUntil { test.loader.transfers[0].priorities == [.low, .veryHigh] }
        high.cancel()
        await waitUntil { test.loader.transfers[0].priorities == [.low, .veryHigh, .low] }
        low.cancel()
    }

    @Test("a task's priority reaches what waits to be loaded, decoded and processed [COA-15]", arguments: 0..<3)
    func operationPriority(stage: Int) async throws {
        let test = TestPipeline { configuration in
            configuration.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 1)
            configuration.imageDecodingQueue = TaskQueue(maxConcurrentOperationCount: 1)
            configuration.imageProcessingQueue = TaskQueue(maxConcurrentOperationCount: 1)
        }
        let configuration = test.pipeline.configuration
        let queue = [
            configuration.dataLoadingQueue, configuration.imageDecodingQueue, configuration.imageProcessingQueue,
        ][stage]
        queue.isSuspended = true
        let counter = counter
        let tasks = ["a", "b", "c"].map { name in
            let processor = MockProcessor(name, counter: counter)
            return test.pipeline.imageTask(
                with: ImageRequest(url: URL(string: "http://test.com/\(name)"), processors: [processor]))
        }
        await waitUntil { queue.pendingCount == 3 }
        tasks[2].priority = .high
        await waitUntil { test.pipeline.loadImagePool.allNodes.contains { $0.priority == .high } }
        queue.isSuspended = false
        for task in tasks { _ = try await task.image }
        #expect(counter.order == ["c", "a", "b"])
    }

    @Test("each image stands in memory under its own request's key [COA-16]")
    func memoryKeys() async throws {
        let test = TestPipeline()
        var thumbnail = request
        thumbnail.thumbnail = .init(maxPixelSize: 160)
        var renamed = request
        renamed.imageID = "renamed"
        let requests = [request, processed("1"), thumbnail, renamed]
        let responses = try await loadTogether(test, requests)
        #expect(test.imageCache.count == 4)
        for (request, response) in zip(requests, responses) {
            #expect(test.imageCache[ImageCacheKey(request: request)]?.image === response.image)
        }
        #expect(test.loader.loadCount == 1)
    }

    @Test("a step on the way is not stored in memory [COA-17]")
    func intermediates() async throws {
        let test = TestPipeline()
        _ = try await test.pipeline.image(for: processed("1", "2", "3"))
        #expect(test.imageCache.keys == [ImageCacheKey(request: processed("1", "2", "3"))])
    }

    @Test("a step that somebody asks for at the same time is [COA-18]")
    func wantedIntermediates() async throws {
        let test = TestPipeline()
        _ = try await loadTogether(test, [processed("1", "2", "3"), processed("1", "2")])
        let expected = [processed("1", "2", "3"), processed("1", "2")].map { ImageCacheKey(request: $0) }
        #expect(test.imageCache.keys == Set(expected))
        #expect(counter.total == 3)
    }

    @Test("a later request that skips the queue lifts the shared load out of it [COA-19]", arguments: [true, false])
    func skippingTheQueue(isClosure: Bool) async throws {
        let test = TestPipeline()
        test.pipeline.configuration.dataLoadingQueue.isSuspended = true
        var request = isClosure ? ImageRequest(id: "a", data: { Data([1]) }) : request
        let first = test.pipeline.imageTask(with: request)
        await waitUntil { test.pipeline.configuration.dataLoadingQueue.pendingCount == 1 }
        #expect(test.loader.loadCount == 0)
        request.options = [.skipDataLoadingQueue]
        let second = test.pipeline.imageTask(with: request)
        let images = [try await first.image, try await second.image]
        #expect(images.count == 2 && test.loader.loadCount == (isClosure ? 0 : 1))
        #expect(await test.pipeline.configuration.dataLoadingQueue.pendingCount == 0)
    }

    @Test("the original data is stored if one of the tasks allows it [COA-20]", arguments: [true, false])
    func diskWrites(isAllowed: Bool) async throws {
        let test = TestPipeline(hasDataCache: true)
        let options: ImageRequest.Options = isAllowed ? [] : [.disableDiskCacheWrites]
        let requests = [
            ImageRequest(url: url, options: [.disableDiskCacheWrites]), processed("1", options: options),
        ]
        _ = try await loadTogether(test, requests)
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.writeCount == (isAllowed ? 1 : 0))
        #expect(test.dataCache?.entries.keys.first == (isAllowed ? request.dataKey : nil))
    }

    @Test("after the last one left, an equal request starts afresh [COA-21]")
    func startAfresh() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: nil)
        let first = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        first.cancel()
        await waitUntil { test.loader.cancelCount == 1 }
        let second = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 2 }
        // The old transfer still winds down, which is nobody's business any more.
        let response = DataResponse(url: url, statusCode: 200, expectedContentLength: 3)
        test.loader.transfers[0].send(Data([9, 9, 9]), response)
        test.loader.transfers[0].finish(DataLoadingError.badURL)
        test.loader.transfers[1].send(Data([1, 2, 3]), response)
        test.loader.transfers[1].finish()
        _ = try await second.image
        #expect(test.decoder.decodeCount == 1)
    }

    @Test("100 tasks, 3 processor lists, 2 sizes: one load, a decode a hint, each step once")
    func hundredTasks() async throws {
        let test = TestPipeline()
        func lists(_ width: Double) -> [[any ImageProcessing]] {
            let resize = ImageProcessors.Resize(width: width)
            let (one, two) = (
                MockProcessor("1-\(width)", counter: counter), MockProcessor("2-\(width)", counter: counter)
            )
            return [[resize], [resize, one], [resize, one, two]]
        }
        let all = lists(320) + lists(160)
        let requests = (0..<100).map { ImageRequest(url: url, processors: all[$0 % 6], options: [.disableMemoryCache]) }
        let responses = try await loadTogether(test, requests)
        #expect(test.loader.loadCount == 1 && test.decoder.decodeCount == 2)
        for width in [320.0, 160] {
            #expect(counter["1-\(width)"] == 1 && counter["2-\(width)"] == 1)
        }
        for (index, response) in responses.enumerated() {
            #expect(response.image.width == (index % 6 < 3 ? 320 : 160))
        }
        #expect(Set(responses.map(\.image)).count == 6)
    }
}
