import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
@ImagePipelineActor
struct ShutdownTests {
    private func request(_ name: String) -> ImageRequest { ImageRequest(url: URL(string: "http://test.com/\(name)")) }

    @Test("shutting down takes no new task, lets those under way end, and flushes what was stored")
    func inTime() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request("a"))
        await waitUntil { test.loader.loadCount == 1 }
        let shutdown = Task { await test.pipeline.shutdown(within: 60) }
        await waitUntil { !test.pipeline.isAccepting }
        let late = test.pipeline.imageTask(with: request("b"))
        do throws(ImagePipeline.Error) {
            _ = try await late.response
            Issue.record("a task was taken")
        } catch {
            guard case .pipelineInvalidated = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(test.dataCache?.flushCount == 0)
        test.loader.isSuspended = false
        _ = try await task.response
        #expect(await shutdown.value)
        #expect(test.dataCache?.entries.count == 1 && test.dataCache?.flushCount == 1)
    }

    @Test("what is not done in time is cancelled, and what was stored is flushed all the same")
    func late() async throws {
        let clock = TestClock()
        let test = TestPipeline(hasDataCache: true) { $0.clock = clock }
        test.loader.isSuspended = true
        let task = test.pipeline.imageTask(with: request("a"))
        await waitUntil { test.loader.loadCount == 1 }
        let shutdown = Task { await test.pipeline.shutdown(within: 5) }
        await waitUntil { clock.sleeperCount == 1 }
        #expect(task.status.result == nil)
        clock.advance(by: .seconds(5))
        #expect(await shutdown.value == false)
        await #expect(throws: ImagePipeline.Error.self) { try await task.response }
        #expect(test.loader.cancelCount == 1 && test.dataCache?.flushCount == 1)
    }

    @Test("an idle pipeline shuts down at once, and a second time too")
    func idle() async {
        let test = TestPipeline(hasDataCache: true)
        #expect(await test.pipeline.shutdown(within: 60))
        #expect(await test.pipeline.shutdown(within: 60))
    }
}
