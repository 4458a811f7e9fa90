import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct LookupOrderTests {
    /// How often caches and loader were used.
    private struct Uses: Equatable {
        var memoryReads = 0
        var memoryWrites = 0
        var diskReads = 0
        var diskWrites = 0
        var loads = 0

        static func - (a: Uses, b: Uses) -> Uses {
            Uses(
                memoryReads: a.memoryReads - b.memoryReads, memoryWrites: a.memoryWrites - b.memoryWrites,
                diskReads: a.diskReads - b.diskReads, diskWrites: a.diskWrites - b.diskWrites, loads: a.loads - b.loads)
        }
    }

    let url = URL(string: "http://test.com/example.jpeg")
    let counter = MockProcessor.Counter()
    let container = ImageContainer(image: .mock())

    private func request(_ ids: String..., options: ImageRequest.Options = []) -> ImageRequest {
        ImageRequest(url: url, processors: ids.map { MockProcessor($0, counter: counter) }, options: options)
    }

    private func uses(of test: TestPipeline) -> Uses {
        Uses(
            memoryReads: test.imageCache.readCount, memoryWrites: test.imageCache.writeCount,
            diskReads: test.dataCache?.readCount ?? 0, diskWrites: test.dataCache?.writeCount ?? 0,
            loads: test.loader.loadCount)
    }

    /// Loads, and tells what it took.
    private func load(_ test: TestPipeline, _ request: ImageRequest) async throws -> (ImageResponse, Uses) {
        let before = uses(of: test)
        let response = try await test.pipeline.imageTask(with: request).response
        await test.pipeline.finishDataStores()
        return (response, uses(of: test) - before)
    }

    private func loadData(_ test: TestPipeline, _ request: ImageRequest) async throws -> (Data, Uses) {
        let before = uses(of: test)
        let data = try await test.pipeline.data(for: request).0
        await test.pipeline.finishDataStores()
        return (data, uses(of: test) - before)
    }

    private func store(_ request: ImageRequest, inMemoryOf test: TestPipeline) {
        test.imageCache[ImageCacheKey(request: request)] = container
    }

    // MARK: Order

    @Test(
        "memory, disk, for a thumbnail the original on disk; then without the last processor; then the loader [POL-01]")
    func order() async throws {
        var thumbnail = request()
        thumbnail.thumbnail = .init(maxPixelSize: 100)
        var processed = thumbnail
        processed.processors = [MockProcessor("1")]
        let (plain, small) = (request(), thumbnail)
        let log = Locked<[String]>([])
        let memory = LoggingImageCache { key in
            let name = key == ImageCacheKey(request: small) ? "thumbnail" : "processed"
            log.withLock { $0.append("memory \(name)") }
        }
        let names = [processed.dataKey: "processed", small.dataKey: "thumbnail", plain.dataKey: "original"]
        let disk = LoggingDataCache { key in log.withLock { $0.append("disk \(names[key] ?? "other")") } }
        let test = TestPipeline { configuration in
            configuration.imageCache = memory
            configuration.dataCache = disk
            configuration.validate = { _ in
                log.withLock { $0.append("loader") }
                return nil
            }
        }
        _ = try await test.pipeline.imageTask(with: processed).response
        let expected = [
            "memory processed", "disk processed", "memory thumbnail", "disk thumbnail", "disk original", "loader",
        ]
        #expect(log.withLock { $0 } == expected)
    }

    @Test("a hit in memory reads memory once and does nothing else [POL-02]")
    func memoryHit() async throws {
        let test = TestPipeline(hasDataCache: true)
        store(request("1"), inMemoryOf: test)
        let (response, uses) = try await load(test, request("1"))
        #expect(response.cacheType == .memory && response.image === container.image)
        #expect(uses == Uses(memoryReads: 1))
    }

    @Test("a hit on disk reads both once, and is stored in memory [POL-03]")
    func diskHit() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request("1").dataKey)
        let (response, uses) = try await load(test, request("1"))
        #expect(response.cacheType == .disk && counter.total == 0)
        #expect(uses == Uses(memoryReads: 1, memoryWrites: 1, diskReads: 1))
    }

    @Test("the result on disk wins over an intermediate in memory [POL-04]")
    func diskBeforeIntermediate() async throws {
        let test = TestPipeline(hasDataCache: true)
        store(request("1"), inMemoryOf: test)
        test.dataCache?.storeData(Data([1]), for: request("1", "2").dataKey)
        let (_, uses) = try await load(test, request("1", "2"))
        #expect(counter.total == 0)
        #expect(uses == Uses(memoryReads: 1, memoryWrites: 1, diskReads: 1))
    }

    @Test("an intermediate in memory is processed further [POL-05]")
    func intermediateInMemory() async throws {
        let test = TestPipeline(hasDataCache: true)
        store(request("1"), inMemoryOf: test)
        let (response, uses) = try await load(test, request("1", "2"))
        #expect(counter.order == ["2"] && response.cacheType == .memory)
        #expect(uses == Uses(memoryReads: 2, memoryWrites: 1, diskReads: 1))
        #expect(test.imageCache.keys.contains(ImageCacheKey(request: request("1", "2"))))
    }

    @Test("the original on disk is processed, and only the result stored in memory [POL-06]")
    func originalOnDisk() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request().dataKey)
        let (response, uses) = try await load(test, request("1", "2"))
        #expect(counter.order == ["1", "2"] && response.cacheType == .disk)
        #expect(uses == Uses(memoryReads: 3, memoryWrites: 1, diskReads: 3))
    }

    // MARK: Options

    @Test("with disk reads disabled the disk is not read, memory is [POL-07]")
    func diskReadsDisabled() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request().dataKey)
        let (_, uses) = try await load(test, request(options: .disableDiskCacheReads))
        #expect(uses == Uses(memoryReads: 1, memoryWrites: 1, diskWrites: 1, loads: 1))
    }

    @Test("with disk writes disabled the original data is not stored [POL-08]")
    func diskWritesDisabled() async throws {
        let test = TestPipeline(hasDataCache: true)
        let (_, uses) = try await load(test, request(options: .disableDiskCacheWrites))
        #expect(uses == Uses(memoryReads: 1, memoryWrites: 1, diskReads: 1, loads: 1))
    }

    @Test("cache-only requests load nothing, of whatever kind they are [POL-09]", arguments: 0..<4)
    func cacheOnly(kind: Int) async {
        let isRun = Locked(false)
        let options: ImageRequest.Options = [.returnCacheDataDontLoad]
        let requests = [
            request(options: options), ImageRequest(url: URL(string: "data:,abc"), options: options),
            ImageRequest(
                id: "data",
                data: {
                    isRun.withLock { $0 = true }
                    return Data([1])
                }, options: options),
            ImageRequest(
                id: "image",
                image: {
                    isRun.withLock { $0 = true }
                    return ImageContainer(image: .mock())
                }, options: options),
        ]
        let test = TestPipeline(hasDataCache: true)
        await #expect { _ = try await test.pipeline.image(for: requests[kind]) } throws: { error in
            if case ImagePipeline.Error.dataMissingInCache = error { true } else { false }
        }
        await #expect { _ = try await test.pipeline.data(for: requests[kind]) } throws: { error in
            if case ImagePipeline.Error.dataMissingInCache = error { true } else { false }
        }
        #expect(test.loader.loadCount == 0 && !isRun.withLock { $0 })
    }

    @Test("cache-only requests succeed with what is in memory or on disk [POL-10]")
    func cacheOnlyHits() async throws {
        let test = TestPipeline(hasDataCache: true)
        store(request("1"), inMemoryOf: test)
        test.dataCache?.storeData(Data([1]), for: request("2").dataKey)
        let first = try await load(test, request("1", options: .returnCacheDataDontLoad)).0
        let second = try await load(test, request("2", options: .returnCacheDataDontLoad)).0
        #expect(first.cacheType == .memory && second.cacheType == .disk && test.loader.loadCount == 0)
    }

    @Test(
        "cache-only requests are satisfied by a cached original, which is processed [POL-11]", arguments: [true, false])
    func cacheOnlyProcessed(isInMemory: Bool) async throws {
        let test = TestPipeline(hasDataCache: true)
        if isInMemory {
            store(request(), inMemoryOf: test)
        } else {
            test.dataCache?.storeData(Data([1]), for: request().dataKey)
        }
        let response = try await load(test, request("1", "2", options: .returnCacheDataDontLoad)).0
        #expect(counter.order == ["1", "2"] && response.cacheType == (isInMemory ? .memory : .disk))
        #expect(test.loader.loadCount == 0)
    }

    // MARK: Data requests

    @Test("a data request gives what is stored under its own key, processors and all [POL-27]")
    func ownData() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request().dataKey)
        test.dataCache?.storeData(Data([2]), for: request("1").dataKey)
        let (data, uses) = try await loadData(test, request("1"))
        #expect(data == Data([2]) && uses == Uses(diskReads: 1))
    }

    @Test("a data request with processors is satisfied by the original on disk [POL-28]")
    func originalData() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request().dataKey)
        let (data, uses) = try await loadData(test, request("1"))
        #expect(data == Data([1]) && uses == Uses(diskReads: 2))
    }

    @Test("cached bytes take one read; reloading takes none, loads and stores anew [POL-29]")
    func reloadedData() async throws {
        let test = TestPipeline(hasDataCache: true)
        test.dataCache?.storeData(Data([1]), for: request().dataKey)
        #expect(try await loadData(test, request()).1 == Uses(diskReads: 1))
        let (data, uses) = try await loadData(test, request(options: .reloadIgnoringCachedData))
        #expect(data.count == 22789 && uses == Uses(diskWrites: 1, loads: 1))
        #expect(test.dataCache?.entries[request().dataKey] == data)
    }

    @Test("the bytes of an image closure are its image, encoded; nothing is stored [DAT-36] [DAT-35]")
    func closureData() async throws {
        let encoder = MockEncoder()
        let test = TestPipeline(hasDataCache: true) { configuration in
            configuration.makeImageEncoder = { _ in encoder }
            configuration.dataCachePolicy = .storeAll
        }
        let request = ImageRequest(id: "a", image: { [container] in container }, processors: [MockProcessor("1")])
        let (data, uses) = try await loadData(test, request)
        #expect(data == Data("encoded".utf8) && encoder.contexts.map(\.image) == [container.image])
        #expect(uses == Uses(memoryReads: 1, diskReads: 2))
        let failing = TestPipeline { configuration in
            configuration.makeImageEncoder = { _ in MockEncoder { _ in throw ImageEncodingError.failed("", codec: "") }
            }
        }
        await #expect { _ = try await failing.pipeline.data(for: request) } throws: { error in
            (error as? ImagePipeline.Error)?.dataLoadingError is ImageEncodingError
        }
    }

    // MARK: Edges

    @Test("an entry on disk that can't be decoded is a miss; a thumbnail then looks at the original [POL-30]")
    func undecodable() async throws {
        let (good, bad) = (MockImageDecoder(), MockImageDecoder())
        bad.error = ImageDecodingError.corruptData("", codec: "")
        let test = TestPipeline(hasDataCache: true) { configuration in
            configuration.makeImageDecoder = { $0.data == Data([0]) ? bad : good }
        }
        test.dataCache?.storeData(Data([0]), for: request("1").dataKey)
        test.dataCache?.storeData(Data([0]), for: request().dataKey)
        let (response, uses) = try await load(test, request("1"))
        #expect(response.cacheType == nil && uses.diskReads == 2 && uses.loads == 1 && bad.decodeCount == 2)
        var thumbnail = request()
        thumbnail.thumbnail = .init(maxPixelSize: 100)
        test.dataCache?.storeData(Data([0]), for: thumbnail.dataKey)
        #expect(try await load(test, thumbnail).0.cacheType == .disk)
        #expect(test.loader.loadCount == 1)
    }

    @Test("the disk is read off the pipeline's actor, which goes on meanwhile [POL-33]")
    func readsOffTheActor() async throws {
        let gate = ThreadGate()
        let isReading = Locked(false)
        let cache = MockDataCache(willRead: {
            isReading.withLock { $0 = true }
            gate.wait()
        })
        let test = TestPipeline { $0.dataCache = cache }
        store(request("other"), inMemoryOf: test)
        let task = test.pipeline.imageTask(with: request())
        await waitUntil { isReading.withLock { $0 } }
        #expect(try await test.pipeline.imageTask(with: request("other")).response.cacheType == .memory)
        gate.open()
        _ = try await task.image
    }

    @Test("with memory writes disabled the image is delivered and not stored [POL-34]")
    func memoryWritesDisabled() async throws {
        let test = TestPipeline()
        _ = try await load(test, request("1", options: .disableMemoryCacheWrites))
        #expect(test.imageCache.count == 0)
        _ = try await load(test, request("1"))
        #expect(test.imageCache.keys == [ImageCacheKey(request: request("1"))])
    }
}

/// An empty memory cache that tells of reads.
private final class LoggingImageCache: ImageCaching {
    private let log: @Sendable (ImageCacheKey) -> Void

    init(_ log: @escaping @Sendable (ImageCacheKey) -> Void) { self.log = log }

    subscript(key: ImageCacheKey) -> ImageContainer? {
        get {
            log(key)
            return nil
        }
        set {}
    }

    func removeAll() {}
}

/// An empty data cache that tells of reads.
private struct LoggingDataCache: DataCaching {
    private let log: @Sendable (String) -> Void

    init(_ log: @escaping @Sendable (String) -> Void) { self.log = log }

    func cachedData(for key: String) -> Data? {
        log(key)
        return nil
    }

    func containsData(for key: String) -> Bool { false }
    func storeData(_ data: Data, for key: String) {}
    func removeData(for key: String) {}
    func removeAll() {}
}
