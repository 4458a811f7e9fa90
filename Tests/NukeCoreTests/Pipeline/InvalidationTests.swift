import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct InvalidationTests {
    let url = URL(string: "http://test.com/example.jpeg")
    var request: ImageRequest { ImageRequest(url: url) }

    private func failure(of task: ImageTask) async -> String {
        do throws(ImagePipeline.Error) {
            _ = try await task.response
            return "none"
        } catch {
            return switch error {
            case .cancelled: "cancelled"
            case .pipelineInvalidated: "invalidated"
            default: "\(error)"
            }
        }
    }

    @Test("what is under way is cancelled with its loads, what comes later rejected; once is enough [CFG-10]")
    func invalidate() async {
        let test = TestPipeline(hasDataCache: true)
        test.loader.answerEverything(with: nil)
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { test.loader.loadCount == 1 }
        test.pipeline.invalidate()
        test.pipeline.invalidate()
        #expect(await failure(of: task) == "cancelled")
        await waitUntil {
            test.loader.cancelCount == 1 && test.pipeline.configuration.dataLoadingQueue.runningCount == 0
        }
        #expect(await test.pipeline.taskCount == 0)
        #expect(await failure(of: test.pipeline.imageTask(with: request)) == "invalidated")
        await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.data(for: request) }
        test.imageCache[ImageCacheKey(request: request)] = ImageContainer(image: .mock())
        await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: request) }
        #expect(test.loader.loadCount == 1)
    }

    /// Not asynchronous: nothing of a task's happens in between.
    private func invalidate(_ pipeline: ImagePipeline, between make: () -> ImageTask) -> (ImageTask, ImageTask) {
        let before = make()
        pipeline.invalidate()
        return (before, make())
    }

    @Test("a task made just before is cancelled, one made right after rejected [CFG-11]")
    func rightAfter() async {
        for _ in 0..<20 {
            let test = TestPipeline()
            test.loader.answerEverything(with: nil)
            let (before, after) = invalidate(test.pipeline) { test.pipeline.imageTask(with: request) }
            #expect(await failure(of: before) == "cancelled")
            #expect(await failure(of: after) == "invalidated")
        }
    }

    @Test("the delegate hears that a rejected task was made and failed, not that it started [CFG-12]")
    func rejected() async {
        let delegate = RecordingDelegate()
        let test = TestPipeline(delegate: delegate)
        test.pipeline.invalidate()
        let task = test.pipeline.imageTask(with: request)
        #expect(await failure(of: task) == "invalidated")
        await waitUntil { delegate.records.count == 2 }
        #expect(
            delegate.records
                == [.created(task.taskId), .failed(task.taskId, "\(ImagePipeline.Error.pipelineInvalidated)")])
    }

    @Test("the configuration's processors are those of requests without any, in keys and caches too [OLD-06]")
    func defaultProcessors() async throws {
        let counter = MockProcessor.Counter()
        let test = TestPipeline(hasDataCache: true) { $0.processors = [MockProcessor("default", counter: counter)] }
        let own = ImageRequest(url: url, processors: [MockProcessor("own", counter: counter)])
        let processed = ImageRequest(url: url, processors: [MockProcessor("default")])
        _ = try await test.pipeline.image(for: request)
        _ = try await test.pipeline.image(for: own)
        #expect(counter.order == ["default", "own"])
        #expect(test.imageCache.keys == [ImageCacheKey(request: processed), ImageCacheKey(request: own)])
        _ = try await test.pipeline.image(for: request)
        #expect(test.pipeline.cache[request] != nil && counter.total == 2)
        #expect(test.pipeline.cache.makeDataCacheKey(for: request) == processed.dataKey)
        test.pipeline.cache[request] = nil
        #expect(test.imageCache.keys == [ImageCacheKey(request: own)])
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries.keys.map { $0 } == [request.dataKey])
    }
}
