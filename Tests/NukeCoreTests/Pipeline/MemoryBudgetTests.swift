import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// Every load here needs 1,000 bytes to decode a picture of 320 bytes, unless it says otherwise.
@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct MemoryBudgetTests {
    private static let size = ImageSize(width: 10, height: 8)

    private func makePipeline(
        budget: Int, hasPreviews: Bool = false, willDecode: @escaping @Sendable () -> Void = {}
    ) -> TestPipeline {
        let decoder = MockImageDecoder(size: Self.size, workingSetBytes: 1000, willDecode: willDecode)
        return TestPipeline(decoder: decoder) { configuration in
            configuration.memoryBudget = budget
            configuration.imageDecodingQueue = TaskQueue(maxConcurrentOperationCount: 2)
            configuration.isProgressiveDecodingEnabled = hasPreviews
        }
    }

    private func request(
        _ name: String, _ priority: ImageRequest.Priority = .normal, _ processors: [any ImageProcessing] = []
    ) -> ImageRequest {
        ImageRequest(url: URL(string: "http://test.com/\(name)"), processors: processors, priority: priority)
    }

    @ImagePipelineActor
    private func waitForMemoryBack(_ pipeline: ImagePipeline) async {
        await waitUntil { pipeline.memoryBudget.reserved == 0 && pipeline.memoryBudget.waitingCount == 0 }
    }

    @Test("by default the budget is half of the memory that the process may use")
    func defaultBudget() {
        #expect(ImagePipeline.Configuration().memoryBudget == HostLimits.memory / 2)
        #expect(HostLimits.memory > 0)
    }

    @Test("a load that does not fit waits until another one is handed over")
    @ImagePipelineActor
    func waits() async throws {
        let test = makePipeline(budget: 1900)
        test.pipeline.suspend(.processing)
        let tasks = ["a", "b"].map { test.pipeline.imageTask(with: request($0, .normal, [MockProcessor("p")])) }
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 1 && test.decoder.decodeCount == 1 }
        await waitUntil { test.pipeline.memoryBudget.reserved == 640 }
        test.pipeline.resume(.processing)
        for task in tasks { _ = try await task.response }
        #expect(test.decoder.decodeCount == 2)
        await waitForMemoryBack(test.pipeline)
    }

    @Test("loads that fit are not held up by those that have not been handed over yet")
    @ImagePipelineActor
    func fitsBeside() async throws {
        let test = makePipeline(budget: 2000)
        test.pipeline.suspend(.processing)
        let tasks = ["a", "b"].map { test.pipeline.imageTask(with: request($0, .normal, [MockProcessor("p")])) }
        await waitUntil { test.pipeline.memoryBudget.reserved == 1280 && test.decoder.decodeCount == 2 }
        test.pipeline.resume(.processing)
        for task in tasks { _ = try await task.response }
    }

    @Test("what alone exceeds the budget fails with a typed error before any pixel is decoded")
    func exceeds() async throws {
        let test = makePipeline(budget: 999)
        do throws(ImagePipeline.Error) {
            _ = try await test.pipeline.image(for: request("a"))
            Issue.record("the image was loaded")
        } catch {
            guard case .decodingFailed(_, _, let reason as ImageDecodingError) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.code == .limitExceeded)
            #expect(reason.reason.contains("memory"))
        }
        #expect(test.decoder.decodeCount == 0)
        await waitForMemoryBack(test.pipeline)
    }

    @Test("what a processor makes larger counts before anything is decoded")
    func countsProcessedImages() async throws {
        let test = makePipeline(budget: 100_000)
        let huge = ImageProcessors.Resize(width: 1000, upscale: true)
        await #expect(throws: ImagePipeline.Error.self) {
            try await test.pipeline.image(for: request("a", .normal, [huge]))
        }
        #expect(test.decoder.decodeCount == 0)
        let image = try await test.pipeline.image(
            for: request("a", .normal, [ImageProcessors.Resize(width: 100, upscale: true)]))
        #expect(image.width == 100)
    }

    @Test("loads that wait are admitted by priority, then in the order of arrival")
    @ImagePipelineActor
    func order() async throws {
        let test = makePipeline(budget: 1400)
        var held = test.pipeline.memoryBudget.reserve(1000, priority: .normal)
        let order = Locked<[String]>([])
        var tasks: [ImageTask] = []
        let waiting: [(String, ImageRequest.Priority)] = [
            ("low", .low), ("normal 1", .normal), ("high", .high), ("normal 2", .normal), ("raised", .veryLow),
        ]
        for (name, priority) in waiting {
            let note = MockProcessor(name) { order.withLock { $0.append(name) } }
            tasks.append(test.pipeline.imageTask(with: request("\(tasks.count)", priority, [note])))
            // One after the other, so that the order of arrival is known.
            await waitUntil { test.pipeline.memoryBudget.waitingCount == tasks.count }
        }
        tasks[4].priority = .veryHigh
        await waitUntil { test.pipeline.memoryBudget.pending.first?.priority == .veryHigh }
        #expect(held?.byteCount == 1000)
        held = nil
        for task in tasks { _ = try await task.response }
        #expect(order.withLock { $0 } == ["raised", "high", "normal 1", "normal 2", "low"])
    }

    @Test("loads that wait for memory hold no place in the decoding queue")
    @ImagePipelineActor
    func holdsNoPlace() async throws {
        let test = makePipeline(budget: 1500)
        var held = test.pipeline.memoryBudget.reserve(1000, priority: .normal)
        let tasks = (0..<6).map { test.pipeline.imageTask(with: request("\($0)")) }
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 6 }
        await waitUntil { test.decodingIsIdle }
        #expect(test.decoder.decodeCount == 0 && held != nil)
        held = nil
        for task in tasks { _ = try await task.response }
    }

    @Test("cancelling a load that waits lets the others go on, and nothing is lost")
    @ImagePipelineActor
    func cancelsWaiting() async throws {
        let test = makePipeline(budget: 1000)
        var held = test.pipeline.memoryBudget.reserve(1, priority: .normal)
        let tasks = (0..<3).map { test.pipeline.imageTask(with: request("\($0)")) }
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 3 }
        tasks[1].cancel()
        await #expect(throws: ImagePipeline.Error.self) { try await tasks[1].response }
        #expect(test.pipeline.memoryBudget.waitingCount == 2 && held != nil)
        held = nil
        for task in [tasks[0], tasks[2]] { _ = try await task.response }
        #expect(test.decoder.decodeCount == 2)
        await waitForMemoryBack(test.pipeline)
    }

    @Test("memory comes back after an error, and the next load takes it")
    func comesBack() async throws {
        let test = makePipeline(budget: 1000)
        test.decoder.error = DataLoadingError.badURL
        let failing = ["a", "b"].map { test.pipeline.imageTask(with: request($0)) }
        for task in failing { await #expect(throws: ImagePipeline.Error.self) { try await task.response } }
        await waitForMemoryBack(test.pipeline)
        test.decoder.error = nil
        _ = try await test.pipeline.image(for: request("after"))
        await waitForMemoryBack(test.pipeline)
    }

    @Test("a cancelled decode keeps its memory until the codec has returned")
    func keepsUntilReturn() async throws {
        let gate = ThreadGate()
        let test = makePipeline(budget: 1000) { gate.wait() }
        let cancelled = test.pipeline.imageTask(with: request("cancelled"))
        await waitUntil { test.pipeline.memoryBudget.reserved == 1000 }
        cancelled.cancel()
        await #expect(throws: ImagePipeline.Error.self) { try await cancelled.response }
        #expect(test.pipeline.memoryBudget.reserved == 1000)
        gate.open()
        await waitForMemoryBack(test.pipeline)
    }

    @Test("memory is held until the processed images of all that share a decode are handed over")
    func sharedDecode() async throws {
        let test = makePipeline(budget: 1960)  // 1000 and twice 320 for the outputs, and not as much again
        let processing = test.pipeline.configuration.imageProcessingQueue
        processing.isSuspended = true
        test.pipeline.configuration.imageDecodingQueue.isSuspended = true
        let sharing = ["x", "y"].map { name in
            test.pipeline.imageTask(with: request("shared", .normal, [MockProcessor(name), MockProcessor(name + "2")]))
        }
        await waitUntil { test.pipeline.taskCount == 2 && test.loader.loadCount == 1 }
        await waitUntil { test.pipeline.configuration.imageDecodingQueue.pendingCount == 1 }
        test.pipeline.configuration.imageDecodingQueue.isSuspended = false
        await waitUntil { processing.pendingCount == 2 }
        // The codec is done: what counts is the picture and what is made of it twice.
        #expect(test.pipeline.memoryBudget.reserved == 320 + 2 * 320)
        let other = test.pipeline.imageTask(with: request("other", .normal, [MockProcessor("z")]))
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 1 }
        processing.isSuspended = false
        for task in sharing { _ = try await task.response }
        _ = try await other.response
        await waitForMemoryBack(test.pipeline)
        #expect(test.decoder.decodeCount == 2)
    }

    @Test("a decoder that can't tell its needs is admitted, and counts once it has decoded")
    func unknownNeeds() async throws {
        let test = TestPipeline(decoder: MockImageDecoder(size: Self.size)) { $0.memoryBudget = 500 }
        let processing = test.pipeline.configuration.imageProcessingQueue
        processing.isSuspended = true
        let task = test.pipeline.imageTask(with: request("a", .normal, [MockProcessor("x")]))
        await waitUntil { processing.pendingCount == 1 }
        #expect(test.pipeline.memoryBudget.reserved == 640)
        processing.isSuspended = false
        _ = try await task.response
        await waitForMemoryBack(test.pipeline)
    }

    @Test("a decoder that decodes at once waits for memory as well")
    func synchronousDecoder() async throws {
        let decoder = MockImageDecoder(size: Self.size, isAsynchronous: false, workingSetBytes: 1000)
        let test = TestPipeline(decoder: decoder) { $0.memoryBudget = 1500 }
        let processing = test.pipeline.configuration.imageProcessingQueue
        processing.isSuspended = true
        let tasks = ["a", "b"].map { name in
            test.pipeline.imageTask(with: request(name, .normal, [MockProcessor("x")]))
        }
        await waitUntil { test.pipeline.memoryBudget.waitingCount == 1 }
        processing.isSuspended = false
        for task in tasks { _ = try await task.response }
        await waitForMemoryBack(test.pipeline)
    }

    @Test("a cached image that is asked for at once is decoded even when others hold the memory")
    func withoutWaiting() async throws {
        let decoder = MockImageDecoder(size: Self.size, workingSetBytes: 1000)
        let test = TestPipeline(decoder: decoder, hasDataCache: true) { $0.memoryBudget = 1000 }
        test.pipeline.cache.storeCachedData(Data([1]), for: request("a"))
        let held = try #require(test.pipeline.memoryBudget.reserve(600, priority: .normal))
        #expect(test.pipeline.cache.cachedImage(for: request("a"))?.image.width == 10)
        #expect(test.pipeline.memoryBudget.reserved == held.byteCount)
    }

    @Test("a preview takes the memory of its load, or is left out where that would take waiting")
    @ImagePipelineActor
    func previews() async throws {
        let test = makePipeline(budget: 1900, hasPreviews: true)
        test.decoder.enablePreviews()
        let first = await PartialDownload(test, request("first"))
        await first.send(upTo: 1000)
        await waitUntil { first.previews.count == 1 }
        #expect(test.pipeline.memoryBudget.reserved == 1000)
        let second = await PartialDownload(test, request("second"))
        await second.send(upTo: 1000)
        await waitUntil { test.decodingIsIdle }
        #expect(test.pipeline.memoryBudget.reserved == 1000)
        _ = try await first.finish().get()
        _ = try await second.finish().get()
        #expect(second.previews.isEmpty)
        await waitForMemoryBack(test.pipeline)
    }

    @Test("many loads, processed, shared, failed and cancelled, all end and leave nothing reserved")
    func manyLoads() async {
        let test = makePipeline(budget: 3000)
        let tasks = (0..<400).map { index in
            let processors: [any ImageProcessing] = index % 3 == 0 ? [MockProcessor("p\(index % 5)")] : []
            let priority = ImageRequest.Priority.allCases[index % 5]
            return test.pipeline.imageTask(with: request("\(index % 60)", priority, processors))
        }
        for (index, task) in tasks.enumerated() where index % 7 == 0 { task.cancel() }
        for (index, task) in tasks.enumerated() where index % 11 == 0 { task.priority = .high }
        for task in tasks { _ = try? await task.response }
        await waitForMemoryBack(test.pipeline)
    }
}

extension TestPipeline {
    @ImagePipelineActor
    fileprivate var decodingIsIdle: Bool {
        let queue = pipeline.configuration.imageDecodingQueue
        return queue.pendingCount == 0 && queue.runningCount == 0
    }
}
