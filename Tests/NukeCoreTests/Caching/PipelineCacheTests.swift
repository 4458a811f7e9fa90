import FoundationEssentials
import Glibc
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct PipelineCacheTests {
    let url = URL(string: "http://test.com/example.jpeg")
    var request: ImageRequest { ImageRequest(url: url) }
    var processed: ImageRequest { ImageRequest(url: url, processors: [MockProcessor("1")]) }
    let container = ImageContainer(image: .mock())
    let preview = ImageContainer(image: .mock(), isPreview: true)
    let encoder = MockEncoder()

    private func make(
        decoder: MockImageDecoder = MockImageDecoder(), delegate: (any ImagePipeline.Delegate)? = nil,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) -> TestPipeline {
        TestPipeline(decoder: decoder, hasDataCache: true, delegate: delegate) { configuration in
            configuration.makeImageEncoder = { [encoder] _ in encoder }
            configure(&configuration)
        }
    }

    private func with(_ options: ImageRequest.Options) -> ImageRequest { ImageRequest(url: url, options: options) }

    // MARK: Memory

    @Test("the subscripts by request and by URL are one entry, in memory only [CLA-01]")
    func subscripts() throws {
        let test = make()
        let url = try #require(url)
        test.pipeline.cache[url] = container
        #expect(test.pipeline.cache[request]?.image === container.image)
        test.pipeline.cache[request] = nil
        #expect(test.pipeline.cache[url] == nil)
        #expect(test.dataCache?.readCount == 0 && test.dataCache?.writeCount == 0)
    }

    @Test("options disable reads and writes in memory; assigning nil always removes [CLA-02]")
    func memoryOptions() {
        let test = make()
        test.pipeline.cache[with(.disableMemoryCacheWrites)] = container
        #expect(test.imageCache.count == 0)
        test.pipeline.cache[request] = container
        #expect(test.pipeline.cache[with(.disableMemoryCacheReads)] == nil)
        #expect(test.pipeline.cache[with(.disableMemoryCacheWrites)] != nil)
        test.pipeline.cache[with([.disableMemoryCache])] = nil
        #expect(test.imageCache.count == 0)
    }

    @Test("previews are stored only where previews go into memory [CLA-03]", arguments: [true, false])
    func previews(isStoring: Bool) {
        let test = make { $0.isStoringPreviewsInMemoryCache = isStoring }
        test.pipeline.cache[request] = preview
        #expect((test.pipeline.cache[request] != nil) == isStoring)
    }

    @Test("without a memory cache nothing is read, stored or removed [CLA-04]")
    func noMemoryCache() {
        let test = make { $0.imageCache = nil }
        test.pipeline.cache[request] = container
        #expect(test.pipeline.cache[request] == nil)
        test.pipeline.cache[request] = nil
        test.pipeline.cache.removeAll(caches: [.memory])
        #expect(test.imageCache.writeCount == 0)
    }

    // MARK: Images

    @Test("an image comes from memory, or else from disk, decoded on the calling thread [CLA-05]")
    func cachedImage() {
        let thread = Locked<pthread_t?>(nil)
        let decoder = MockImageDecoder(willDecode: { thread.withLock { $0 = pthread_self() } })
        let test = make(decoder: decoder)
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedImage(for: request) != nil)
        #expect(thread.withLock { $0 } == pthread_self())
        test.pipeline.cache[request] = container
        #expect(test.pipeline.cache.cachedImage(for: request)?.image === container.image)
        #expect(test.dataCache?.readCount == 1)
    }

    @Test("what is read from disk is not put into memory [CLA-06]")
    func diskReadsStay() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedImage(for: request) != nil)
        #expect(test.imageCache.writeCount == 0)
    }

    @Test("an image is not read from where the options disable it; reloading reads nowhere [CLA-07]")
    func readOptions() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedImage(for: with(.disableMemoryCacheReads)) != nil)
        #expect(test.pipeline.cache.cachedImage(for: with(.disableDiskCacheReads)) == nil)
        test.pipeline.cache[request] = container
        #expect(test.pipeline.cache.cachedImage(for: with(.disableDiskCacheReads))?.image === container.image)
        #expect(test.pipeline.cache.cachedImage(for: with(.disableMemoryCacheReads))?.image !== container.image)
        #expect(test.pipeline.cache.cachedImage(for: with(.reloadIgnoringCachedData)) == nil)
    }

    @Test("a query of one cache ignores the other [CLA-08]")
    func oneCache() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedImage(for: request, caches: [.memory]) == nil)
        #expect(test.dataCache?.readCount == 0)
        test.pipeline.cache[request] = container
        let reads = test.imageCache.readCount
        let image = test.pipeline.cache.cachedImage(for: request, caches: [.disk])?.image
        #expect(image != nil && image !== container.image && test.imageCache.readCount == reads)
    }

    @Test("bytes that nothing decodes are data and no image [CLA-09]", arguments: [true, false])
    func undecodable(hasDecoder: Bool) {
        let test = make { if !hasDecoder { $0.decoderRegistry = ImageDecoderRegistry() } }
        test.decoder.error = ImageDecodingError.corruptData("", codec: "")
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedImage(for: request) == nil)
        #expect(test.pipeline.cache.cachedData(for: request) == Data([1]))
    }

    @Test("an image is stored in memory and, encoded, on disk, or only there; a preview never on disk [CLA-10]")
    func storeImages() {
        let test = make()
        test.pipeline.cache.storeCachedImage(preview, for: request)
        test.pipeline.cache.storeCachedImage(preview, for: request, caches: [.disk])
        #expect(test.dataCache?.entries == [:] && test.imageCache.count == 1)
        test.pipeline.cache.storeCachedImage(container, for: processed, caches: [.disk])
        #expect(test.imageCache.count == 1)
        #expect(test.dataCache?.entries == [processed.dataKey: Data("encoded".utf8)])
        #expect(encoder.contexts.first?.image === container.image)
        test.pipeline.cache.storeCachedImage(container, for: request)
        #expect(test.pipeline.cache[request]?.image === container.image && test.dataCache?.entries.count == 2)
        test.pipeline.cache.storeCachedImage(container, for: with([.disableDiskCacheWrites]), caches: [.disk])
        #expect(test.dataCache?.writeCount == 2)
    }

    // MARK: Data

    @Test("data is not stored where the options or the pipeline have no disk cache [CLA-11]")
    func storeData() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: with(.disableDiskCacheWrites))
        #expect(test.dataCache?.entries == [:])
        test.pipeline.cache.storeCachedData(Data([1]), for: with(.disableDiskCacheReads))
        #expect(test.dataCache?.entries == [request.dataKey: Data([1])])
        let none = TestPipeline()
        none.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(none.pipeline.cache.cachedData(for: request) == nil)
    }

    @Test("data is not read where the options disable it [CLA-12]")
    func readData() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.cachedData(for: request) == Data([1]))
        #expect(test.pipeline.cache.cachedData(for: with(.disableDiskCacheReads)) == nil)
        #expect(test.dataCache?.readCount == 1)
    }

    @Test("whether there is an image is told without reading or decoding, as the options have it [CLA-13]")
    func containsImage() {
        let test = make()
        #expect(!test.pipeline.cache.containsCachedImage(for: request))
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.containsCachedImage(for: request))
        #expect(!test.pipeline.cache.containsCachedImage(for: request, caches: [.memory]))
        #expect(!test.pipeline.cache.containsCachedImage(for: with(.disableDiskCacheReads)))
        #expect(test.dataCache?.readCount == 0 && test.decoder.decodeCount == 0)
        test.pipeline.cache[processed] = container
        #expect(test.pipeline.cache.containsCachedImage(for: processed))
        #expect(!test.pipeline.cache.containsCachedImage(for: processed, caches: [.disk]))
        var hidden = processed
        hidden.options = [.disableMemoryCacheReads]
        #expect(!test.pipeline.cache.containsCachedImage(for: hidden))
    }

    @Test("whether there is data is told without reading; without a disk cache there is none [CLA-14]")
    func containsData() {
        let test = make()
        #expect(!test.pipeline.cache.containsData(for: request))
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        #expect(test.pipeline.cache.containsData(for: request) && test.dataCache?.readCount == 0)
        #expect(!test.pipeline.cache.containsData(for: with(.disableDiskCacheReads)))
        #expect(!TestPipeline().pipeline.cache.containsData(for: request))
    }

    // MARK: Removal

    @Test("removing an image leaves the original data, and reaches what the loader keeps [CLA-15]")
    func removeImages() {
        let test = make()
        test.pipeline.cache.storeCachedData(Data([1]), for: request)
        for _ in 0..<2 { test.pipeline.cache.storeCachedImage(container, for: processed) }
        test.pipeline.cache.removeCachedImage(for: processed, caches: [.memory])
        #expect(test.imageCache.count == 0 && test.dataCache?.entries.count == 2 && test.loader.removedURLs == [])
        test.pipeline.cache.storeCachedImage(container, for: processed)
        var unwritten = processed
        unwritten.options = [.disableMemoryCache, .disableDiskCache]
        test.pipeline.cache.removeCachedImage(for: unwritten)
        #expect(test.imageCache.count == 0 && test.dataCache?.entries == [request.dataKey: Data([1])])
        #expect(test.loader.removedURLs == ["http://test.com/example.jpeg"])
        test.pipeline.cache.removeCachedData(for: request)
        #expect(test.dataCache?.entries == [:] && test.loader.removedURLs.count == 2)
    }

    @Test("everything is removed from the configuration's caches and loader, not from a delegate's [CLA-16]")
    func removeEverything() {
        let (memory, disk) = (MockImageCache(), MockDataCache())
        let delegate = HookedDelegate { hooks in
            hooks.imageCache = { $0.options.contains(.skipDecompression) ? memory : nil }
            hooks.dataCache = { $0.options.contains(.skipDecompression) ? disk : nil }
        }
        let test = make(delegate: delegate)
        test.imageCache[ImageCacheKey(request: request)] = container
        test.dataCache?.storeData(Data([1]), for: "a")
        test.pipeline.cache.storeCachedImage(container, for: with(.skipDecompression))
        test.pipeline.cache.removeAll(caches: [.memory])
        #expect(test.imageCache.count == 0 && test.dataCache?.entries.count == 1 && test.loader.removeAllCount == 0)
        test.pipeline.cache.removeAll()
        #expect(test.dataCache?.entries == [:] && test.loader.removeAllCount == 1)
        #expect(memory.count == 1 && disk.entries.count == 1)
    }

    @Test("what a load stores is there for the calls that come after it, and is not written after its removal")
    func pendingStores() async throws {
        let gate = ThreadGate()
        let cache = MockDataCache(willWrite: { gate.wait() })
        let test = make { $0.dataCache = cache }
        _ = try await test.pipeline.image(for: request)
        CodecThreads.shared.enqueue { gate.open() }
        #expect(test.pipeline.cache.containsData(for: request))
        let other = MockDataCache()
        let second = make { $0.dataCache = other }
        _ = try await second.pipeline.image(for: request)
        second.pipeline.cache.removeCachedData(for: request)
        await second.pipeline.finishDataStores()
        #expect(other.writeCount == 1 && other.entries == [:])
    }

    // MARK: Keys

    @Test("keys are the delegate's, or else the request's own [CLA-17]")
    func keys() {
        let own = make().pipeline.cache
        #expect(own.makeImageCacheKey(for: processed) == ImageCacheKey(request: processed))
        #expect(own.makeDataCacheKey(for: processed) == processed.dataKey)
        let delegate = HookedDelegate { $0.cacheKey = { $0.processors.isEmpty ? nil : "mine" } }
        let cache = make(delegate: delegate).pipeline.cache
        #expect(cache.makeImageCacheKey(for: processed) == ImageCacheKey(key: "mine"))
        #expect(cache.makeDataCacheKey(for: processed) == "mine")
        #expect(cache.makeImageCacheKey(for: request) == ImageCacheKey(request: request))
        #expect(cache.makeDataCacheKey(for: request) == request.dataKey)
    }

    @Test("two requests that the delegate gives one key share entries [CLA-18]")
    func sharedKeys() {
        let test = make(delegate: HookedDelegate { $0.cacheKey = { _ in "one" } })
        test.pipeline.cache.storeCachedImage(container, for: request)
        let other = ImageRequest(url: URL(string: "http://test.com/other.jpeg"))
        #expect(test.pipeline.cache.cachedImage(for: other)?.image === container.image)
        #expect(test.pipeline.cache.cachedData(for: other) == Data("encoded".utf8))
    }

    @Test("the caches: memory is 1, disk 2, all both [CLA-19]")
    func cacheSet() {
        typealias Caches = ImagePipeline.Cache.Caches
        #expect(Caches.memory.rawValue == 1 && Caches.disk.rawValue == 2 && Caches.all.rawValue == 3)
    }

    /// Makes every call there is; not asynchronous.
    private static func useEverything(_ cache: ImagePipeline.Cache, _ url: URL, _ container: ImageContainer) -> Bool {
        let request = ImageRequest(url: url)
        cache[url] = container
        cache.storeCachedImage(container, for: request)
        cache.storeCachedData(Data([1]), for: request)
        let isFound =
            cache[request] != nil && cache.cachedImage(for: request) != nil && cache.cachedData(for: request) != nil
            && cache.containsCachedImage(for: request) && cache.containsData(for: request)
            && cache.makeDataCacheKey(for: request) == url.absoluteString
            && cache.makeImageCacheKey(for: request) == ImageCacheKey(request: request)
        cache.removeCachedImage(for: request)
        cache.removeCachedData(for: request)
        return isFound && cache[request] == nil
    }

    @Test("every call works on any thread, the main one too, without awaiting [CLA-20]")
    func threads() async throws {
        let cache = make().pipeline.cache
        let url = try #require(url)
        #expect(await MainActor.run { Self.useEverything(cache, url, container) })
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                let url = url.appending(path: "\(index)")
                group.addTask { [container] in
                    await CodecThreads.shared.run { Self.useEverything(cache, url, container) }
                }
            }
            for await isFound in group { #expect(isFound) }
        }
        cache.removeAll()
    }

    @Test("a picture stored to disk and read back has its sides where they were [CLA-21]")
    func orientation() throws {
        let picture = Bitmap.make(width: 2, height: 3) { [UInt8($0), UInt8($1), 0, 255] }
        let test = TestPipeline(hasDataCache: true) { configuration in
            configuration.makeImageEncoder = { _ in RawCodec() }
            configuration.makeImageDecoder = { _ in RawCodec() }
        }
        test.pipeline.cache.storeCachedImage(ImageContainer(image: picture), for: request, caches: [.disk])
        let image = try #require(test.pipeline.cache.cachedImage(for: request)?.image)
        #expect(image.width == 2 && image.height == 3)
        #expect(RawCodec().encode(image) == RawCodec().encode(picture))
    }
}

/// Files of two sides, a byte each, and pixels.
private struct RawCodec: ImageEncoding, ImageDecoding {
    func encode(_ image: PlatformImage) -> Data? {
        let pixels = image.bytes
        let bytes = (0..<pixels.byteCount).map { pixels.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        return Data([UInt8(image.width), UInt8(image.height)] + bytes)
    }

    func decode(_ data: Data) throws -> ImageContainer {
        let bytes = [UInt8](data)
        let width = Int(bytes[0])
        return ImageContainer(
            image: Bitmap.make(width: width, height: Int(bytes[1])) { x, y in
                Array(bytes[(2 + (y * width + x) * 4)...].prefix(4))
            })
    }
}
