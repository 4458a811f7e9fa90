import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ImageTaskTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    func chunks(_ count: Int, of size: Int) -> MockDataLoader.Answer {
        MockDataLoader.Answer(chunks: (0..<count).map { _ in Data(repeating: 1, count: size) })
    }

    /// A pipeline whose loader waits for the test to send.
    func manualPipeline(delegate: (any ImagePipeline.Delegate)? = nil) -> TestPipeline {
        let test = TestPipeline(delegate: delegate)
        test.loader.answerEverything(with: nil)
        return test
    }

    func response(_ length: Int64) -> DataResponse {
        DataResponse(url: request.url, statusCode: 200, expectedContentLength: length)
    }

    func all(_ stream: AsyncStream<ImageTask.Event>) async -> [ImageTask.Event] {
        var events: [ImageTask.Event] = []
        for await event in stream { events.append(event) }
        return events
    }

    func names(_ events: [ImageTask.Event]) -> [String] {
        events.map { event in
            switch event {
            case .progress(let progress): "\(progress.completed)/\(progress.total)"
            case .preview: "preview"
            case .finished(.success): "success"
            case .finished(.failure(let error)): "\(error)"
            }
        }
    }

    // MARK: Start

    @Test("a task starts without anybody waiting for it [TSK-01]")
    func startsAlone() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        _ = test.pipeline.imageTask(with: request)
        await waitUntil { delegate.records.last == .succeeded(1) }
        #expect(test.loader.loadCount == 1)
    }

    @Test("task numbers start at 1 in each pipeline; image and data tasks share them [TSK-02]")
    func taskIds() async throws {
        let test = TestPipeline()
        #expect(test.pipeline.imageTask(with: request).taskId == 1)
        _ = try await test.pipeline.data(for: request)
        #expect(test.pipeline.imageTask(with: request).taskId == 3)
        #expect(TestPipeline().pipeline.imageTask(with: request).taskId == 1)
    }

    @Test("tasks are told apart by identity [TSK-03]")
    func identity() {
        let (a, b) = (
            TestPipeline().pipeline.imageTask(with: request), TestPipeline().pipeline.imageTask(with: request)
        )
        #expect(a.taskId == b.taskId && a.id != b.id && a != b && a == a)
        #expect(Set([a, b, a]).count == 2)
    }

    @Test("the delegate hears created, started, progress, and one end [TSK-04]")
    func delegateOrder() async throws {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.loader.answerEverything(with: chunks(2, of: 10))
        _ = try await test.pipeline.imageTask(with: request).image
        await waitUntil { delegate.records.count == 5 }
        #expect(
            delegate.records == [.created(1), .started(1), .progress(1, 10, 20), .progress(1, 20, 20), .succeeded(1)])
    }

    @Test("created comes on the caller's thread before the start; cancelling inside it loads nothing [TSK-05]")
    func cancelInCreated() async {
        let created = Lock(false)
        let delegate = RecordingDelegate(onCreated: { task in
            created.withLock { $0 = true }
            task.cancel()
        })
        let test = TestPipeline(delegate: delegate)
        let task = test.pipeline.imageTask(with: request)
        #expect(created.withLock { $0 })
        let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
        #expect(error?.isCancelled == true && test.loader.loadCount == 0)
    }

    @Test("started comes before the task's events, also where it is answered at once [TSK-06]")
    func startedBeforeEvents() async throws {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock())
        _ = try await test.pipeline.imageTask(with: request).image
        await waitUntil { delegate.records.count == 3 }
        #expect(delegate.records == [.created(1), .started(1), .succeeded(1)])
    }

    @Test("the stream has progress, previews and the end, and no start [TSK-07]")
    func eventKinds() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(2, of: 10))
        let task = test.pipeline.imageTask(with: request)
        let events = task.events
        test.loader.isSuspended = false
        #expect(names(await all(events)) == ["10/20", "20/20", "success"])
        test.loader.isSuspended = true
        var other = request
        other.imageID = "other"
        let cancelled = test.pipeline.imageTask(with: other)
        let stream = cancelled.events
        cancelled.cancel()
        #expect(names(await all(stream)) == ["the load was cancelled"])
    }

    // MARK: End and status

    @Test("there is one end, whatever races [TSK-08]")
    func oneEnd() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        var tasks: [ImageTask] = []
        for index in 0..<200 {
            let task = test.pipeline.imageTask(with: ImageRequest(url: URL(string: "http://test.com/\(index)")))
            tasks.append(task)
            if index % 2 == 0 { task.cancel() }
        }
        for task in tasks { _ = try? await task.image }
        await waitUntil { test.pipeline.taskCount == 0 }
        for task in tasks {
            let ends = delegate.records.filter { record in
                switch record {
                case .succeeded(task.taskId), .failed(task.taskId, _): true
                default: false
                }
            }
            #expect(ends.count == 1)
        }
    }

    @Test("the result is set when anybody hears of the end [TSK-09]")
    func resultIsSet() async throws {
        let seen = Lock<[Bool]>([])
        let delegate = RecordingDelegate(onEvent: { task, event, _ in
            if case .finished = event { seen.withLock { $0.append(task.status.result != nil) } }
        })
        let test = TestPipeline(delegate: delegate)
        let task = test.pipeline.imageTask(with: request)
        _ = try await task.response
        #expect(task.status.result != nil)
        await waitUntil { seen.withLock { $0 } == [true] }
        for await event in task.events {
            if case .finished = event { #expect(task.status.result != nil) }
        }
    }

    @Test("status is one snapshot of result, cancellation, priority and progress [TSK-10]")
    func statusSnapshot() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: chunks(1, of: 10))
        var high = request
        high.priority = .high
        let task = test.pipeline.imageTask(with: high)
        _ = try await task.image
        task.cancel()
        let status = task.status
        #expect(status.isCancelled && status.priority == .high && status.progress == .init(completed: 10, total: 10))
        #expect((try? status.result?.get()) != nil)
    }

    @Test("a status made by hand is that of a task that has not begun [TSK-11]")
    func emptyStatus() {
        let status = ImageTask.Status()
        #expect(status.result == nil && !status.isCancelled && status.priority == .normal)
        #expect(status.progress == .init(completed: 0, total: 0))
    }

    // MARK: Progress

    @Test("before the first byte progress is nothing of nothing [TSK-12]")
    func noProgress() async {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        #expect(task.status.progress == .init(completed: 0, total: 0) && task.status.progress.fraction == 0)
        task.cancel()
    }

    @Test("the fraction stays within 0 and 1 [TSK-13]")
    func fraction() {
        #expect(ImageTask.Progress(completed: 5, total: 0).fraction == 0)
        #expect(ImageTask.Progress(completed: 5, total: -1).fraction == 0)
        #expect(ImageTask.Progress(completed: 5, total: 4).fraction == 1)
        #expect(ImageTask.Progress(completed: 1, total: 4).fraction == 0.25)
    }

    @Test("each chunk brings a progress event with the bytes held and expected [TSK-14]")
    func progressPerChunk() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(5, of: 7))
        let task = test.pipeline.imageTask(with: request)
        let events = task.events
        test.loader.isSuspended = false
        #expect(names(await all(events)) == ["7/35", "14/35", "21/35", "28/35", "35/35", "success"])
    }

    @Test("twenty bytes in two chunks are 10 of 20 and 20 of 20 [TSK-15]")
    func twoChunks() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(2, of: 10))
        let task = test.pipeline.imageTask(with: request)
        let progress = task.progress
        test.loader.isSuspended = false
        var seen: [ImageTask.Progress] = []
        for await value in progress { seen.append(value) }
        #expect(seen == [.init(completed: 10, total: 20), .init(completed: 20, total: 20)])
    }

    @Test("an unknown length is -1, and its fraction 0 [TSK-16]")
    func unknownLength() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        var answer = chunks(2, of: 10)
        answer.response = DataResponse(url: request.url, statusCode: 200)
        test.loader.answerEverything(with: answer)
        let task = test.pipeline.imageTask(with: request)
        let progress = task.progress
        test.loader.isSuspended = false
        var seen: [ImageTask.Progress] = []
        for await value in progress { seen.append(value) }
        #expect(seen == [.init(completed: 10, total: -1), .init(completed: 20, total: -1)] && seen[0].fraction == 0)
    }

    @Test("hits, local resources and closures bring no progress [TSK-18]", arguments: 0..<5)
    func noProgressEvents(kind: Int) async throws {
        let delegate = RecordingDelegate()
        let test = TestPipeline(hasDataCache: true, delegate: delegate)
        let file = URL(filePath: Fixture.folder + "/README.md")
        let requests = [
            request, request, ImageRequest(url: file), ImageRequest(id: "a", data: { Data([1]) }),
            ImageRequest(id: "b", image: { ImageContainer(image: .mock()) }),
        ]
        if kind == 0 { test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock()) }
        if kind == 1 { test.dataCache?.storeData(Data([1]), for: request.dataKey) }
        _ = try await test.pipeline.imageTask(with: requests[kind]).image
        await waitUntil { delegate.records.last == .succeeded(1) }
        #expect(delegate.records == [.created(1), .started(1), .succeeded(1)])
        #expect(test.loader.loadCount == 0)
    }

    // MARK: Streams

    @Test("each access to events is a stream of its own [TSK-19]")
    func independentStreams() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(2, of: 10))
        let task = test.pipeline.imageTask(with: request)
        let (first, second) = (task.events, task.events)
        test.loader.isSuspended = false
        #expect(names(await all(first)) == ["10/20", "20/20", "success"])
        #expect(names(await all(second)) == ["10/20", "20/20", "success"])
    }

    @Test("progress and previews are views on events [TSK-20]")
    func views() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(2, of: 10))
        let task = test.pipeline.imageTask(with: request)
        let (progress, previews) = (task.progress, task.previews)
        test.loader.isSuspended = false
        var counts = (0, 0)
        for await _ in progress { counts.0 += 1 }
        for await _ in previews { counts.1 += 1 }
        #expect(counts == (2, 0))
    }

    @Test(
        "a stream opened after the end brings the end alone [TSK-21]", arguments: ["success", "failure", "cancelled"])
    func lateStream(kind: String) async {
        let test = TestPipeline()
        if kind == "failure" {
            test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.badURL))
        }
        if kind == "cancelled" { test.loader.isSuspended = true }
        let task = test.pipeline.imageTask(with: request)
        if kind == "cancelled" { task.cancel() }
        _ = try? await task.image
        let events = await all(task.events)
        #expect(events.count == 1)
        guard case .finished(let result)? = events.first else {
            Issue.record("no end")
            return
        }
        #expect(((try? result.get()) != nil) == (kind == "success"))
    }

    @Test("a stream opened right after a hit's task was made brings the end [TSK-22]")
    func streamOfHit() async {
        let test = TestPipeline()
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock())
        #expect(names(await all(test.pipeline.imageTask(with: request).events)) == ["success"])
    }

    @Test("a stream opened midway begins with the progress so far [TSK-23]")
    func midwayStream() async {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        let transfer = test.loader.transfers[0]
        transfer.send(Data(repeating: 1, count: 10), response(20))
        await waitUntil { task.status.progress.completed == 10 }
        let events = task.events
        transfer.send(Data(repeating: 1, count: 10), response(20))
        transfer.finish()
        #expect(names(await all(events)) == ["10/20", "20/20", "success"])
    }

    @Test("a slow reader misses nothing, and the stream ends behind the end [TSK-24] [TSK-25]")
    func slowReader() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        test.loader.answerEverything(with: chunks(100, of: 1))
        let task = test.pipeline.imageTask(with: request)
        let events = task.events
        test.loader.isSuspended = false
        _ = try await task.image
        let names = names(await all(events))
        #expect(names == (1...100).map { "\($0)/100" } + ["success"])
    }

    @Test("cancelling a Swift task that only iterates does not cancel the image task [TSK-26]")
    func cancelIteration() async throws {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        let iteration = Task { for await _ in task.events {} }
        iteration.cancel()
        await iteration.value
        #expect(!task.isCancelled)
        test.loader.transfers[0].send(Data([1]), response(1))
        test.loader.transfers[0].finish()
        _ = try await task.image
    }
}
