import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
@ImagePipelineActor
struct SnapshotTests {
    private func request(
        _ name: String, _ priority: ImageRequest.Priority = .normal, _ processors: [any ImageProcessing] = []
    ) -> ImageRequest {
        ImageRequest(url: URL(string: "http://test.com/\(name)"), processors: processors, priority: priority)
    }

    @Test("a snapshot tells what waits in each queue in the order of its start, and what is suspended")
    func queues() async throws {
        let test = TestPipeline { $0.dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 1) }
        test.loader.isSuspended = true
        let running = test.pipeline.imageTask(with: request("running"))
        await waitUntil { test.loader.loadCount == 1 }
        var waiting: [ImageTask] = []
        for (name, priority) in [("low", ImageRequest.Priority.low), ("normal", .normal), ("high", .high)] {
            waiting.append(test.pipeline.imageTask(with: request(name, priority)))
            await waitUntil { test.pipeline.configuration.dataLoadingQueue.pendingCount == waiting.count }
        }
        test.pipeline.suspend(.decoding)
        let snapshot = await test.pipeline.snapshot()
        let loading = try #require(snapshot.queues[.dataLoading])
        #expect(loading.limit == 1 && loading.runningCount == 1 && !loading.isSuspended)
        #expect(loading.pending.map(\.priority) == [.high, .normal, .low])
        #expect(loading.pending.map(\.tasks) == [[waiting[2]], [waiting[1]], [waiting[0]]])
        #expect(snapshot.queues[.decoding]?.isSuspended == true)
        #expect(snapshot.queues.count == ImagePipeline.Queue.allCases.count)
        #expect(snapshot.runningTasks == [running] + waiting)

        test.loader.isSuspended = false
        await waitUntil { test.pipeline.configuration.imageDecodingQueue.pendingCount == 4 }
        #expect(test.decoder.decodeCount == 0)
        test.pipeline.resume(.decoding)
        for task in [running] + waiting { _ = try await task.response }
        #expect(await test.pipeline.snapshot().queues[.decoding]?.isSuspended == false)
    }

    @Test("a snapshot counts tasks by what they came to, and images by where they came from")
    func counts() async throws {
        let test = TestPipeline(hasDataCache: true)
        _ = try await test.pipeline.image(for: request("a"))
        _ = try await test.pipeline.image(for: request("a"))
        _ = try await test.pipeline.imageTask(with: request("a")).response
        await test.pipeline.finishDataStores()
        test.imageCache.removeAll()
        _ = try await test.pipeline.image(for: request("a"))
        let data = "data:image/png;base64,iVBORw0KGgo="
        _ = try await test.pipeline.image(for: ImageRequest(url: URL(string: data)))
        _ = try await test.pipeline.image(for: ImageRequest(id: "i", image: { ImageContainer(image: .mock()) }))
        _ = try? await test.pipeline.image(for: ImageRequest(url: nil))
        let cancelled = test.pipeline.imageTask(with: request("b"))
        cancelled.cancel()
        _ = try? await cancelled.response
        let snapshot = await test.pipeline.snapshot()
        #expect(
            snapshot.imageCounts == [.network: 1, .memoryCache: 2, .dataCache: 1, .local: 1, .closure: 1])
        #expect(snapshot.succeededTaskCount == 5 && snapshot.failedTaskCount == 1)
        #expect(snapshot.cancelledTaskCount == 1)
        #expect(snapshot.runningTasks.isEmpty)
    }

    @Test("a snapshot tells what loads hold and wait for in memory")
    func memory() async throws {
        let test = TestPipeline(decoder: MockImageDecoder(workingSetBytes: 1000)) { $0.memoryBudget = 1500 }
        var held = test.pipeline.memoryBudget.reserve(1000, priority: .normal)
        let task = test.pipeline.imageTask(with: request("a"))
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 1 }
        let memory = await test.pipeline.snapshot().memory
        #expect(memory.budget == 1500 && memory.reserved == 1000)
        #expect(memory.pending.map(\.tasks) == [[task]] && held != nil)
        held = nil
        _ = try await task.response
    }

    @Test("a snapshot tells how full the caches are, where they can tell")
    func caches() async throws {
        let cache = ImageCache(costLimit: 1 << 30)
        let test = TestPipeline(hasDataCache: true) { $0.imageCache = cache }
        _ = try await test.pipeline.image(for: request("a"))
        let snapshot = await test.pipeline.snapshot()
        #expect(snapshot.imageCacheFill == CacheFill(count: 1, byteCount: cache.totalCost, byteLimit: 1 << 30))
        #expect(snapshot.dataCacheFill == nil)
    }
}
