import FoundationEssentials
import Glibc
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct DelegateTests {
    let url = URL(string: "http://test.com/example.jpeg")
    let encoder = MockEncoder()
    var request: ImageRequest { ImageRequest(url: url) }
    var processed: ImageRequest { ImageRequest(url: url, processors: [MockProcessor("1")]) }

    private func make(
        _ policy: ImagePipeline.DataCachePolicy = .storeOriginalData,
        _ configureHooks: (inout HookedDelegate.Hooks) -> Void
    ) -> TestPipeline {
        TestPipeline(hasDataCache: true, delegate: HookedDelegate(configureHooks)) { configuration in
            configuration.dataCachePolicy = policy
            configuration.makeImageEncoder = { [encoder] _ in encoder }
        }
    }

    // MARK: Defaults

    private final class Silent: ImagePipeline.Delegate {}

    @Test("every hook has a default: what the configuration says [DLG-01]")
    func defaults() async throws {
        let delegate = Silent()
        let test = TestPipeline(hasDataCache: true, delegate: delegate) { configuration in
            configuration.makeImageEncoder = { [encoder] _ in encoder }
        }
        let pipeline = test.pipeline
        #expect(delegate.imageCache(for: request, pipeline: pipeline) as? MockImageCache === test.imageCache)
        #expect(delegate.dataCache(for: request, pipeline: pipeline) as? MockDataCache === test.dataCache)
        #expect(delegate.dataLoader(for: request, pipeline: pipeline) as? MockDataLoader === test.loader)
        #expect(delegate.cacheKey(for: request, pipeline: pipeline) == nil)
        let context = ImageDecodingContext(request: request, data: Data("GIF89a".utf8))
        #expect(delegate.imageDecoder(for: context, pipeline: pipeline) != nil)
        #expect(delegate.previewPolicy(for: context, pipeline: pipeline) == .default(for: context.data))
        let encoding = ImageEncodingContext(request: request, image: .mock())
        #expect(delegate.imageEncoder(for: encoding, pipeline: pipeline) as? MockEncoder === encoder)
        let dataRequest = DataRequest(url: url)
        let sent = try await delegate.willLoadData(for: request, dataRequest: dataRequest, pipeline: pipeline)
        #expect(sent == dataRequest)
        let stored = Locked<Data?>(nil)
        await delegate.willCache(data: Data([1]), image: nil, for: request, pipeline: pipeline) { data in
            stored.withLock { $0 = data }
        }
        #expect(stored.withLock { $0 } == Data([1]))
        _ = try await pipeline.image(for: request)
        await pipeline.finishDataStores()
        #expect(test.dataCache?.writeCount == 1 && test.imageCache.writeCount == 1)
    }

    @Test("the pipeline keeps its delegate [DLG-02]")
    func lifetime() {
        weak var delegate: Silent?
        let pipeline: ImagePipeline
        do {
            let strong = Silent()
            delegate = strong
            pipeline = ImagePipeline(delegate: strong)
        }
        #expect(delegate != nil)
        withExtendedLifetime(pipeline) {}
    }

    // MARK: Caches and keys

    @Test("a key of the delegate's holds in memory and on disk, for originals and results [DLG-03]")
    func keys() async throws {
        for policy in [ImagePipeline.DataCachePolicy.automatic, .storeOriginalData] {
            let test = make(policy) { $0.cacheKey = { _ in "mine" } }
            _ = try await test.pipeline.image(for: processed)
            await test.pipeline.finishDataStores()
            #expect(test.imageCache.keys == [ImageCacheKey(key: "mine")])
            #expect(test.dataCache?.entries.keys.map { $0 } == ["mine"])
            #expect((test.dataCache?.entries["mine"] == Data("encoded".utf8)) == (policy == .automatic))
        }
    }

    @Test("a request whose key the delegate gave to another before is served from disk [DLG-04]")
    func sharedKey() async throws {
        let test = make(.automatic) { hooks in
            hooks.cacheKey = { $0.url?.absoluteString.replacing("medium", with: "small") }
        }
        let medium = ImageRequest(
            url: URL(string: "http://test.com/medium"), processors: [MockProcessor("1")],
            options: [.disableMemoryCache])
        _ = try await test.pipeline.image(for: medium)
        await test.pipeline.finishDataStores()
        let small = ImageRequest(url: URL(string: "http://test.com/small"), options: [.disableMemoryCache])
        let response = try await test.pipeline.imageTask(with: small).response
        #expect(response.cacheType == .disk && test.loader.loadCount == 1)
    }

    @Test("a request for which the delegate has no caches reads and writes none [DLG-05]")
    func noCaches() async throws {
        let test = make(.storeAll) { hooks in
            hooks.imageCache = { _ in nil }
            hooks.dataCache = { _ in nil }
        }
        test.imageCache[ImageCacheKey(request: processed)] = ImageContainer(image: .mock())
        test.dataCache?.storeData(Data([1]), for: processed.dataKey)
        let response = try await test.pipeline.imageTask(with: processed).response
        await test.pipeline.finishDataStores()
        #expect(response.cacheType == nil && test.loader.loadCount == 1)
        #expect(test.imageCache.readCount == 0 && test.imageCache.writeCount == 1)
        #expect(test.dataCache?.readCount == 0 && test.dataCache?.writeCount == 1)
    }

    @Test(
        "will-cache is asked where options and policy allow, with the image of encoded data; it may take its time [DLG-06]"
    )
    func willCache() async throws {
        typealias Ask = (data: Data, image: PlatformImage?, completion: @Sendable (Data?) -> Void)
        let asked = Locked<[Ask]>([])
        let test = make(.storeAll) { hooks in
            hooks.willCache = { data, image, _, completion in
                asked.withLock { $0.append((data, image?.image, completion)) }
            }
        }
        var denied = processed
        denied.options = [.disableDiskCacheWrites]
        _ = try await test.pipeline.image(for: denied)
        await test.pipeline.finishDataStores()
        #expect(asked.withLock { $0.count } == 0)
        let image = try await test.pipeline.image(
            for: ImageRequest(url: url, processors: [MockProcessor("2")], options: [.disableMemoryCache]))
        await test.pipeline.finishDataStores()
        let asks = asked.withLock { $0 }
        #expect(asks.count == 2 && test.dataCache?.entries == [:])  // not answered yet
        guard asks.count == 2 else { return }
        #expect(asks[0].data.count == 22789 && asks[0].image == nil)
        #expect(asks[1].data == Data("encoded".utf8) && asks[1].image === image)
        asks[1].completion(Data([7]))
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries.map(\.value) == [Data([7])])  // the other one was never answered
    }

    // MARK: Loading

    @Test("will-load is asked once a load, and the loader gets what it answers [DLG-07]")
    func willLoad() async throws {
        let count = Locked(0)
        let test = make { hooks in
            hooks.willLoadData = { _, dataRequest in
                count.withLock { $0 += 1 }
                var dataRequest = dataRequest
                dataRequest.headers["Authorization"] = "token"
                return dataRequest
            }
        }
        _ = try await test.pipeline.image(for: request)
        #expect(test.loader.transfers.map { $0.request.headers["Authorization"] } == ["token"])
        #expect(count.withLock { $0 } == 1)
    }

    @Test(
        "what will-load throws fails the load, wrapped unless it is the pipeline's [DLG-08]", arguments: [true, false])
    func willLoadThrows(isPipelineError: Bool) async {
        let test = make { hooks in
            hooks.willLoadData = { _, _ in
                if isPipelineError { throw ImagePipeline.Error.imageRequestMissing }
                throw DataLoadingError(.timedOut, reason: "")
            }
        }
        await #expect { _ = try await test.pipeline.image(for: request) } throws: { error in
            switch error as? ImagePipeline.Error {
            case .imageRequestMissing: isPipelineError
            case .dataLoadingFailed(let error as DataLoadingError): !isPipelineError && error.code == .timedOut
            default: false
            }
        }
        #expect(test.loader.loadCount == 0)
    }

    @Test("will-load is not asked for closures, local data, hits and requests that join a load [DLG-09]")
    func willLoadNotAsked() async throws {
        let count = Locked(0)
        let test = make { hooks in
            hooks.willLoadData = { _, dataRequest in
                count.withLock { $0 += 1 }
                return dataRequest
            }
        }
        let pipeline = test.pipeline
        _ = try await pipeline.image(for: ImageRequest(id: "1", data: { Data([1]) }))
        _ = try await pipeline.image(for: ImageRequest(id: "2", image: { ImageContainer(image: .mock()) }))
        _ = try await pipeline.image(for: ImageRequest(url: URL(string: "data:,abc")))
        test.imageCache[ImageCacheKey(request: processed)] = ImageContainer(image: .mock())
        _ = try await pipeline.image(for: processed)
        let cached = ImageRequest(url: URL(string: "http://test.com/cached"))
        test.dataCache?.storeData(Data([1]), for: cached.dataKey)
        _ = try await pipeline.image(for: cached)
        #expect(count.withLock { $0 } == 0)
        test.loader.isSuspended = true
        let tasks = (0..<2).map { _ in pipeline.imageTask(with: request) }
        await waitUntil { pipeline.fetchDataPool.allNodes.first?.imageTasks.count == 2 && test.loader.loadCount == 1 }
        test.loader.isSuspended = false
        for task in tasks { _ = try await task.response }
        #expect(count.withLock { $0 } == 1)
    }

    @Test("a load keeps its slot while will-load takes its time [DLG-10]")
    func willLoadHoldsSlot() async throws {
        let gate = AsyncGate()
        let isAsked = Locked(false)
        let test = make { hooks in
            hooks.willLoadData = { _, dataRequest in
                isAsked.withLock { $0 = true }
                await gate.wait()
                return dataRequest
            }
        }
        let queue = test.pipeline.configuration.dataLoadingQueue
        queue.maxConcurrentOperationCount = 1
        let first = test.pipeline.imageTask(with: request)
        await waitUntil { isAsked.withLock { $0 } }
        let second = test.pipeline.imageTask(with: ImageRequest(url: URL(string: "http://test.com/other")))
        await waitUntil { queue.pendingCount == 1 }
        #expect(await queue.runningCount == 1 && test.loader.loadCount == 0)
        gate.open()
        _ = try await (first.image, second.image)
        #expect(test.loader.loadCount == 2)
    }

    @Test("the loader is asked for once a load, without processors, with the first one's options [DLG-11]")
    func dataLoader() async throws {
        let asked = Locked<[ImageRequest]>([])
        let loader = MockDataLoader()
        loader.isSuspended = true
        let test = make { hooks in
            hooks.dataLoader = { request in
                asked.withLock { $0.append(request) }
                return loader
            }
        }
        var first = processed
        first.options = [.skipDecompression]
        let task = test.pipeline.imageTask(with: first)
        await waitUntil { loader.loadCount == 1 }
        let other = test.pipeline.imageTask(with: request)
        await waitUntil { test.pipeline.fetchDataPool.allNodes.first?.imageTasks.count == 2 }
        loader.isSuspended = false
        _ = try await (task.image, other.image)
        let requests = asked.withLock { $0 }
        #expect(requests.count == 1 && requests.first?.processors.isEmpty == true)
        #expect(requests.first?.options == [.skipDecompression] && requests.first?.url == url)
        var uncached = processed
        uncached.options = [.reloadIgnoringCachedData]
        _ = try await test.pipeline.data(for: uncached)
        #expect(asked.withLock { $0.count } == 2 && asked.withLock { $0.last?.processors.isEmpty } == true)
        #expect(test.loader.loadCount == 0)
    }

    // MARK: Coding

    @Test("the decoder and encoder hooks get request, data, response and cache [DLG-12]")
    func contexts() async throws {
        let decoding = Locked<[ImageDecodingContext]>([])
        let encoding = Locked<[ImageEncodingContext]>([])
        let decoder = MockImageDecoder()
        let test = make(.automatic) { hooks in
            hooks.imageDecoder = { context in
                decoding.withLock { $0.append(context) }
                return decoder
            }
            hooks.imageEncoder = { [encoder] context in
                encoding.withLock { $0.append(context) }
                return encoder
            }
        }
        let image = try await test.pipeline.image(for: processed)
        await test.pipeline.finishDataStores()
        let loaded = decoding.withLock { $0 }
        #expect(loaded.count == 1 && loaded.first?.data.count == 22789 && loaded.first?.cacheType == nil)
        #expect(loaded.first?.request.url == url && loaded.first?.dataResponse?.statusCode == 200)
        let encoded = encoding.withLock { $0 }
        #expect(encoded.count == 1 && encoded.first?.image === image)
        #expect(encoded.first?.request.processors.count == 1 && encoded.first?.dataResponse?.statusCode == 200)
        test.pipeline.cache.removeAll(caches: [.memory])
        _ = try await test.pipeline.image(for: processed)
        #expect(decoding.withLock { $0.last?.cacheType } == .disk)
        #expect(decoding.withLock { $0.last?.dataResponse } == nil)
    }

    @Test("the decoder hook is asked for data from disk too, also by the caches' own calls [DLG-13]")
    func decoderOfCachedData() async throws {
        let types = Locked<[ImageResponse.CacheType?]>([])
        let decoder = MockImageDecoder()
        let test = make { hooks in
            hooks.imageDecoder = { context in
                types.withLock { $0.append(context.cacheType) }
                return decoder
            }
        }
        test.dataCache?.storeData(Data([1]), for: request.dataKey)
        #expect(test.pipeline.cache.cachedImage(for: request) != nil)
        _ = try await test.pipeline.image(for: request)
        #expect(types.withLock { $0 } == [.disk, .disk] && decoder.decodeCount == 2 && test.decoder.decodeCount == 0)
    }

    @Test("the delegate says whether to decompress, and what comes of it; that is what is encoded [DLG-14] [GFX-09]")
    func decompression() async throws {
        let replacement = Bitmap.mock(gray: 7)
        for isWanted in [true, false] {
            let test = make(.storeEncodedImages) { hooks in
                hooks.shouldDecompress = { _ in isWanted }
                hooks.decompress = { response in
                    var response = response
                    response.container.image = replacement
                    return response
                }
            }
            let image = try await test.pipeline.image(for: request)
            #expect((image === replacement) == isWanted)
            #expect(test.imageCache[ImageCacheKey(request: request)]?.image === image)
            await test.pipeline.finishDataStores()
            #expect(encoder.contexts.last?.image === image)
        }
    }

    // MARK: Events

    @Test("tasks are told of in order, on the actor; their making on the thread that made them [DLG-15]")
    func events() async throws {
        let maker = Locked<pthread_t?>(nil)
        let delegate = RecordingDelegate(
            onCreated: { _ in maker.withLock { $0 = pthread_self() } },
            onEvent: { _, _, _ in ImagePipelineActor.shared.preconditionIsolated() })
        let test = TestPipeline(delegate: delegate)
        let (task, thread) = makeTask(test.pipeline)
        _ = try await task.response
        #expect(maker.withLock { $0 } == thread)
        let id = task.taskId
        await waitUntil { delegate.records.count == 4 }
        #expect(
            delegate.records == [.created(id), .started(id), .progress(id, 22789, 22789), .succeeded(id)])
        _ = try await test.pipeline.image(for: request)  // a hit is told of as well
        #expect(delegate.records.dropFirst(4) == [.created(id + 1), .started(id + 1), .succeeded(id + 1)])
    }

    private func makeTask(_ pipeline: ImagePipeline) -> (ImageTask, pthread_t) {
        (pipeline.imageTask(with: request), pthread_self())
    }

    @Test("without a delegate of the user's neither events nor will-load are sent [DLG-16]")
    func noUserDelegate() async throws {
        let loads = Locked(0)
        let delegate = RecordingDelegate(willLoad: { dataRequest in
            loads.withLock { $0 += 1 }
            return dataRequest
        })
        let test = TestPipeline()
        let pipeline = ImagePipeline(test.pipeline.configuration, delegate, isUserDelegate: false)
        _ = try await pipeline.imageTask(with: request).response
        #expect(delegate.records == [] && loads.withLock { $0 } == 0 && test.loader.loadCount == 1)
    }
}
