import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// A delegate that decompresses by handing on a copy of the image, marked, and counts.
private struct Decompressor {
    private let log: Locked<[Bitmap]>
    let delegate: HookedDelegate

    init(isAllowed: Bool? = nil, makeImage: @escaping @Sendable (Bitmap) -> Bitmap = { $0.withScale(7) }) {
        let log = Locked<[Bitmap]>([])
        self.log = log
        delegate = HookedDelegate { hooks in
            if let isAllowed { hooks.shouldDecompress = { _ in isAllowed } }
            hooks.decompress = { response in
                log.withLock { $0.append(response.image) }
                var response = response
                response.container.image = makeImage(response.image)
                return response
            }
        }
    }

    /// What it was given.
    var images: [Bitmap] { log.withLock { $0 } }
    var count: Int { images.count }
}

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
struct DecompressionTests {
    let url = URL(string: "http://test.com/example.jpeg")
    var request: ImageRequest { ImageRequest(url: url) }

    private func load(
        _ request: ImageRequest, _ decompressor: Decompressor,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) async throws -> ImageResponse {
        let test = TestPipeline(delegate: decompressor.delegate, configure)
        return try await test.pipeline.imageTask(with: request).response
    }

    @Test("on by default; configuration, request and delegate can turn it off [GFX-01]")
    func switches() async throws {
        #expect(ImagePipeline.Configuration().isDecompressionEnabled)
        let plain = Decompressor()
        #expect(try await load(request, plain).image.scale == 7 && plain.count == 1)
        let off = Decompressor()
        #expect(try await load(request, off) { $0.isDecompressionEnabled = false }.image.scale == 1 && off.count == 0)
        let skipped = Decompressor()
        _ = try await load(ImageRequest(url: url, options: [.skipDecompression]), skipped)
        #expect(skipped.count == 0)
        let refused = Decompressor(isAllowed: false)
        _ = try await load(request, refused)
        #expect(refused.count == 0)
        let forced = Decompressor(isAllowed: true)
        _ = try await load(request, forced) { $0.isDecompressionEnabled = false }
        #expect(forced.count == 1)
    }

    @Test("not for what processors made, thumbnails and images of closures [GFX-02] [THM-13]")
    func whatIsDecompressed() async throws {
        let decompressor = Decompressor()
        let processed = ImageRequest(url: url, processors: [.resize(width: 10)])
        #expect(try await load(processed, decompressor).image.scale == 1)
        var thumbnail = request
        thumbnail.thumbnail = .init(maxPixelSize: 10)
        _ = try await load(thumbnail, decompressor)
        _ = try await load(ImageRequest(id: "1", image: { ImageContainer(image: .mock()) }), decompressor)
        #expect(decompressor.count == 0)
    }

    @Test("previews are not decompressed, nor marked for it; the final image is [PRG-40]")
    @ImagePipelineActor
    func previews() async throws {
        let decompressor = Decompressor()
        let decoder = MockImageDecoder()
        decoder.enablePreviews()
        let test = TestPipeline(decoder: decoder, delegate: decompressor.delegate) { configuration in
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = 0
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { download.previews.count == 1 }
        #expect(download.previews.map(\.isDecompressionNeeded) == [false] && decompressor.count == 0)
        _ = try await download.finish().get()
        #expect(decompressor.count == 1)
    }

    @Test("a processor that gives the same image back changes nothing [GFX-03]")
    func sameImage() async throws {
        let decompressor = Decompressor()
        let request = ImageRequest(url: url, processors: [.resize(width: 5000), .process(id: "same") { $0 }])
        #expect(try await load(request, decompressor).image.scale == 7 && decompressor.count == 1)
    }

    @Test("only what somebody asked for, in a queue of its own [GFX-04]")
    func queue() async throws {
        let decompressor = Decompressor()
        let test = TestPipeline(delegate: decompressor.delegate)
        let queue = test.pipeline.configuration.imageDecompressingQueue
        #expect(queue.maxConcurrentOperationCount == 2)
        queue.isSuspended = true
        let task = test.pipeline.imageTask(with: request)
        await waitUntil { queue.pendingCount == 1 }
        #expect(decompressor.count == 0 && test.imageCache.count == 0)
        queue.isSuspended = false
        _ = try await task.image
        // The original on the way to a processed image is nobody's.
        _ = try await load(ImageRequest(url: url, processors: [MockProcessor("1")]), decompressor)
        #expect(decompressor.count == 1)
    }

    @Test("while it is off, images stay marked as not yet decompressed [GFX-05]")
    func mark() async throws {
        #expect(try await !load(request, Decompressor()).isDecompressionNeeded)
        #expect(try await load(request, Decompressor(isAllowed: false)).isDecompressionNeeded)
    }

    @Test("a processed image from disk is decompressed before it goes into memory [GFX-06]")
    func fromDisk() async throws {
        let decompressor = Decompressor()
        let test = TestPipeline(hasDataCache: true, delegate: decompressor.delegate)
        let request = ImageRequest(url: url, processors: [MockProcessor("1")])
        test.dataCache?.storeData(Data([1]), for: request.dataKey)
        let response = try await test.pipeline.imageTask(with: request).response
        #expect(response.cacheType == .disk && response.image.scale == 7 && decompressor.count == 1)
        #expect(test.imageCache[ImageCacheKey(request: request)]?.image === response.image)
    }

    @Test("without a change of the delegate's the image is the very same: all of it is kept [GFX-07] [GFX-08]")
    func kept() async throws {
        // A delegate that fails hands back what it was given.
        let decompressor = Decompressor { $0 }
        let image = try await load(request, decompressor).image
        #expect(decompressor.images == [image])
        let test = TestPipeline(delegate: HookedDelegate())
        var scaled = request
        scaled.scale = 3
        let plain = try await test.pipeline.image(for: scaled)
        #expect(plain.scale == 3 && plain.format == .rgba8 && plain.isOpaque && plain.width == 640)
    }

    @Test("what is encoded for the data cache is the decompressed image [GFX-09]")
    func encoding() async throws {
        let encoder = MockEncoder()
        let test = TestPipeline(hasDataCache: true, delegate: Decompressor().delegate) { configuration in
            configuration.dataCachePolicy = .storeEncodedImages
            configuration.makeImageEncoder = { _ in encoder }
        }
        let image = try await test.pipeline.imageTask(with: request).image
        await waitUntil { encoder.contexts.count == 1 }
        #expect(image.scale == 7 && encoder.contexts.map(\.image) == [image])
    }

    @Test("without a delegate nothing waits for the queue: bitmaps are decompressed [GFX-10]")
    func noDelegate() async throws {
        let test = TestPipeline { $0.imageDecompressingQueue.isSuspended = true }
        #expect(try await test.pipeline.imageTask(with: request).image.width == 640)
        let observed = TestPipeline(delegate: HookedDelegate())
        observed.pipeline.configuration.imageDecompressingQueue.isSuspended = true
        let task = observed.pipeline.imageTask(with: request)
        await waitUntil { observed.pipeline.configuration.imageDecompressingQueue.pendingCount == 1 }
        observed.pipeline.configuration.imageDecompressingQueue.isSuspended = false
        #expect(try await task.image.width == 640)
    }
}
