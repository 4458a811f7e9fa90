import Dispatch
import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct ImagePrefetcherTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    private func requests(_ count: Int) -> [ImageRequest] {
        (0..<count).map { ImageRequest(url: URL(string: "http://test.com/\($0).jpeg")) }
    }

    /// Starts, and returns when the prefetcher says that it is done.
    private func run(_ prefetcher: ImagePrefetcher, _ requests: [ImageRequest]) async {
        let done = AsyncGate()
        prefetcher.didComplete = { done.open() }
        prefetcher.startPrefetching(with: requests)
        await done.wait()
        prefetcher.didComplete = nil
    }

    @Test("a prefetcher goes for memory, two at once, at low priority, and does not pause [PRF-01]")
    func defaults() {
        let prefetcher = ImagePrefetcher()
        #expect(prefetcher.worker.destination == .memoryCache)
        #expect(prefetcher.worker.queue.maxConcurrentOperationCount == 2)
        #expect(prefetcher.priority == .low && !prefetcher.isPaused && prefetcher.didComplete == nil)
    }

    @Test("for memory, the image goes into memory and the bytes to disk [PRF-02]")
    func memoryDestination() async {
        let test = TestPipeline(hasDataCache: true)
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        await run(prefetcher, [request])
        await test.pipeline.finishDataStores()
        #expect(test.imageCache.keys == [ImageCacheKey(request: request)])
        #expect(test.dataCache?.entries.count == 1 && test.decoder.decodeCount == 1)
    }

    @Test("for disk, the bytes go to disk, and nothing is decoded nor in memory [PRF-03]")
    func diskDestination() async {
        let test = TestPipeline(hasDataCache: true)
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline, destination: .diskCache)
        await run(prefetcher, [request])
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries.count == 1)
        #expect(test.decoder.decodeCount == 0 && test.imageCache.count == 0)
    }

    @Test("every load takes the prefetcher's priority, whatever its request says [PRF-04]")
    func priorityOfLoads() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: [
            ImageRequest(url: URL(string: "http://test.com/a"), priority: .veryLow),
            ImageRequest(url: URL(string: "http://test.com/b"), priority: .high),
        ])
        await waitUntil { test.loader.loadCount == 2 }
        #expect(test.loader.transfers.map(\.priority) == [.low, .low])
    }

    @Test("a new priority reaches loads under way and those to come [PRF-05]")
    func changingPriority() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline, maxConcurrentRequestCount: 1)
        prefetcher.startPrefetching(with: requests(2))
        await waitUntil { test.loader.transfers.first?.priorities == [.low] }
        prefetcher.priority = .veryHigh
        #expect(prefetcher.priority == .veryHigh)
        await waitUntil { test.loader.transfers[0].priorities == [.low, .veryHigh] }
        test.loader.isSuspended = false
        await waitUntil { test.loader.loadCount == 2 && test.loader.transfers[1].priorities == [.veryHigh] }
    }

    @Test("a priority set while paused is that of the tasks made later, and of their loads [PRF-06]")
    func changingPriorityWhilePaused() async {
        let created = Locked<[ImageRequest.Priority]>([])
        let delegate = RecordingDelegate(onCreated: { task in created.withLock { $0.append(task.priority) } })
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.isPaused = true
        prefetcher.startPrefetching(with: [request])
        await waitUntil { prefetcher.worker.count == 1 }
        prefetcher.priority = .high
        prefetcher.isPaused = false
        await waitUntil { test.loader.loadCount == 1 }
        #expect(created.withLock { $0 } == [.high])
        #expect(test.loader.transfers[0].priorities == [.high])
    }

    @Test("the same request twice is one task [PRF-07]")
    func sameRequest() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: [request, request])
        prefetcher.startPrefetching(with: [request])
        await waitUntil { test.loader.loadCount == 1 }
        test.loader.isSuspended = false
        await waitUntil { prefetcher.worker.count == 0 }
        #expect(delegate.records.filter { if case .created = $0 { true } else { false } } == [.created(1)])
    }

    @Test("what is in memory makes no task, and completes all the same [PRF-08]")
    func inMemory() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock())
        await run(ImagePrefetcher(pipeline: test.pipeline), [request])
        #expect(delegate.records.isEmpty && test.loader.loadCount == 0)
    }

    @Test("a preview in memory does not count as the image; for disk, memory does not count [PRF-09]")
    func presence() async {
        let test = TestPipeline(hasDataCache: true)
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock(), isPreview: true)
        await run(ImagePrefetcher(pipeline: test.pipeline), [request])
        #expect(test.imageCache[ImageCacheKey(request: request)]?.isPreview == false)
        await test.pipeline.finishDataStores()
        test.dataCache?.removeAll()
        await run(ImagePrefetcher(pipeline: test.pipeline, destination: .diskCache), [request])
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries.count == 1 && test.loader.loadCount == 2)
    }

    @Test("a load joins the prefetch of its image: two tasks, one download [PRF-10]")
    func loadJoins() async throws {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: [request])
        await waitUntil { test.loader.loadCount == 1 }
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.pipeline.taskCount == 2 }
        test.loader.isSuspended = false
        _ = try await task.image
        #expect(test.loader.loadCount == 1)
        #expect(delegate.records.contains(.started(1)) && delegate.records.contains(.started(2)))
    }

    @Test(
        "completion comes once, on the main actor, when nothing is left, however loads went [PRF-11]",
        arguments: ["success", "failure", "nothing"])
    func completion(kind: String) async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        if kind == "failure" {
            test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.badURL))
        }
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        let calls = Locked(0)
        prefetcher.didComplete = {
            dispatchPrecondition(condition: .onQueue(.main))
            calls.withLock { $0 += 1 }
        }
        if kind == "nothing" {
            prefetcher.startPrefetching(with: [ImageRequest]())
        } else {
            prefetcher.startPrefetching(with: requests(2))
            await waitUntil { test.loader.loadCount == 2 }
            test.loader.transfers[0].finish(DataLoadingError.badURL)
            await waitUntil { prefetcher.worker.count == 1 }
            await MainActor.run { #expect(calls.withLock { $0 } == 0) }
            test.loader.isSuspended = false
        }
        await waitUntil { calls.withLock { $0 } == 1 }
        await waitUntil { prefetcher.worker.count == 0 && test.pipeline.taskCount == 0 }
        await MainActor.run { #expect(calls.withLock { $0 } == 1) }
    }

    @Test("a stop does not count as completion [PRF-12]", arguments: [true, false])
    func stopIsNoCompletion(all: Bool) async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        let calls = Locked(0)
        prefetcher.didComplete = { calls.withLock { $0 += 1 } }
        prefetcher.startPrefetching(with: requests(3))
        await waitUntil { test.loader.loadCount == 2 }
        if all { prefetcher.stopPrefetching() } else { prefetcher.stopPrefetching(with: requests(3)) }
        await waitUntil { prefetcher.worker.count == 0 && test.loader.cancelCount == 2 }
        await waitUntil { prefetcher.worker.queue.runningCount == 0 }
        await MainActor.run { #expect(calls.withLock { $0 } == 0) }
    }

    @Test("a stop cancels what runs, as the delegate hears, and what has not started [PRF-13]")
    func stop() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: requests(4))
        await waitUntil { test.loader.loadCount == 2 }
        prefetcher.stopPrefetching(with: requests(4))
        await waitUntil { test.loader.cancelCount == 2 && prefetcher.worker.queue.runningCount == 0 }
        #expect(await prefetcher.worker.queue.pendingCount == 0)
        let cancelled = "\(ImagePipeline.Error.cancelled)"
        #expect(Set(delegate.records.suffix(2).map { "\($0)" }).count == 2)
        #expect(delegate.records.contains(.failed(1, cancelled)) && delegate.records.contains(.failed(2, cancelled)))
        #expect(!delegate.records.contains(.created(3)) && test.loader.loadCount == 2)
    }

    @ImagePipelineActor
    private func startAndStop(_ prefetcher: ImagePrefetcher) {
        prefetcher.startPrefetching(with: requests(3))
        prefetcher.stopPrefetching(with: requests(3))
        prefetcher.startPrefetching(with: requests(3))
        prefetcher.stopPrefetching()
    }

    @Test("started and stopped in one go, nothing is made nor loaded [PRF-14]")
    func startAndStopAtOnce() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        await startAndStop(prefetcher)
        // The queue is first come, first served, so what should not run would have run before this.
        await run(prefetcher, [request])
        #expect(test.loader.transfers.map(\.request.url) == [request.url])
        #expect(delegate.records.first == .created(1) && !delegate.records.contains(.created(2)))
    }

    @Test("stopping nothing, or what is unknown, does nothing; stopping without a list stops all [PRF-15]")
    func stopNothing() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: requests(2))
        await waitUntil { test.loader.loadCount == 2 }
        prefetcher.stopPrefetching(with: [ImageRequest]())
        prefetcher.stopPrefetching(with: [URL(string: "http://test.com/unknown")].compactMap { $0 })
        prefetcher.startPrefetching(with: [request])
        await waitUntil { prefetcher.worker.count == 3 }
        #expect(test.loader.cancelCount == 0)
        prefetcher.stopPrefetching()
        await waitUntil { prefetcher.worker.count == 0 && test.loader.cancelCount == 2 }
    }

    @Test("one stop ends what was started often [PRF-16]")
    func unbalanced() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        for _ in 0..<3 { prefetcher.startPrefetching(with: [request]) }
        await waitUntil { test.loader.loadCount == 1 }
        prefetcher.stopPrefetching(with: [request])
        await waitUntil { prefetcher.worker.count == 0 && test.loader.cancelCount == 1 }
    }

    @Test("paused, what runs finishes and the rest waits; resumed, it goes on [PRF-17]")
    func pause() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: requests(4))
        await waitUntil { test.loader.loadCount == 2 }
        prefetcher.isPaused = true
        #expect(prefetcher.isPaused)
        test.loader.isSuspended = false
        await waitUntil { test.imageCache.count == 2 && prefetcher.worker.queue.runningCount == 0 }
        #expect(await prefetcher.worker.queue.pendingCount == 2)
        #expect(test.loader.loadCount == 2)
        prefetcher.isPaused = false
        await waitUntil { test.imageCache.count == 4 }
    }

    @Test("letting go of the prefetcher cancels everything [PRF-18]")
    func letGo() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher?.startPrefetching(with: requests(3))
        await waitUntil { test.loader.loadCount == 2 }
        weak let worker = prefetcher?.worker
        prefetcher = nil
        await waitUntil { test.loader.cancelCount == 2 && test.pipeline.taskCount == 0 && worker == nil }
        #expect(test.loader.loadCount == 2)
    }

    @Test("a stop has to ask for the same image, processors and options included [PRF-19]")
    func identity() async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        var started = request
        started.processors = [MockProcessor("1")]
        started.thumbnail = .init(maxPixelSize: 40)
        started.scale = 2
        started.options = [.disableDiskCache]
        prefetcher.startPrefetching(with: [started])
        await waitUntil { test.loader.loadCount == 1 }
        var others = [ImageRequest](repeating: started, count: 4)
        others[0].processors = [MockProcessor("2")]
        others[1].thumbnail = nil
        others[2].scale = 1
        others[3].options = []
        prefetcher.stopPrefetching(with: others)
        prefetcher.startPrefetching(with: [request])
        await waitUntil { prefetcher.worker.count == 2 }
        started.priority = .veryHigh
        prefetcher.stopPrefetching(with: [started])
        await waitUntil { prefetcher.worker.count == 1 }
    }

    @Test("a prefetch holds its slot until its task has ended [PRF-20]")
    func slot() async {
        let gate = ThreadGate()
        let test = TestPipeline(decoder: MockImageDecoder(willDecode: { gate.wait() }))
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline, maxConcurrentRequestCount: 1)
        prefetcher.startPrefetching(with: requests(2))
        await waitUntil { test.pipeline.configuration.imageDecodingQueue.runningCount == 1 }
        #expect(await prefetcher.worker.queue.runningCount == 1)
        #expect(await prefetcher.worker.queue.pendingCount == 1)
        #expect(test.loader.loadCount == 1)
        gate.open()
        await waitUntil { test.imageCache.count == 2 }
    }

    @Test("stopping a prefetch leaves the load that joined it alone [PRF-21]")
    func stopLeavesOthers() async throws {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        prefetcher.startPrefetching(with: [request])
        await waitUntil { test.loader.loadCount == 1 }
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.pipeline.taskCount == 2 }
        prefetcher.stopPrefetching()
        await waitUntil { test.pipeline.taskCount == 1 }
        test.loader.isSuspended = false
        _ = try await task.image
        #expect(test.loader.loadCount == 1 && test.loader.cancelCount == 0)
    }

    @Test("everything may be called from any thread at once [PRF-22]")
    func threads() async {
        let test = TestPipeline()
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        let all = requests(20)
        await withTaskGroup { group in
            for index in 0..<40 {
                group.addTask {
                    prefetcher.startPrefetching(with: all)
                    prefetcher.isPaused = index.isMultiple(of: 3)
                    prefetcher.priority = index.isMultiple(of: 2) ? .high : .veryLow
                    prefetcher.didComplete = {}
                    prefetcher.stopPrefetching(with: Array(all.prefix(index % 20)))
                }
            }
        }
        prefetcher.isPaused = false
        await run(prefetcher, all)
        #expect(Set(test.imageCache.keys) == Set(all.map { ImageCacheKey(request: $0) }))
        await waitUntil { test.pipeline.taskCount == 0 && prefetcher.worker.queue.runningCount == 0 }
    }

    @Test("what failed may be started again [PRF-23]")
    func retry() async {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.badURL))
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline)
        await run(prefetcher, [request])
        #expect(await prefetcher.worker.count == 0)
        test.loader.answerEverything(with: .init(chunks: [Data([1])]))
        await run(prefetcher, [request])
        #expect(test.imageCache.count == 1 && test.loader.loadCount == 2)
    }

    @Test("a batch starts in the order given, at any priority", arguments: ImageRequest.Priority.allCases)
    func order(priority: ImageRequest.Priority) async {
        let test = TestPipeline()
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline, maxConcurrentRequestCount: 3)
        prefetcher.priority = priority
        await run(prefetcher, requests(12))
        #expect(test.loader.transfers.map(\.request.url) == requests(12).map(\.url))
    }

    @Test(
        "a batch keeps its order when its priority changes",
        arguments: [.veryLow, .veryHigh] as [ImageRequest.Priority])
    func orderAfterChange(priority: ImageRequest.Priority) async {
        let test = TestPipeline()
        let queue = test.pipeline.configuration.dataLoadingQueue
        queue.isSuspended = true
        let prefetcher = ImagePrefetcher(pipeline: test.pipeline, maxConcurrentRequestCount: 4)
        prefetcher.startPrefetching(with: requests(6))
        await waitUntil { queue.pendingCount == 4 }
        let changes = Locked(0)
        await Self.count(.priorityChanged, in: queue, changes)
        prefetcher.priority = priority
        await waitUntil { changes.withLock { $0 } == 4 }
        queue.isSuspended = false
        await waitUntil { test.imageCache.count == 6 }
        #expect(test.loader.transfers.map(\.request.url) == requests(6).map(\.url))
    }

    @ImagePipelineActor
    private static func count(_ event: TaskQueue.Event, in queue: TaskQueue, _ counter: Locked<Int>) {
        queue.onEvent = { if $0 == event { counter.withLock { $0 += 1 } } }
    }
}
