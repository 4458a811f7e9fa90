import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ImageTaskLifetimeTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    @Test("the pipeline keeps a task that nobody else holds [TSK-38]")
    func keepsTask() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        weak var weakTask: ImageTask?
        do { weakTask = test.pipeline.imageTask(with: request) }
        await waitUntil { test.loader.loadCount == 1 }
        #expect(weakTask != nil)
        test.loader.isSuspended = false
        await waitUntil { test.imageCache.count == 1 && test.pipeline.taskCount == 0 }
    }

    @Test("after the end the pipeline lets go of the task [TSK-39]", arguments: ["success", "failure", "cancelled"])
    func releasesTask(kind: String) async {
        let test = TestPipeline()
        if kind == "failure" {
            test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.badURL))
        }
        if kind == "cancelled" { test.loader.isSuspended = true }
        weak var weakTask: ImageTask?
        do {
            let task = test.pipeline.imageTask(with: request)
            weakTask = task
            if kind == "cancelled" { task.cancel() }
            _ = try? await task.image
        }
        await waitUntil { test.pipeline.taskCount == 0 && weakTask == nil }
        #expect(await test.pipeline.loadImagePool.count == 0)
    }

    @Test("that holds for every end that comes at once [TSK-40]", arguments: 0..<5)
    func synchronousEnds(kind: Int) async {
        let test = TestPipeline(hasDataCache: true)
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock())
        for _ in 0..<10 {
            switch kind {
            case 0: _ = try? await test.pipeline.imageTask(with: request).image
            case 1:
                test.dataCache?.storeData(Data([1]), for: request.dataKey)
                _ = try? await test.pipeline.data(for: request)
            case 2:
                let file = URL(filePath: Fixture.folder + "/README.md")
                _ = try? await test.pipeline.imageTask(with: ImageRequest(url: file)).image
            case 3:
                let other = ImageRequest(url: URL(string: "http://x/y"), options: [.returnCacheDataDontLoad])
                _ = try? await test.pipeline.imageTask(with: other).image
            default: _ = try? await test.pipeline.imageTask(with: ImageRequest(url: nil)).image
            }
        }
        await waitUntil { test.pipeline.taskCount == 0 }
        #expect(await test.pipeline.loadImagePool.count == 0)
        #expect(await test.pipeline.fetchDataPool.count == 0)
    }

    @Test("a pipeline that is let go finishes what runs [TSK-41]")
    func pipelineOutlivesReference() async throws {
        var test: TestPipeline? = TestPipeline()
        let loader = try #require(test?.loader)
        loader.isSuspended = true
        weak let weakPipeline = test?.pipeline
        let task = try #require(test?.pipeline.imageTask(with: request))
        await waitUntil { loader.loadCount == 1 }
        test = nil
        #expect(weakPipeline != nil)
        loader.isSuspended = false
        _ = try await task.image
        await waitUntil { weakPipeline == nil }
    }

    @Test("the description tells number, priority, progress and state [TSK-42]")
    func description() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: .init(chunks: [Data(repeating: 1, count: 20)]))
        let running = test.pipeline.imageTask(with: request)
        #expect("\(running)" == "ImageTask(id: 1, priority: normal, progress: 0 / 0, state: running)")
        test.loader.isSuspended = false
        _ = try await running.image
        #expect("\(running)" == "ImageTask(id: 1, priority: normal, progress: 20 / 20, state: success)")
        test.loader.isSuspended = true
        var high = ImageRequest(url: URL(string: "http://test.com/2"))
        high.priority = .high
        let cancelled = test.pipeline.imageTask(with: high)
        cancelled.cancel()
        #expect("\(cancelled)" == "ImageTask(id: 2, priority: high, progress: 0 / 0, state: cancelled)")
        _ = try? await cancelled.image
        #expect("\(cancelled)".hasSuffix("state: cancelled)"))
        let failed = test.pipeline.imageTask(with: ImageRequest(url: nil))
        _ = try? await failed.image
        #expect("\(failed)".hasSuffix("state: failure(the request has no valid URL))"))
    }

    @available(*, deprecated)
    @Test("the older state is made of the status [TSK-43]")
    func state() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        #expect(task.state == .running)
        test.loader.isSuspended = false
        _ = try await task.image
        #expect(task.state == .completed)
        task.cancel()
        #expect(task.state == .completed)
        test.loader.isSuspended = true
        let cancelled = test.pipeline.imageTask(with: ImageRequest(url: URL(string: "http://test.com/2")))
        cancelled.cancel()
        #expect(cancelled.state == .cancelled)
        _ = try? await cancelled.image
        #expect(cancelled.state == .cancelled)
        let failed = test.pipeline.imageTask(with: ImageRequest(url: nil))
        _ = try? await failed.image
        #expect(failed.state == .completed)
    }

    @available(*, deprecated)
    @Test("the older progress is the status' [TSK-44]")
    func currentProgress() async throws {
        let test = TestPipeline()
        let task = test.pipeline.imageTask(with: request)
        _ = try await task.image
        #expect(task.currentProgress == task.status.progress && task.currentProgress.completed == 22789)
    }

    @Test("setting the priority it has passes nothing on [TSK-45]")
    func samePriority() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.transfers.first?.priorities == [.normal] }
        task.priority = .normal
        for _ in 0..<50 { await Task.yield() }
        #expect(test.loader.transfers[0].priorities == [.normal])
        task.priority = .high
        await waitUntil { test.loader.transfers[0].priorities == [.normal, .high] }
        task.cancel()
    }

    @Test("priority can be set after the end [TSK-46]")
    func priorityAfterEnd() async throws {
        let test = TestPipeline()
        let task = test.pipeline.imageTask(with: request)
        _ = try await task.image
        task.priority = .veryHigh
        #expect(task.priority == .veryHigh)
        for _ in 0..<50 { await Task.yield() }
        #expect(test.loader.transfers[0].priorities == [.normal])
    }

    @Test("of two priority changes in a row the running work sees the last [TSK-47]")
    func lastPriority() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.transfers.first?.priorities == [.normal] }
        await Task { @ImagePipelineActor in
            task.priority = .veryLow
            task.priority = .high
        }.value
        await waitUntil { test.loader.transfers[0].priorities.count > 1 }
        for _ in 0..<50 { await Task.yield() }
        #expect(test.loader.transfers[0].priorities == [.normal, .high])
        task.cancel()
    }

    @Test("the delegate hears nothing of data tasks [TSK-48]")
    func dataTasksAreSilent() async throws {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        _ = try await test.pipeline.data(for: request)
        await waitUntil { test.pipeline.taskCount == 0 }
        #expect(delegate.records == [])
    }

    @Test("data comes with its response, and without one from the disk cache [TSK-49]")
    func dataResponse() async throws {
        let test = TestPipeline(hasDataCache: true)
        let (data, response) = try await test.pipeline.data(for: request)
        #expect(data.count == 22789 && response?.statusCode == 200)
        let (cached, none) = try await test.pipeline.data(for: request)
        #expect(cached == data && none == nil && test.loader.loadCount == 1)
    }

    @Test("every call throws the pipeline's error and no other [TSK-50]")
    func typedErrors() async {
        struct Odd: Error {}
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: Odd()))
        let request = request
        let pipeline = test.pipeline
        // That these closures compile says it: they may throw nothing else.
        let calls: [@Sendable () async throws(ImagePipeline.Error) -> Void] = [
            { () async throws(ImagePipeline.Error) in _ = try await pipeline.image(for: request) },
            { () async throws(ImagePipeline.Error) in _ = try await pipeline.data(for: request) },
            { () async throws(ImagePipeline.Error) in _ = try await pipeline.imageTask(with: request).response },
            { () async throws(ImagePipeline.Error) in _ = try await pipeline.imageTask(with: request).image },
        ]
        for call in calls {
            do {
                try await call()
                Issue.record("no error")
            } catch {
                #expect(error.dataLoadingError is Odd)
            }
        }
    }

    @Test("at the end the result is recorded, then streams, then awaiters, then the delegate [TSK-51]")
    func orderOfTheEnd() async throws {
        let seen = Lock<[Bool]>([])
        let delegate = RecordingDelegate(onEvent: { task, event, pipeline in
            guard case .finished = event else { return }
            // The last to hear: the result stands, and the pipeline has let go of the task.
            let isRecorded = task.status.result != nil
            let isDropped = pipeline.taskCount == 0
            seen.withLock { $0 = [isRecorded, isDropped] }
        })
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        let events = task.events
        test.loader.isSuspended = false
        let isResultSetForStream = Task {
            for await event in events { if case .finished = event { return task.status.result != nil } }
            return false
        }
        _ = try await task.response
        #expect(task.status.result != nil)
        #expect(await isResultSetForStream.value)
        await waitUntil { seen.withLock { $0 } == [true, true] }
    }
}
