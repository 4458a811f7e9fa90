import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

extension ImageTaskTests {
    // MARK: Awaiting

    @Test("awaiting often, before and after the end, gives the same [TSK-27]")
    func awaitOften() async throws {
        let test = TestPipeline()
        let task = test.pipeline.imageTask(with: request)
        async let a = task.image
        async let b = task.response
        let images = [try await a, try await b.image, try await task.image, try await task.response.image]
        #expect(Set(images).count == 1)
    }

    @Test("cancelling a Swift task that awaits the image cancels the image task [TSK-28]", arguments: [true, false])
    func cancelAwaiting(isResponse: Bool) async {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        let waiting = Task { isResponse ? try await task.response.image : try await task.image }
        await waitUntil { test.loader.loadCount == 1 }
        waiting.cancel()
        let error = await #expect(throws: ImagePipeline.Error.self) { try await waiting.value }
        #expect(error?.isCancelled == true && task.isCancelled)
        await waitUntil { test.loader.cancelCount == 1 }
    }

    @Test("of two that await one image task, one cancelled cancels it for both [TSK-29]")
    func cancelOneOfTwo() async {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        let waiting = (0..<2).map { _ in Task { try await task.image } }
        await waitUntil { test.loader.loadCount == 1 }
        waiting[0].cancel()
        for each in waiting {
            let error = await #expect(throws: ImagePipeline.Error.self) { try await each.value }
            #expect(error?.isCancelled == true)
        }
    }

    @Test(
        "a Swift task cancelled before it starts throws cancelled and never hangs [TSK-30]", arguments: [true, false])
    func cancelledBefore(isHit: Bool) async {
        let test = manualPipeline()
        if isHit { test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock()) }
        let gate = AsyncGate()
        let task = Task {
            await gate.wait()
            return try await test.pipeline.image(for: request)
        }
        task.cancel()
        gate.open()
        let error = await #expect(throws: ImagePipeline.Error.self) { try await task.value }
        #expect(error?.isCancelled == true && test.loader.loadCount == 0)
    }

    // MARK: Cancelling

    @Test("cancel sets the flag at once [TSK-31]")
    func cancelFlag() {
        let task = manualPipeline().pipeline.imageTask(with: request)
        #expect(!task.isCancelled)
        task.cancel()
        #expect(task.isCancelled)
    }

    @Test("cancelling twice, or after the end, does nothing more [TSK-32]")
    func cancelTwice() async {
        let delegate = RecordingDelegate()
        let test = manualPipeline(delegate: delegate)
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        task.cancel()
        task.cancel()
        _ = try? await task.image
        task.cancel()
        await waitUntil { test.pipeline.taskCount == 0 }
        for _ in 0..<20 { await Task.yield() }
        #expect(delegate.records == [.created(1), .started(1), .failed(1, "the load was cancelled")])
        #expect(test.loader.cancelCount == 1)
    }

    @Test("cancelled after success, a task stays a success [TSK-33]")
    func cancelAfterSuccess() async throws {
        let task = TestPipeline().pipeline.imageTask(with: request)
        let image = try await task.image
        task.cancel()
        #expect(task.isCancelled)
        #expect(try await task.image === image)
        #expect((try? task.status.result?.get()) != nil)
    }

    @Test("a task about to end may succeed though cancelled [TSK-34]")
    func cancelTooLate() async throws {
        let test = TestPipeline()
        let delegate = RecordingDelegate(onEvent: { task, event, _ in if case .progress = event { task.cancel() } })
        let late = ImagePipeline(configuration: test.pipeline.configuration, delegate: delegate)
        let task = late.imageTask(with: request)
        // Cancelled within the last step of the actor, or before it: either way there is one end, and the flag is set.
        let result = await Result(catchingAsync: { try await task.response })
        #expect(task.isCancelled)
        if case .failure(let error) = result { #expect((error as? ImagePipeline.Error)?.isCancelled == true) }
    }

    @Test("cancelled before the pipeline came to it, a task is created and finished, not started [TSK-35]")
    func cancelBeforeStart() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        let task = await Task { @ImagePipelineActor in
            let task = test.pipeline.imageTask(with: request)  // cannot start before this actor is left
            task.cancel()
            return task
        }.value
        let error = await #expect(throws: ImagePipeline.Error.self) { try await task.response }
        #expect(error?.isCancelled == true)
        await waitUntil { delegate.records.count == 2 }
        #expect(delegate.records == [.created(1), .failed(1, "the load was cancelled")])
    }

    @Test("cancelled while it runs, a task's transfer is cancelled if nobody else needs it [TSK-36]")
    func cancelWhileRunning() async {
        let delegate = RecordingDelegate()
        let test = manualPipeline(delegate: delegate)
        let tasks = (0..<2).map { _ in test.pipeline.imageTask(with: request) }
        await waitUntil { test.loader.loadCount == 1 && test.pipeline.taskCount == 2 }
        tasks[0].cancel()
        await waitUntil { delegate.records.contains(.failed(1, "the load was cancelled")) }
        #expect(test.loader.cancelCount == 0)
        tasks[1].cancel()
        await waitUntil { test.loader.cancelCount == 1 }
        await waitUntil { delegate.records.contains(.failed(2, "the load was cancelled")) }
    }

    @Test("only cancellation from outside sets the flag [TSK-37]")
    func invalidationLeavesFlag() async {
        let test = manualPipeline()
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        test.pipeline.invalidate()
        let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
        #expect(error?.isCancelled == true && !task.isCancelled)
    }
}

extension ImagePipeline.Error {
    /// Whether this is `cancelled`.
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

extension Result where Failure == any Error {
    /// What an asynchronous closure comes to.
    init(catchingAsync body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
