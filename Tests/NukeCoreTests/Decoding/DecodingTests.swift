import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
@ImagePipelineActor
struct DecodingTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example"))

    /// The context and error of a load that fails.
    private func failure(of test: TestPipeline, _ request: ImageRequest) async -> ImagePipeline.Error? {
        do throws(ImagePipeline.Error) {
            _ = try await test.pipeline.imageTask(with: request).response
            return nil
        } catch { return error }
    }

    private final class Plain: ImageDecoding {
        func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: .mock()) }
    }

    // MARK: Registry

    @Test("an empty registry, and one that was cleared, has no decoder [DEC-01] [DEC-04]")
    func emptyRegistry() async throws {
        let context = ImageDecodingContext(request: request, data: Data("GIF89a".utf8))
        let registry = ImageDecoderRegistry()
        #expect(registry.decoder(for: context) == nil)
        registry.register { _ in Plain() }
        #expect(registry.decoder(for: context) != nil)
        registry.clear()
        #expect(registry.decoder(for: context) == nil && registry.formats.isEmpty)
        let test = TestPipeline { $0.decoderRegistry = registry }
        guard case .decoderNotRegistered? = await failure(of: test, request) else {
            Issue.record("no error")
            return
        }
    }

    @Test("the newest closure is asked first; one that answers nil lets the next be asked, formats last [DEC-02]")
    func order() {
        let asked = Locked<[String]>([])
        let registry = ImageDecoderRegistry()
        registry.register { _ in
            asked.withLock { $0.append("first") }
            return Plain()
        }
        registry.register { _ in
            asked.withLock { $0.append("second") }
            return nil
        }
        registry.register(
            ImageFormat(
                name: "Any", type: "org.example.any", mimeTypes: [], fileExtensions: [], capabilities: [.decode],
                sniff: { _ in
                    asked.withLock { $0.append("format") }
                    return .yes
                },
                makeDecoder: { _ in ImageDecoders.Empty() }))
        let context = ImageDecodingContext(request: request, data: Data([1]))
        #expect(registry.decoder(for: context) is Plain)
        #expect(asked.withLock { $0 } == ["second", "first"])
    }

    @Test("a token unregisters its own closure, once; spent tokens do nothing [DEC-03]")
    func tokens() {
        let context = ImageDecodingContext(request: request, data: Data([1]))
        let registry = ImageDecoderRegistry()
        let first = registry.register { _ in ImageDecoders.Empty() }
        let second = registry.register { _ in Plain() }
        #expect(registry.decoder(for: context) is Plain)
        registry.unregister(second)
        registry.unregister(second)
        #expect(registry.decoder(for: context) is ImageDecoders.Empty)
        registry.clear()
        let third = registry.register { _ in Plain() }
        registry.unregister(first)
        #expect(registry.decoder(for: context) is Plain)
        registry.unregister(third)
        #expect(registry.decoder(for: context) == nil)
    }

    @Test("registering while others look for decoders is safe, also from a closure that is being asked [DEC-05]")
    func concurrentRegistration() async {
        let registry = ImageDecoderRegistry()
        registry.register { [weak registry] context in
            guard let registry, context.isCompleted else { return nil }
            registry.unregister(registry.register { _ in Plain() })
            return ImageDecoders.Empty()
        }
        let context = ImageDecodingContext(request: request, data: Data([1]))
        let found = await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var found = 0
                    for _ in 0..<200 {
                        if number % 2 == 0 {
                            let token = registry.register { _ in nil }
                            registry.unregister(token)
                        }
                        if registry.decoder(for: context) != nil { found += 1 }
                    }
                    return found
                }
            }
            var found = 0
            for await count in group { found += count }
            return found
        }
        #expect(found == 1600)
    }

    // MARK: Errors

    @Test("the error for want of a decoder has request, data and response [DEC-06]")
    func noDecoder() async throws {
        let test = TestPipeline { $0.decoderRegistry = ImageDecoderRegistry() }
        var request = request
        request.userInfo["a"] = 1
        guard case .decoderNotRegistered(let context)? = await failure(of: test, request) else {
            Issue.record("no error")
            return
        }
        #expect(context.request.url == request.url && context.request.userInfo["a"] as? Int == 1)
        #expect(context.data.count == 22789 && context.isCompleted && context.dataResponse?.statusCode == 200)
    }

    @Test("what a decoder throws comes with that decoder and the whole data [DEC-07]")
    func failingDecoder() async throws {
        final class Failing: ImageDecoding {
            struct Reason: Error {}
            func decode(_ data: Data) throws -> ImageContainer { throw Reason() }
        }
        let decoder = Failing()
        let test = TestPipeline { $0.makeImageDecoder = { _ in decoder } }
        guard case .decodingFailed(let failed, let context, let error)? = await failure(of: test, request) else {
            Issue.record("no error")
            return
        }
        #expect(failed as? Failing === decoder && error is Failing.Reason)
        #expect(context.data.count == 22789 && context.isCompleted && context.dataResponse?.statusCode == 200)
    }

    @Test("the error after previews has the same decoder and the whole data too [DEC-07]")
    func failureAfterPreviews() async throws {
        final class Failing: ImageDecoding {
            func decode(_ data: Data) throws -> ImageContainer {
                throw ImageDecodingError.corruptData("for a test", codec: "mock")
            }
            func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
                ImageContainer(image: .mock(), isPreview: true)
            }
        }
        let made = Locked<[Failing]>([])
        let test = TestPipeline { configuration in
            configuration.isProgressiveDecodingEnabled = true
            configuration.makeImageDecoder = { _ in
                let decoder = Failing()
                made.withLock { $0.append(decoder) }
                return decoder
            }
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        guard case .failure(.decodingFailed(let failed, let context, let error)) = await download.finish() else {
            Issue.record("no error")
            return
        }
        let decoders = made.withLock { $0 }
        #expect(decoders.count == 1 && failed as? Failing === decoders[0])
        #expect(context.data == download.body && context.isCompleted)
        #expect((error as? ImageDecodingError)?.code == .corruptData)
    }

    @Test("empty data is an error of its own [DEC-16]")
    func emptyData() async throws {
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: []))
        guard case .dataIsEmpty? = await failure(of: test, request) else {
            Issue.record("no error")
            return
        }
        #expect(test.decoder.decodeCount == 0)
    }

    // MARK: Where decoding runs

    @Test("decoders work in the decoding queue unless they say that they need no thread [DEC-08]")
    func queue() async throws {
        #expect(Plain().isAsynchronous)
        #expect(
            ImagePipeline.Configuration().imageDecodingQueue.maxConcurrentOperationCount == CodecThreads.shared.count)
        let quick = TestPipeline(decoder: MockImageDecoder(isAsynchronous: false))
        quick.pipeline.configuration.imageDecodingQueue.isSuspended = true
        _ = try await quick.pipeline.image(for: request)
        let test = TestPipeline()
        let queue = test.pipeline.configuration.imageDecodingQueue
        queue.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { queue.pendingCount == 1 }
        #expect(test.decoder.decodeCount == 0)
        queue.isSuspended = false
        _ = try await task.response
        #expect(test.decoder.decodeCount == 1)
    }

    @Test("while a decoder works the pipeline's actor is free [DEC-09]")
    func actorIsFree() async throws {
        let gate = ThreadGate()
        let started = Locked(false)
        let decoder = MockImageDecoder {
            started.withLock { $0 = true }
            gate.wait()
        }
        let test = TestPipeline(decoder: decoder)
        let task = test.pipeline.imageTask(with: request)
        // Waits on the actor, for what would never come if the decoder held it.
        await waitUntil { started.withLock { $0 } }
        #expect(task.status.result == nil)
        gate.open()
        _ = try await task.response
    }

    @Test("unless it says otherwise a decoder makes no previews [DEC-10]")
    func noPreviews() throws {
        #expect(try Plain().decodePartiallyDownloadedData(Data([1])) == nil)
        #expect(try Plain().properties(of: Data([1])) == nil)
    }

    @Test("an asynchronous decoder waits in the decoding queue and blocks no thread [DEC-11]")
    func asynchronousDecoder() async throws {
        struct Waiting: AsyncImageDecoding {
            let gate: AsyncGate
            let count: Locked<Int>

            @concurrent
            func decode(_ data: Data) async throws -> ImageContainer {
                count.withLock { $0 += 1 }
                await gate.wait()
                return ImageContainer(image: .mock(width: data.count))
            }
        }
        let decoder = Waiting(gate: AsyncGate(), count: Locked(0))
        // More at a time than there are codec threads.
        let places = CodecThreads.shared.count + 2
        let test = TestPipeline { configuration in
            configuration.makeImageDecoder = { _ in decoder }
            configuration.imageDecodingQueue = TaskQueue(maxConcurrentOperationCount: places)
        }
        test.loader.answerEverything(with: .init(chunks: [Data([1, 2, 3])]))
        let tasks = (0...places).map { number in
            test.pipeline.imageTask(with: ImageRequest(url: URL(string: "http://test.com/\(number)")))
        }
        await waitUntil { decoder.count.withLock { $0 } == places }
        await waitUntil { test.pipeline.configuration.imageDecodingQueue.pendingCount == 1 }
        #expect(await CodecThreads.shared.run { true })
        decoder.gate.open()
        for task in tasks { #expect(try await task.image.width == 3) }
        #expect(throws: ImageDecodingError.synchronousDecodingUnsupported) {
            try { try (decoder as any ImageDecoding).decode(Data()) }()
        }
    }

    @Test("what an asynchronous decoder throws is told as of any other, and cancelling the load cancels it [DEC-11]")
    func asynchronousFailure() async throws {
        final class Failing: AsyncImageDecoding {
            struct Reason: Error {}
            let gate = AsyncGate()
            let isWaiting = Locked(false)
            let wasCancelled = Locked(false)

            @concurrent
            func decode(_ data: Data) async throws -> ImageContainer {
                if data.count == 1 { throw Reason() }
                isWaiting.withLock { $0 = true }
                await withTaskCancellationHandler {
                    await gate.wait()
                } onCancel: {
                    wasCancelled.withLock { $0 = true }
                    gate.open()
                }
                throw CancellationError()
            }
        }
        let decoder = Failing()
        let test = TestPipeline { $0.makeImageDecoder = { _ in decoder } }
        test.loader.answerEverything(with: .init(chunks: [Data([1])]))
        guard case .decodingFailed(let failed, let context, let error)? = await failure(of: test, request) else {
            Issue.record("no error")
            return
        }
        #expect(failed as? Failing === decoder && error is Failing.Reason && context.data == Data([1]))
        test.loader.answerEverything(with: .init(chunks: [Data([1, 2])]))
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { decoder.isWaiting.withLock { $0 } }
        task.cancel()
        await waitUntil { decoder.wasCancelled.withLock { $0 } }
        await waitUntil { test.pipeline.configuration.imageDecodingQueue.runningCount == 0 }
    }

    // MARK: Contexts and containers

    @Test("a decoder is made with the request's scale and thumbnail, the policy and the limits [DEC-18]")
    func context() async throws {
        let test = TestPipeline { $0.imageLimits.scanCount = 7 }
        var request = request
        request.scale = 7
        request.thumbnail = .init(maxPixelSize: 160)
        let response = try await test.pipeline.imageTask(with: request).response
        let context = try #require(test.decoder.contexts.first)
        #expect(context.request.scale == 7 && context.request.thumbnail == request.thumbnail)
        #expect(context.limits.scanCount == 7)
        #expect(response.image.scale == 7 && response.image.size == ImageSize(width: 160, height: 120))
    }

    @Test("the request's scale becomes the image's; it is 1 unless set [DEC-19]")
    func scale() async throws {
        let test = TestPipeline()
        #expect(try await test.pipeline.image(for: request).scale == 1)
        var request = request
        request.scale = 7
        #expect(try await test.pipeline.image(for: request).scale == 7)
    }

    @Test("a decoder that knows no type succeeds without one [DEC-20]")
    func unknownType() async throws {
        let test = TestPipeline { $0.makeImageDecoder = { _ in Plain() } }
        let response = try await test.pipeline.imageTask(with: request).response
        #expect(response.container.type == nil && response.image.width == 4)
    }

    @Test("the empty decoder attaches the data to a blank image of the type given, at once [DEC-21]")
    func emptyDecoder() throws {
        let data = Data([1, 2, 3])
        let decoder = ImageDecoders.Empty(assetType: .svg)
        let container = try decoder.decode(data)
        #expect(container.data == data && container.type == .svg && !container.isPreview && container.userInfo.isEmpty)
        #expect(container.image.size == ImageSize(width: 1, height: 1) && !container.image.isOpaque)
        #expect(!decoder.isAsynchronous && !decoder.isProgressive)
        #expect(try ImageDecoders.Empty().decode(data).type == nil)
    }

    @Test("the empty decoder's previews carry what has come, if it is progressive [DEC-22]")
    func progressiveEmptyDecoder() throws {
        let data = Data([1, 2, 3])
        #expect(try ImageDecoders.Empty(assetType: .svg).decodePartiallyDownloadedData(data) == nil)
        let decoder = ImageDecoders.Empty(assetType: .svg, isProgressive: true)
        let preview = try #require(try decoder.decodePartiallyDownloadedData(data))
        #expect(preview.isPreview && preview.data == data && preview.type == .svg && decoder.isProgressive)
        #expect(try !decoder.decode(data).isPreview)
    }

    @Test("user info and data that a decoder sets arrive unchanged [DEC-24]")
    func userInfo() async throws {
        struct Telling: ImageDecoding {
            func decode(_ data: Data) throws -> ImageContainer {
                ImageContainer(image: .mock(), data: Data([1, 2]), userInfo: ["a": 1, .scanNumberKey: 5])
            }
        }
        let test = TestPipeline { $0.makeImageDecoder = { _ in Telling() } }
        let container = try await test.pipeline.imageTask(with: request).response.container
        #expect(container.data == Data([1, 2]) && container.userInfo.count == 2)
        #expect(container.userInfo["a"] as? Int == 1 && container.userInfo[.scanNumberKey] as? Int == 5)
    }

    @Test("a context is of complete data without response or cache unless told, and may be changed [DEC-25]")
    func contextDefaults() {
        var context = ImageDecodingContext(request: request, data: Data([1]))
        #expect(context.isCompleted && context.dataResponse == nil && context.cacheType == nil)
        context.request = ImageRequest(url: nil)
        context.data = Data([2])
        context.isCompleted = false
        context.dataResponse = DataResponse(url: nil)
        context.cacheType = .disk
        context.previewPolicy = .thumbnail
        #expect(context.request.url == nil && context.data == Data([2]) && !context.isCompleted)
        #expect(context.dataResponse != nil && context.cacheType == .disk && context.previewPolicy == .thumbnail)
    }

    @Test("data from disk is decoded as such, data from the network as of no cache [DEC-26]")
    func cacheType() async throws {
        let test = TestPipeline(hasDataCache: true)
        _ = try await test.pipeline.imageTask(with: request).response
        await test.pipeline.dataStores.completion()
        test.imageCache.removeAll()
        _ = try await test.pipeline.imageTask(with: request).response
        #expect(test.decoder.contexts.map(\.cacheType) == [nil, .disk] && test.loader.loadCount == 1)
        #expect(test.decoder.contexts.map { $0.dataResponse?.statusCode } == [200, nil])
    }

    @Test("the final image is no preview, whatever its decoder says [PRG-10]")
    func finalImage() async throws {
        struct Hesitant: ImageDecoding {
            func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: .mock(), isPreview: true) }
        }
        let test = TestPipeline { $0.makeImageDecoder = { _ in Hesitant() } }
        #expect(try await !test.pipeline.imageTask(with: request).response.isPreview)
    }
}
