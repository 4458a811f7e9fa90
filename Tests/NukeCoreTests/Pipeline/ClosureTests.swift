import Dispatch
import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ClosureTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    /// An executor of a queue, as a program with a main loop of its own may have.
    private final class QueueExecutor: TaskExecutor {
        let queue = DispatchQueue(label: "ClosureTests")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private typealias Answer = Result<ImageResponse, ImagePipeline.Error>

    @MainActor
    @Test(
        "closures are called on the main actor, and later, also for hits [CLO-01] [CLO-08]", arguments: [false, true])
    func onMain(isHit: Bool) async throws {
        let test = TestPipeline()
        if isHit { test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock()) }
        let hasReturned = Locked(false)
        let progressCount = Locked(0)
        let answer: Answer = await withCheckedContinuation { continuation in
            test.pipeline.loadImage(with: request) { _, _, _ in
                dispatchPrecondition(condition: .onQueue(.main))
                progressCount.withLock { $0 += 1 }
            } completion: { result in
                dispatchPrecondition(condition: .onQueue(.main))
                #expect(hasReturned.withLock { $0 })
                continuation.resume(returning: result)
            }
            hasReturned.withLock { $0 = true }
        }
        #expect(try answer.get().cacheType == (isHit ? .memory : nil))
        #expect(progressCount.withLock { $0 } == (isHit ? 0 : 1))
    }

    @Test("a URL, or a request, and a completion are enough [OLD-01]")
    func shortForms() async throws {
        let test = TestPipeline()
        let url = try #require(request.url)
        let first: Answer = await withCheckedContinuation { continuation in
            test.pipeline.loadImage(with: url) { continuation.resume(returning: $0) }
        }
        let second: Answer = await withCheckedContinuation { continuation in
            test.pipeline.loadImage(with: request) { continuation.resume(returning: $0) }
        }
        #expect(try first.get().image === second.get().image)
    }

    @Test("an executor that is given runs the closures")
    func onExecutor() async throws {
        let test = TestPipeline()
        let executor = QueueExecutor()
        let progressCount = Locked(0)
        let image: Answer = await withCheckedContinuation { continuation in
            test.pipeline.loadImage(with: request, executor: executor) { _, _, _ in
                dispatchPrecondition(condition: .onQueue(executor.queue))
                progressCount.withLock { $0 += 1 }
            } completion: { result in
                dispatchPrecondition(condition: .onQueue(executor.queue))
                continuation.resume(returning: result)
            }
        }
        let data: Result<(data: Data, response: DataResponse?), ImagePipeline.Error> = await withCheckedContinuation {
            continuation in
            test.pipeline.loadData(with: request, executor: executor) { _, _ in
                dispatchPrecondition(condition: .onQueue(executor.queue))
                progressCount.withLock { $0 += 1 }
            } completion: { result in
                dispatchPrecondition(condition: .onQueue(executor.queue))
                continuation.resume(returning: result)
            }
        }
        #expect(try image.get().cacheType == nil)
        #expect(try data.get().data.count == 22789 && progressCount.withLock { $0 } == 2)
    }

    @MainActor
    @Test("after cancel nothing is called, though an event waits for the main actor [CLO-02]")
    func cancelled() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let calls = Locked(0)
        let task = test.pipeline.loadImage(with: request) { _, _, _ in
            calls.withLock { $0 += 1 }
        } completion: { _ in
            calls.withLock { $0 += 1 }
        }
        // The main actor is held here, so the end, which comes from the codec threads, can only wait for it.
        test.loader.isSuspended = false
        while task.status.result == nil {}
        task.cancel()
        #expect(task.status.isCancelled)
        for await _ in task.events {}
        for _ in 0..<20 { await Task.yield() }
        #expect(calls.withLock { $0 } == 0)
    }

    @Test("an invalidated pipeline calls the completion, with cancelled [CLO-03]")
    func invalidated() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let answer: Answer = await withCheckedContinuation { continuation in
            test.pipeline.loadImage(with: request) { continuation.resume(returning: $0) }
            test.pipeline.invalidateOnceLoading(test.loader)
        }
        guard case .failure(.cancelled) = answer else {
            Issue.record("not cancelled: \(answer)")
            return
        }
    }

    @Test("in the completion the task has its result [CLO-04]")
    func resultIsSet() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = Locked<ImageTask?>(nil)
        let image: PlatformImage? = await withCheckedContinuation { continuation in
            let made = test.pipeline.loadImage(with: request) { _ in
                let task = task.withLock { $0 }
                continuation.resume(returning: try? task?.status.result?.get().image)
            }
            task.withLock { $0 = made }
            test.loader.isSuspended = false
        }
        #expect(image != nil)
    }

    private struct Report: Equatable {
        var isPreview: Bool
        var completed: Int64
        var total: Int64
    }

    @Test("progress comes without a response for bytes, and with it for previews [CLO-05]")
    func progress() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let reports = Locked<[Report]>([])
        let done = AsyncGate()
        let task = test.pipeline.loadImage(with: request) { preview, completed, total in
            reports.withLock {
                $0.append(Report(isPreview: preview?.isPreview == true, completed: completed, total: total))
            }
        } completion: { _ in
            done.open()
        }
        await waitUntil { test.loader.loadCount == 1 }
        let preview = ImageResponse(
            container: ImageContainer(image: .mock(), isPreview: true), request: request)
        #expect(await task.deliver(.progress(.init(completed: 3, total: 9))))
        #expect(await task.deliver(.preview(preview)))
        #expect(await task.deliver(.progress(.init(completed: 9, total: 9))))
        #expect(await task.deliver(.finished(.success(preview))))
        await done.wait()
        #expect(
            reports.withLock { $0 } == [
                Report(isPreview: false, completed: 3, total: 9), Report(isPreview: true, completed: 3, total: 9),
                Report(isPreview: false, completed: 9, total: 9),
            ])
    }

    @Test("data comes with its response, its progress with counts alone [CLO-06]")
    func data() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [Data([1, 2]), Data([3])]))
        let counts = Locked<[[Int64]]>([])
        let result: Result<(data: Data, response: DataResponse?), ImagePipeline.Error> = await withCheckedContinuation {
            continuation in
            test.pipeline.loadData(with: request) { completed, total in
                counts.withLock { $0.append([completed, total]) }
            } completion: { result in
                continuation.resume(returning: result)
            }
        }
        let (data, response) = try result.get()
        #expect(data == Data([1, 2, 3]) && response?.statusCode == 200)
        #expect(counts.withLock { $0 } == [[2, 3], [3, 3]])
        let again: Result<(data: Data, response: DataResponse?), ImagePipeline.Error> = await withCheckedContinuation {
            continuation in test.pipeline.loadData(with: request) { continuation.resume(returning: $0) }
        }
        #expect(try again.get().data.count == 3 && test.decoder.decodeCount == 0)
    }

    @Test("the task that is returned, and need not be kept, can be hurried and cancelled [CLO-07]")
    func returnedTask() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let task = test.pipeline.loadImage(with: request) { _ in }
        await waitUntil { test.loader.loadCount == 1 }
        task.priority = .veryHigh
        await waitUntil { test.loader.transfers[0].priority == .veryHigh }
        task.cancel()
        await waitUntil { test.loader.cancelCount == 1 }
    }
}

extension ImagePipeline {
    /// Invalidates the pipeline when the loader was asked for something.
    fileprivate func invalidateOnceLoading(_ loader: MockDataLoader) {
        Task {
            await waitUntil { loader.loadCount == 1 }
            invalidate()
        }
    }
}
