import FoundationEssentials
import GeneratedImages
import NukeTestSupport
import Testing

@testable import NukeCore
@testable import NukeKit

@Suite(.timeLimit(.minutes(4)))
struct StressTests {
    /// Counts the ends of tasks.
    private final class Ends: ImagePipeline.Delegate {
        let counts = Locked<[UInt64: Int]>([:])

        @ImagePipelineActor
        func imageTask(_ task: ImageTask, didReceiveEvent event: ImageTask.Event, pipeline: ImagePipeline) {
            if case .finished = event { counts.withLock { $0[task.taskId, default: 0] += 1 } }
        }
    }

    /// A server that answers by the number at the end of the path: images, and every way of failing.
    private func server() throws -> ScriptedServer {
        let jpeg = Array(try Fixture.data("jpeg/gen-8x8.jpg"))
        let png = Array(try Fixture.data("png/gen-3x3-interlaced.png"))
        return try ScriptedServer { request in
            let number = request.target.split(separator: "/").last.flatMap { Int($0) } ?? 0
            switch number % 10 {
            case 0: return [.response(404)]
            case 1: return [.send(ScriptedServer.head(headers: [("Content-Length", "5000")]) + [0xFF, 0xD8]), .close]
            case 2: return [.reset]
            case 3: return [.response(body: Array(jpeg.prefix(jpeg.count / 2)))]
            case 4: return [.response(body: [])]
            case 5: return [.response(body: Array("<html>".utf8))]
            case 6: return [.response(body: png)]
            default: return [.response(body: jpeg)]
            }
        }
    }

    @Test("10,000 requests, re-prioritised and cancelled at random, end once each and leave nothing behind")
    func randomLoad() async throws {
        let server = try server()
        let (decodes, images) = (Locked(0), Locked(0))
        let ends = Ends()
        let pipeline = ImagePipeline(configuration: CountingDecoder.configuration(decodes), delegate: ends)
        let count = 10_000
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var random = SplitMix(seed: UInt64(worker))
                    var tasks: [ImageTask] = []
                    for index in 0..<count / 8 {
                        // Every request has a path of its own, so that no answer serves two.
                        let url = URL(string: server.url("/\(worker)/\(index)"))
                        let task = pipeline.imageTask(with: ImageRequest(url: url))
                        tasks.append(task)
                        if random.next() % 4 == 0 {
                            task.priority = ImageRequest.Priority.allCases[Int(random.next() % 5)]
                        }
                        let other = tasks[Int(random.next() % UInt64(tasks.count))]
                        if random.next() % 5 == 0 { other.cancel() }
                        if index >= 50 { _ = try? await tasks[index - 50].image }
                    }
                    for task in tasks where (try? await task.image) != nil { images.withLock { $0 += 1 } }
                }
            }
        }
        await waitUntil { pipeline.taskCount == 0 }
        let counts = ends.counts.withLock { $0 }
        #expect(counts.count == count && counts.values.allSatisfy { $0 == 1 })
        // What was decoded and then cancelled before it could be delivered is an image, and nobody's.
        #expect(images.withLock { $0 } > 500 && decodes.withLock { $0 } >= images.withLock { $0 })
        let pools = await [pipeline.loadImagePool.count, pipeline.fetchImagePool.count, pipeline.fetchDataPool.count]
        #expect(pools == [0, 0, 0])
        server.stop()
    }

    @Test("as many decodes as answers that are images, when nothing is cancelled")
    func decodeCount() async throws {
        let server = try server()
        let decodes = Locked(0)
        let pipeline = ImagePipeline(configuration: CountingDecoder.configuration(decodes))
        let tasks = (0..<1000).map {
            pipeline.imageTask(with: ImageRequest(url: URL(string: server.url("/\($0)"))))
        }
        var images = 0
        for task in tasks where (try? await task.image) != nil { images += 1 }
        #expect(images == 400 && decodes.withLock { $0 } == 400)
        server.stop()
    }
}
