import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct DataCachePolicyTests {
    typealias Policy = ImagePipeline.DataCachePolicy

    static let policies: [Policy] = [.automatic, .storeOriginalData, .storeEncodedImages, .storeAll]

    let url = URL(string: "http://test.com/example.jpeg")
    let encoder = MockEncoder()
    let encoded = Data("encoded".utf8)
    let original = Data([1, 2, 3])
    var plain: ImageRequest { request() }
    var processed: ImageRequest { request("1") }
    var thumbnail: ImageRequest {
        var request = plain
        request.thumbnail = .init(maxPixelSize: 100)
        return request
    }

    private func request(_ ids: String..., options: ImageRequest.Options = []) -> ImageRequest {
        ImageRequest(url: url, processors: ids.map { MockProcessor($0) }, options: options)
    }

    private func make(
        _ policy: Policy?, decoder: MockImageDecoder = MockImageDecoder(),
        delegate: (any ImagePipeline.Delegate)? = nil,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> TestPipeline {
        let test = TestPipeline(decoder: decoder, hasDataCache: true, delegate: delegate) { configuration in
            configuration.makeImageEncoder = { [encoder] _ in encoder }
            if let policy { configuration.dataCachePolicy = policy }
            configure(&configuration)
        }
        test.loader.answerEverything(with: .init(chunks: [original]))
        return test
    }

    /// What is on disk once all of the requests, made together, are done.
    private func entries(_ test: TestPipeline, _ requests: ImageRequest...) async throws -> [String: Data] {
        test.loader.isSuspended = true
        let tasks = requests.map { test.pipeline.imageTask(with: $0) }
        await waitUntil {
            test.pipeline.fetchDataPool.allNodes.map(\.imageTasks.count).reduce(0, +) == requests.count
                || tasks.allSatisfy { $0.status.result != nil }
        }
        test.loader.isSuspended = false
        for task in tasks { _ = try await task.response }
        await test.pipeline.finishDataStores()
        return test.dataCache?.entries ?? [:]
    }

    // MARK: Policies

    @Test("the original data is stored by default [POL-12]")
    func byDefault() async throws {
        #expect(ImagePipeline.Configuration().dataCachePolicy == .storeOriginalData)
        #expect(try await entries(make(nil), processed) == [plain.dataKey: original])
    }

    @Test("storing originals: once, under the plain key, nothing is encoded [POL-13]")
    func storeOriginal() async throws {
        for request in [plain, processed, thumbnail] {
            let test = make(.storeOriginalData)
            #expect(try await entries(test, request) == [plain.dataKey: original])
            #expect(test.dataCache?.writeCount == 1 && encoder.contexts.isEmpty)
        }
    }

    @Test("storing originals: two requests at a time, one write [POL-14]")
    func storeOriginalOnce() async throws {
        let test = make(.storeOriginalData)
        #expect(try await entries(test, plain, processed) == [plain.dataKey: original])
        #expect(test.dataCache?.writeCount == 1)
    }

    @Test("storing encoded images: every final image under its own key, and no original [POL-15]")
    func storeEncoded() async throws {
        let test = make(.storeEncodedImages)
        let expected = [plain.dataKey: encoded, processed.dataKey: encoded]
        #expect(try await entries(test, plain, processed) == expected)
        #expect(encoder.contexts.count == 2 && test.dataCache?.writeCount == 2)
        // A step on the way is not a final image.
        #expect(try await entries(make(.storeEncodedImages), request("1", "2")).count == 1)
    }

    @Test("automatic: originals of plain requests, encoded images of processed ones, both of thumbnails [POL-16]")
    func automatic() async throws {
        #expect(try await entries(make(.automatic), plain) == [plain.dataKey: original])
        #expect(encoder.contexts.isEmpty)
        #expect(try await entries(make(.automatic), processed) == [processed.dataKey: encoded])
        let both = [plain.dataKey: original, thumbnail.dataKey: encoded]
        #expect(try await entries(make(.automatic), thumbnail) == both)
        let count = encoder.contexts.count
        let expected = [plain.dataKey: original, processed.dataKey: encoded]
        #expect(try await entries(make(.automatic), plain, processed) == expected)
        #expect(encoder.contexts.count == count + 1)
    }

    @Test("storing all: originals always, and encoded what was made of them [POL-17]")
    func storeAll() async throws {
        #expect(try await entries(make(.storeAll), plain) == [plain.dataKey: original])
        #expect(encoder.contexts.isEmpty)
        for request in [processed, thumbnail] {
            let expected = [plain.dataKey: original, request.dataKey: encoded]
            #expect(try await entries(make(.storeAll), request) == expected)
        }
    }

    // MARK: From the caches

    @Test("an image that comes from disk is not encoded again [POL-18]", arguments: Self.policies)
    func fromDisk(policy: Policy) async throws {
        for request in [plain, processed, thumbnail] {
            let test = make(policy)
            test.dataCache?.storeData(original, for: request.dataKey)
            #expect(try await entries(test, request) == [request.dataKey: original])
            #expect(test.dataCache?.writeCount == 1 && encoder.contexts.isEmpty)
        }
    }

    @Test("an image made of an original on disk is stored as the policy says [POL-19]", arguments: Self.policies)
    func derivedFromDisk(policy: Policy) async throws {
        let test = make(policy)
        test.dataCache?.storeData(original, for: plain.dataKey)
        let expected = policy == .storeOriginalData ? nil : encoded
        #expect(try await entries(test, processed)[processed.dataKey] == expected)
        #expect(test.loader.loadCount == 0)
    }

    @Test("an image made of an original in memory is stored, without a load [POL-23]")
    func derivedFromMemory() async throws {
        let test = make(.automatic)
        test.imageCache[ImageCacheKey(request: plain)] = ImageContainer(image: .mock())
        #expect(try await entries(test, processed) == [processed.dataKey: encoded])
        #expect(test.loader.loadCount == 0)
    }

    // MARK: Options

    @Test("the original is stored if a task allows it; automatic asks for one without processors as well [POL-20]")
    func sharedOriginals() async throws {
        let (denied, deniedProcessed) = (
            request(options: .disableDiskCacheWrites), request("1", options: .disableDiskCacheWrites)
        )
        #expect(try await entries(make(.storeOriginalData), denied, processed) == [plain.dataKey: original])
        #expect(try await entries(make(.storeOriginalData), denied, deniedProcessed) == [:])
        #expect(try await entries(make(.automatic), deniedProcessed, plain) == [plain.dataKey: original])
        #expect(try await entries(make(.automatic), denied, processed) == [processed.dataKey: encoded])
    }

    @Test("the original is stored too for a task that joins while the image is being decoded [POL-20] [COA-20]")
    func joinedWhileDecoding() async throws {
        let gate = ThreadGate()
        let isDecoding = Locked(false)
        let decoder = MockImageDecoder(willDecode: {
            isDecoding.withLock { $0 = true }
            gate.wait()
        })
        let test = make(.storeOriginalData, decoder: decoder)
        let first = test.pipeline.imageTask(with: request(options: .disableDiskCacheWrites))
        await waitUntil { isDecoding.withLock { $0 } }
        let others = [plain, processed].map { test.pipeline.imageTask(with: $0) }
        await waitUntil { test.pipeline.fetchImagePool.allNodes.first?.imageTasks.count == 3 }
        gate.open()
        for task in others + [first] { _ = try await task.response }
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries == [plain.dataKey: original] && test.dataCache?.writeCount == 1)
        #expect(test.loader.loadCount == 1)
    }

    @Test("the original has a key without processors and thumbnail, whoever came first [POL-21]")
    func originalKey() async throws {
        var first = processed
        first.thumbnail = .init(maxPixelSize: 100)
        #expect(try await entries(make(.storeOriginalData), first, plain) == [plain.dataKey: original])
        #expect(try await entries(make(.storeAll), first)[plain.dataKey] == original)
    }

    @Test("with disk writes disabled nothing is encoded or stored [POL-22]", arguments: Self.policies)
    func writesDisabled(policy: Policy) async throws {
        for ids in [[], ["1"]] {
            let request = ImageRequest(
                url: url, processors: ids.map { MockProcessor($0) }, options: [.disableDiskCacheWrites])
            #expect(try await entries(make(policy), request) == [:])
        }
        #expect(encoder.contexts.isEmpty)
    }

    @Test(
        "local data is not copied to disk, also if a loader brings it; what is made of it is [POL-24]",
        arguments: Self.policies, [true, false])
    func local(policy: Policy, isReadDirectly: Bool) async throws {
        let url = URL(string: isReadDirectly ? "data:,abc" : "file:///example.jpeg")
        let (plain, processed) = (
            ImageRequest(url: url), ImageRequest(url: url, processors: [MockProcessor("1")])
        )
        let tests = (0..<2).map { _ in make(policy) { $0.isLocalResourcesSupportEnabled = isReadDirectly } }
        for (test, request) in zip(tests, [plain, processed]) {
            _ = try await test.pipeline.image(for: request)
            await test.pipeline.finishDataStores()
        }
        #expect(tests[0].dataCache?.entries == [:])
        let expected = policy == .storeOriginalData ? [:] : [processed.dataKey: encoded]
        #expect(tests[1].dataCache?.entries == expected)
        #expect(tests[0].loader.loadCount == (isReadDirectly ? 0 : 1))
    }

    // MARK: Data requests

    @Test("automatic: the data of a plain request is stored, of a processed one not [POL-25]")
    func automaticData() async throws {
        for request in [plain, processed] {
            let test = make(.automatic)
            _ = try await test.pipeline.data(for: request)
            await test.pipeline.finishDataStores()
            #expect(test.dataCache?.entries == (request.processors.isEmpty ? [plain.dataKey: original] : [:]))
        }
    }

    @Test(
        "data is stored under the plain key where originals are, and not where only encoded images are [POL-26]",
        arguments: [Policy.storeOriginalData, .storeAll, .storeEncodedImages])
    func data(policy: Policy) async throws {
        for request in [plain, processed] {
            let test = make(policy)
            _ = try await test.pipeline.data(for: request)
            await test.pipeline.finishDataStores()
            #expect(test.dataCache?.entries == (policy == .storeEncodedImages ? [:] : [plain.dataKey: original]))
        }
        #expect(encoder.contexts.isEmpty)
    }

    // MARK: Encoding

    @Test("an image is encoded in its queue, after it was delivered [POL-31] [ENC-10]")
    func afterDelivery() async throws {
        let test = make(.automatic)
        let queue = test.pipeline.configuration.imageEncodingQueue
        queue.isSuspended = true
        _ = try await test.pipeline.image(for: processed)
        await waitUntil { queue.pendingCount == 1 }
        #expect(encoder.contexts.isEmpty && test.dataCache?.entries == [:])
        queue.isSuspended = false
        await test.pipeline.finishDataStores()
        #expect(test.dataCache?.entries == [processed.dataKey: encoded])
    }

    @Test("what waits to be encoded does not keep the pipeline [ENC-10]")
    func weakPipeline() async throws {
        let queue = TaskQueue(maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        weak var pipeline: ImagePipeline?
        do {
            let test = make(.automatic) { $0.imageEncodingQueue = queue }
            pipeline = test.pipeline
            _ = try await test.pipeline.image(for: processed)
        }
        await waitUntil { queue.pendingCount == 1 && pipeline == nil }
        queue.isSuspended = false
        await waitUntil { queue.pendingCount == 0 && queue.runningCount == 0 }
        #expect(encoder.contexts.isEmpty)
    }

    @Test("what the delegate turns into nothing is not stored, and an empty file neither [POL-32] [ENC-09]")
    func nothingToStore() async throws {
        for result in [nil, Data()] {
            let delegate = HookedDelegate { $0.willCache = { $3(result) } }
            let test = make(.storeAll, delegate: delegate)
            #expect(try await entries(test, processed) == [:])
            let silent = make(.automatic) { $0.makeImageEncoder = { _ in MockEncoder { _ in result } } }
            #expect(try await entries(silent, processed) == [:])
        }
    }
}
