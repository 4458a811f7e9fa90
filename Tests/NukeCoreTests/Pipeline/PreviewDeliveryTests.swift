import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
@ImagePipelineActor
struct PreviewDeliveryTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example"))
    let counter = MockProcessor.Counter()

    private func makeTest(
        decoder: MockImageDecoder = MockImageDecoder(), hasDataCache: Bool = false,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> TestPipeline {
        if decoder.decodePartially == nil { decoder.enablePreviews() }
        return TestPipeline(decoder: decoder, hasDataCache: hasDataCache) { configuration in
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = 0
            configure(&configuration)
        }
    }

    private func processed(_ ids: String...) -> ImageRequest {
        var request = request
        request.processors = ids.map { MockProcessor($0, counter: counter) }
        return request
    }

    /// A processor that fails for previews, or for final images.
    private struct Failing: ImageProcessing {
        let failsForFinal: Bool
        let log: Locked<[Bool]>
        var identifier: String { "failing-\(failsForFinal)" }

        func process(_ image: PlatformImage) -> PlatformImage? { image }

        func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            log.withLock { $0.append(context.isCompleted) }
            if context.isCompleted == failsForFinal { throw ImageProcessingError.unknown }
            return ImageContainer(image: container.image)
        }
    }

    // MARK: Processing

    @Test(
        "while a preview is being processed later ones are dropped, and the final image takes its turn [PRG-06] [PRG-07]"
    )
    func backPressure() async throws {
        let test = makeTest()
        let queue = test.pipeline.configuration.imageProcessingQueue
        let count = Locked(0)
        queue.onEvent = { event in count.withLock { $0 += event == .enqueued ? 1 : 0 } }
        queue.isSuspended = true
        let download = await PartialDownload(test, processed("1"))
        for (index, end) in [1000, 1500, 2000].enumerated() {
            await download.send(upTo: end)
            await waitUntil { test.decoder.partialCounts.count == index + 1 }
        }
        await waitUntil { count.withLock { $0 } == 1 }
        await download.send(upTo: 3000)
        download.transfer.finish()
        await waitUntil { count.withLock { $0 } == 2 }
        queue.isSuspended = false
        _ = try await download.outcome().get()
        #expect(count.withLock { $0 } == 2 && counter["1"] == 1 && download.previews.isEmpty)
    }

    @Test("a preview that is being processed when the final image comes is not shown [PRG-07]")
    func supersededPreview() async throws {
        let test = makeTest()
        let gate = ThreadGate()
        let started = Locked(0)
        var request = request
        request.processors = [
            MockProcessor("gated") {
                if started.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    gate.wait()
                }
            }
        ]
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { started.withLock { $0 } == 1 }
        await download.send(upTo: 3000)
        download.transfer.finish()
        await waitUntil { test.decoder.decodeCount == 1 && test.pipeline.fetchImagePool.count == 0 }
        gate.open()
        let response = try await download.outcome().get()
        #expect(download.previews.isEmpty && !response.isPreview && started.withLock { $0 } == 2)
    }

    @Test("previews pass through the processors of the final image [PRG-11]")
    func processing() async throws {
        let test = makeTest()
        var request = processed("1")
        request.processors.append(ImageProcessors.Resize(width: 80))
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        let response = try await download.finish().get()
        #expect(download.previews[0].image.size == ImageSize(width: 80, height: 60) && counter["1"] == 2)
        #expect(response.image.size == ImageSize(width: 80, height: 60))
    }

    @Test("a processor that fails for a preview drops it, for the final image fails the load [PRG-12]")
    func failingProcessor() async throws {
        for failsForFinal in [false, true] {
            let log = Locked<[Bool]>([])
            let test = makeTest()
            var request = request
            request.processors = [Failing(failsForFinal: failsForFinal, log: log)]
            let download = await PartialDownload(test, request)
            await download.send(upTo: 1000)
            await waitUntil {
                test.pipeline.configuration.imageProcessingQueue.runningCount == 0
                    && log.withLock { $0.count } == 1
            }
            let outcome = await download.finish()
            #expect(log.withLock { $0 } == [false, true])
            switch outcome {
            case .success(let response): #expect(!failsForFinal && !response.isPreview)
            case .failure(.processingFailed): #expect(failsForFinal)
            case .failure(let error): Issue.record(error)
            }
            // The processor's own container says nothing of previews.
            #expect(download.previews.map(\.isPreview) == (failsForFinal ? [true] : []))
        }
    }

    // MARK: Memory

    @Test("previews go into memory until the final image replaces them, if that is wanted [PRG-13]")
    func storing() async throws {
        #expect(ImagePipeline.Configuration().isStoringPreviewsInMemoryCache)
        for isStoring in [true, false] {
            let test = makeTest { $0.isStoringPreviewsInMemoryCache = isStoring }
            let key = test.pipeline.imageCacheKey(for: request)
            let download = await PartialDownload(test, request)
            await download.send(upTo: 1000)
            await waitUntil { download.previews.count == 1 }
            #expect(test.imageCache[key]?.isPreview == (isStoring ? true : nil))
            _ = try await download.finish().get()
            #expect(test.imageCache[key]?.isPreview == false)
        }
    }

    @Test("a preview never replaces a final image in memory [PRG-13]")
    func finalImageStays() async throws {
        let test = makeTest()
        let key = test.pipeline.imageCacheKey(for: request)
        test.imageCache[key] = ImageContainer(image: .mock(width: 9))
        var request = request
        request.options = [.disableMemoryCacheReads]
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        #expect(test.imageCache[key]?.image.width == 9)
        _ = try await download.finish().get()
        #expect(test.imageCache[key]?.image.width == 640)
    }

    @Test("a preview found in memory is shown, and the load goes on [PRG-15]")
    func cachedPreview() async throws {
        let test = makeTest()
        test.imageCache[test.pipeline.imageCacheKey(for: request)] = ImageContainer(
            image: .mock(width: 9), isPreview: true)
        let download = await PartialDownload(test, request)
        let response = try await download.finish().get()
        #expect(download.previews.map(\.image.width) == [9] && download.previews.map(\.isPreview) == [true])
        #expect(download.previews.map(\.cacheType) == [.memory])
        #expect(!response.isPreview && response.cacheType == nil && response.image.width == 640)
    }

    @Test("a preview in memory does for image(for:) no more than none [PRG-15]")
    func cachedPreviewIsNoImage() async throws {
        let test = makeTest()
        test.imageCache[test.pipeline.imageCacheKey(for: request)] = ImageContainer(
            image: .mock(width: 9), isPreview: true)
        #expect(try await test.pipeline.image(for: request).width == 640)
    }

    @Test("to a preview in memory that lacks the last processors these are applied [PRG-16]")
    func intermediatePreview() async throws {
        let test = makeTest()
        test.imageCache[test.pipeline.imageCacheKey(for: processed("1"))] = ImageContainer(
            image: .mock(width: 9), isPreview: true)
        let download = await PartialDownload(test, processed("1", "2"))
        await waitUntil { download.previews.count == 1 }
        #expect(counter.order == ["2"] && download.previews[0].image.width == 9)
        let response = try await download.finish().get()
        #expect(counter.order == ["2", "1", "2"] && response.image.width == 640)
    }

    @Test("a preview in memory is shown where only caches may be used, and then the image is missing [PRG-17]")
    func cachedPreviewOnly() async throws {
        let test = makeTest()
        test.imageCache[test.pipeline.imageCacheKey(for: request)] = ImageContainer(
            image: .mock(width: 9), isPreview: true)
        var request = request
        request.options = [.returnCacheDataDontLoad]
        let task = test.pipeline.imageTask(with: request)
        var previews: [Int] = []
        for await preview in task.previews { previews.append(preview.image.width) }
        #expect(previews == [9] && test.loader.loadCount == 0)
        guard case .failure(.dataMissingInCache)? = task.status.result else {
            Issue.record("\(task)")
            return
        }
    }

    @Test("where the final decode fails a preview that waits is not processed, and nothing is cached [PRG-18]")
    func failingDecode() async throws {
        let test = makeTest()
        test.pipeline.configuration.imageProcessingQueue.isSuspended = true
        let download = await PartialDownload(test, processed("1"))
        await download.send(upTo: 1000)
        await waitUntil { test.pipeline.configuration.imageProcessingQueue.pendingCount == 1 }
        test.decoder.error = ImageDecodingError.corruptData("for a test", codec: "mock")
        let outcome = await download.finish()
        guard case .failure(.decodingFailed) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(test.pipeline.configuration.imageProcessingQueue.pendingCount == 0)
        test.pipeline.configuration.imageProcessingQueue.isSuspended = false
        await waitUntil { test.pipeline.configuration.imageProcessingQueue.runningCount == 0 }
        #expect(counter.total == 0 && test.imageCache.count == 0)
    }

    @Test("a preview that is ready when its task has ended changes nothing in memory [PRG-19]")
    func latePreview() async throws {
        let test = makeTest()
        let gate = ThreadGate()
        let started = Locked(false)
        var request = request
        request.processors = [
            MockProcessor("gated") {
                started.withLock { $0 = true }
                gate.wait()
            }
        ]
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { started.withLock { $0 } }
        download.task.cancel()
        _ = await download.outcome()
        gate.open()
        await waitUntil { test.pipeline.configuration.imageProcessingQueue.runningCount == 0 }
        #expect(test.imageCache.count == 0 && test.imageCache.writeCount == 0)
    }

    // MARK: Disk

    @Test("previews never go to disk [PRG-14]")
    func disk() async throws {
        let test = makeTest(hasDataCache: true)
        let cancelled = await PartialDownload(test, processed("1"))
        await cancelled.send(upTo: 1000)
        await waitUntil { cancelled.previews.count == 1 }
        cancelled.task.cancel()
        _ = await cancelled.outcome()
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.isEmpty == true)
        test.imageCache.removeAll()
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.isEmpty == true)
        _ = try await download.finish().get()
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.values.map(\.count) == [3000])
    }

    @Test("after a damaged entry on disk previews are shown as ever [PRG-20]")
    func damagedEntry() async throws {
        struct Waiting: AsyncImageDecoding {
            @concurrent
            func decode(_ data: Data) async throws -> ImageContainer {
                if data.count < 10 { throw ImageDecodingError.unknown }
                return ImageContainer(image: .mock())
            }

            func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
                ImageContainer(image: .mock(width: 5), isPreview: true)
            }
        }
        let test = makeTest(hasDataCache: true) { $0.makeImageDecoder = { _ in Waiting() } }
        let request = processed("1")
        for request in [request, self.request] {
            test.dataCache?.storeData(Data([1, 2, 3]), for: test.pipeline.dataCacheKey(for: request))
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        let response = try await download.finish().get()
        #expect(response.cacheType == nil && download.previews.map(\.image.width) == [5])
    }

    @Test("a truncated preview of the empty decoder is neither stored on disk nor taken for the whole [DEC-23]")
    func emptyDecoder() async throws {
        let test = makeTest(hasDataCache: true) {
            $0.makeImageDecoder = { _ in ImageDecoders.Empty(assetType: .gif, isProgressive: true) }
        }
        let cancelled = await PartialDownload(test, request)
        await cancelled.send(upTo: 1000)
        cancelled.task.cancel()
        _ = await cancelled.outcome()
        #expect(cancelled.previews.map(\.container.data?.count) == [1000])
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.isEmpty == true)
        let download = await PartialDownload(test, request)
        let response = try await download.finish().get()
        #expect(response.container.data?.count == 3000 && !response.isPreview)
        #expect(test.imageCache[test.pipeline.imageCacheKey(for: request)]?.data?.count == 3000)
    }

    @Test("tasks for data see no previews, and their download feeds the previews of others")
    func dataTask() async throws {
        let test = makeTest()
        let download = await PartialDownload(test, request)
        let data = Task { try await test.pipeline.data(for: request).0.count }
        await waitUntil { test.pipeline.loadDataPool.count == 1 }
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        _ = try await download.finish().get()
        #expect(try await data.value == 3000)
    }
}
