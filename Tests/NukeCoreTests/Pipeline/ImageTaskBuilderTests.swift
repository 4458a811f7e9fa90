import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ImageTaskBuilderTests {
    let url = URL(filePath: "/example.jpeg")

    @Test("every step changes the request, in order [OLD-14]")
    func steps() {
        let pipeline = TestPipeline().pipeline
        let request = pipeline.image(with: url)
            .resize(width: 320).resize(height: 200, upscale: true).resize(size: .init(width: 1, height: 2))
            .fill(width: 3, height: 4).process(with: MockProcessor("a")).process(with: [MockProcessor("b")])
            .process(id: "c") { $0 }.blur(radius: 3)
            .priority(.high).options(.disableDiskCacheReads).options(.disableMemoryCacheReads)
            .thumbnail(.init(maxPixelSize: 40)).scale(2).imageID("id").userInfo("key", 7).request
        let processors: [any ImageProcessing] = [
            .resize(width: 320), .resize(height: 200, upscale: true), .resize(size: .init(width: 1, height: 2)),
            .resize(size: .init(width: 3, height: 4), crop: true), MockProcessor("a"), MockProcessor("b"),
            .process(id: "c") { $0 }, .gaussianBlur(radius: 3),
        ]
        #expect(request.url == url)
        #expect(request.processors.map(\.identifier) == processors.map(\.identifier))
        #expect(request.priority == .high && request.options == [.disableDiskCacheReads, .disableMemoryCacheReads])
        #expect(request.thumbnail == .init(maxPixelSize: 40) && request.scale == 2 && request.imageID == "id")
        #expect(request.userInfo["key"] as? Int == 7)
    }

    @Test("a chain is a value, and loads nothing before its end")
    func value() {
        let test = TestPipeline()
        let base = test.pipeline.image(with: ImageRequest(url: url, priority: .low))
        let high = base.priority(.high)
        #expect(base.request.priority == .low && high.request.priority == .high)
        #expect(test.loader.loadCount == 0)
    }

    @Test("a chain ends in an image, a response, a task or a closure")
    func ends() async throws {
        let test = TestPipeline(decoder: MockImageDecoder(size: ImageSize(width: 64, height: 48))) {
            $0.isLocalResourcesSupportEnabled = false
        }
        let chain = test.pipeline.image(with: url).resize(width: 32).priority(.high)
        let image = try await chain.image()
        #expect(image.width == 32)
        #expect(try await chain.response().image === image)
        let task = chain.start()
        #expect(task.priority == .high)
        #expect(try await task.image === image)
        let result = await withCheckedContinuation { continuation in
            chain.start { continuation.resume(returning: $0) }
        }
        #expect(try result.get().image === image)
        let progressed = Locked(0)
        let again = await withCheckedContinuation { continuation in
            chain.options(.reloadIgnoringCachedData).start { _, _, _ in
                progressed.withLock { $0 += 1 }
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(try again.get().image.width == 32 && progressed.withLock { $0 } == 1)
    }

    @Test("cancelling the task that waits for a chain's image cancels the load")
    func cancellation() async {
        let test = TestPipeline { $0.isLocalResourcesSupportEnabled = false }
        test.loader.isSuspended = true
        let chain = test.pipeline.image(with: url)
        let waiting = Task { try await chain.image() }
        await waitUntil { test.loader.loadCount == 1 }
        waiting.cancel()
        await waitUntil { test.loader.cancelCount == 1 }
    }
}
