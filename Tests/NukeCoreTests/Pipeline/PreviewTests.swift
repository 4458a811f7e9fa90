import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
@ImagePipelineActor
struct PreviewTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example"))

    /// A pipeline whose decoder makes previews, as often as data comes.
    private func makeTest(
        decoder: MockImageDecoder = MockImageDecoder(), interval: Double = 0,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> TestPipeline {
        if decoder.decodePartially == nil { decoder.enablePreviews() }
        return TestPipeline(decoder: decoder) { configuration in
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = interval
            configure(&configuration)
        }
    }

    @Test("there are no previews unless they are enabled, whatever the policy [PRG-01]")
    func disabledByDefault() async throws {
        #expect(!ImagePipeline.Configuration().isProgressiveDecodingEnabled)
        let delegate = RecordingDelegate(policy: { _ in .incremental })
        let test = TestPipeline(delegate: delegate)
        test.decoder.enablePreviews()
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await download.send(upTo: 2000)
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty && test.decoder.partialCounts.isEmpty && delegate.policyCounts.isEmpty)
    }

    @Test("the last chunk and bodies of unknown length bring no preview [PRG-02]", arguments: [3000, -1])
    func partialDataOnly(expected: Int64) async throws {
        let test = makeTest()
        let download = await PartialDownload(test, request, expected: expected)
        if expected < 0 { await download.send(upTo: 1000) }
        await download.send(upTo: 3000)
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty && test.decoder.partialCounts.isEmpty)
    }

    @Test("the first preview comes at once, the next when the interval has passed [PRG-03] [PRG-04]")
    func interval() async throws {
        #expect(ImagePipeline.Configuration().progressiveDecodingInterval == 0.5)
        let time = Locked(0.0)
        let test = makeTest(interval: 0.5) { $0.now = { time.withLock { $0 } } }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 500)
        await waitUntil { download.previews.count == 1 }
        time.withLock { $0 = 0.4 }
        await download.send(upTo: 1000)
        time.withLock { $0 = 0.5 }
        await download.send(upTo: 1500)
        await waitUntil { download.previews.count == 2 }
        time.withLock { $0 = 0.9 }
        await download.send(upTo: 2000)
        _ = try await download.finish().get()
        #expect(test.decoder.partialCounts == [500, 1500] && download.previews.count == 2)
    }

    @Test("while the queue is full three chunks make one preview's and one final operation [PRG-05] [PRG-07]")
    func backPressure() async throws {
        let test = makeTest()
        let queue = test.pipeline.configuration.imageDecodingQueue
        let count = Locked(0)
        queue.onEvent = { event in count.withLock { $0 += event == .enqueued ? 1 : 0 } }
        queue.isSuspended = true
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await download.send(upTo: 2000)
        await download.send(upTo: 3000)
        download.transfer.finish()
        await waitUntil { count.withLock { $0 } == 2 }
        queue.isSuspended = false
        _ = try await download.outcome().get()
        #expect(count.withLock { $0 } == 2 && test.decoder.decodeCount == 1)
        #expect(test.decoder.partialCounts.isEmpty && download.previews.isEmpty)
    }

    @Test("a preview that had to wait shows the newest data [PRG-05]")
    func newestData() async throws {
        let test = makeTest()
        test.pipeline.configuration.imageDecodingQueue.isSuspended = true
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await download.send(upTo: 2000)
        test.pipeline.configuration.imageDecodingQueue.isSuspended = false
        await waitUntil { download.previews.count == 1 }
        _ = try await download.finish().get()
        #expect(test.decoder.partialCounts == [2000])
    }

    @Test("a decoder is asked for one thing at a time; what came meanwhile is decoded next [DEC-27]")
    func oneAtATime() async throws {
        let decoder = MockImageDecoder()
        let gates = [ThreadGate(), ThreadGate()]
        decoder.enablePreviews { data in gates[data.count > 1000 ? 1 : 0].wait() }
        let test = makeTest(decoder: decoder)
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { decoder.partialCounts == [1000] }
        await download.send(upTo: 1500)
        await download.send(upTo: 2000)
        #expect(decoder.partialCounts == [1000])
        gates[0].open()
        await waitUntil { decoder.partialCounts == [1000, 2000] }
        await download.send(upTo: 3000)
        download.transfer.finish()
        await waitUntil { test.pipeline.fetchDataPool.count == 0 }
        #expect(decoder.decodeCount == 0)
        gates[1].open()
        _ = try await download.outcome().get()
        #expect(decoder.decodeCount == 1)
        // The second preview came after the last byte.
        #expect(download.previews.count == 1)
    }

    @Test("a preview that fails is left out, and the load goes on [PRG-08]")
    func failingPreview() async throws {
        let decoder = MockImageDecoder()
        decoder.decodePartially = { _, _ in throw ImageDecodingError.corruptData("for a test", codec: "mock") }
        let test = makeTest(decoder: decoder)
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { decoder.partialCounts == [1000] }
        await download.send(upTo: 2000)
        await waitUntil { decoder.partialCounts == [1000, 2000] }
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty && decoder.decodeCount == 1)
    }

    @Test("without a decoder for the data so far nothing is queued, and the next chunk asks again [PRG-09]")
    func lateDecoder() async throws {
        let decoder = MockImageDecoder()
        decoder.enablePreviews()
        let test = makeTest { configuration in
            configuration.makeImageDecoder = { $0.data.count < 2000 ? nil : decoder.makeSession($0) }
        }
        let count = Locked(0)
        test.pipeline.configuration.imageDecodingQueue.onEvent = { event in
            count.withLock { $0 += event == .enqueued ? 1 : 0 }
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        #expect(count.withLock { $0 } == 0)
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 1 }
        _ = try await download.finish().get()
        #expect(decoder.partialCounts == [2000] && decoder.decodeCount == 1)
    }

    @Test("two of three chunks bring a preview each, then comes the final image [PRG-42] [PRG-10]")
    func twoPreviews() async throws {
        let test = makeTest()
        let download = await PartialDownload(test, request)
        let events = download.task.events
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 2 }
        let response = try await download.finish().get()
        let previews = download.previews
        #expect(previews.map(\.isPreview) == [true, true] && !response.isPreview)
        #expect(previews.map { $0.dataResponse?.statusCode } == [200, 200])
        var order: [String] = []
        for await event in events {
            switch event {
            case .preview: order.append("preview")
            case .finished: order.append("finished")
            case .progress: break
            }
        }
        #expect(order == ["preview", "preview", "finished"])
    }

    @Test("a chunk's progress comes before the preview made of it [TSK-17]")
    func progressFirst() async throws {
        let test = makeTest()
        let download = await PartialDownload(test, request)
        let events = download.task.events
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 2 }
        _ = try await download.finish().get()
        var order: [String] = []
        for await event in events {
            switch event {
            case .progress(let progress): order.append("progress \(progress.completed)")
            case .preview: order.append("preview")
            case .finished: order.append("finished")
            }
        }
        #expect(order.prefix(4) == ["progress 1000", "preview", "progress 2000", "preview"])
    }

    @Test("one decoder makes the previews and the final image [PRG-28]")
    func oneDecoder() async throws {
        let test = makeTest()
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 2 }
        _ = try await download.finish().get()
        #expect(test.decoder.contexts.count == 1 && test.decoder.decodingSessions == [0])
        #expect(test.decoder.contexts[0].isCompleted == false && test.decoder.contexts[0].data.count == 1000)
        #expect(test.decoder.contexts[0].previewPolicy == .incremental)
    }

    @Test("the request's scale is the previews' too [PRG-39]")
    func scale() async throws {
        let test = makeTest()
        var request = request
        request.scale = 3
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        let response = try await download.finish().get()
        #expect(download.previews[0].image.scale == 3 && response.image.scale == 3)
    }

    @Test(
        "a decoder that works asynchronously makes previews synchronously, or none [PRG-41]", arguments: [true, false])
    func asynchronousDecoder(hasPreviews: Bool) async throws {
        struct Waiting: AsyncImageDecoding {
            let hasPreviews: Bool

            @concurrent
            func decode(_ data: Data) async throws -> ImageContainer { ImageContainer(image: .mock(width: 9)) }

            func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
                hasPreviews ? ImageContainer(image: .mock(width: 5), isPreview: true) : nil
            }
        }
        let test = makeTest { $0.makeImageDecoder = { _ in Waiting(hasPreviews: hasPreviews) } }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        if hasPreviews { await waitUntil { download.previews.count == 1 } }
        let response = try await download.finish().get()
        #expect(response.image.width == 9)
        #expect(download.previews.map(\.image.width) == (hasPreviews ? [5] : []))
    }

    @Test("previews of a decoder that needs no thread are made at once")
    func synchronousDecoder() async throws {
        let test = makeTest(decoder: MockImageDecoder(isAsynchronous: false))
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        #expect(test.decoder.partialCounts == [1000])
        _ = try await download.finish().get()
        #expect(download.previews.count == 1)
    }
}
