import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@Suite("Processors on frames", .timeLimit(.minutes(5)))
struct FrameProcessingTests {
    /// Decodes anything to an animation of 8x4 pixels, with a poster made as decoders make theirs.
    private struct Decoder: ImageDecoding {
        final class Frames: ImageFrameDecoding {
            func frame(at index: Int) throws -> Bitmap { .mock(width: 8, height: 4, gray: UInt8(index * 50)) }
        }

        let context: ImageDecodingContext

        func decode(_ data: Data) throws -> ImageContainer {
            var container = try context.makeContainer(
                image: .mock(width: 8, height: 4), type: .gif, originalSize: ImageSize(width: 8, height: 4))
            container.animation = ImageAnimation(storedDurations: [1, 0, 2], playCount: 4, frames: Frames())
            return container
        }
    }

    /// Notes what it is told, and adds one to the first byte.
    private struct Marking: ImageProcessing {
        let identifier: String
        let calls: Locked<[(sizes: [ImageSize?], isBlank: Bool, type: AssetType?)]>

        func process(_ image: PlatformImage) -> PlatformImage? { nil }

        func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            calls.withLock { calls in
                calls.append(
                    (
                        [container.image.size, context.originalSize], context.response.image !== container.image,
                        context.response.container.type
                    ))
            }
            var container = container
            let image = container.image
            guard var buffer = PixelBuffer(width: image.width, height: image.height) else { throw CancellationError() }
            let bytes = image.byteArray
            buffer.withBytes { target in
                for offset in bytes.indices {
                    target.storeBytes(
                        of: bytes[offset] &+ (offset == 0 ? 1 : 0), toByteOffset: offset, as: UInt8.self)
                }
            }
            container.image = buffer.freeze()
            return container
        }
    }

    private func pipeline(_ cache: MockImageCache? = nil) -> ImagePipeline {
        let registry = ImageDecoderRegistry()
        registry.register { Decoder(context: $0) }
        return ImagePipeline { configuration in
            configuration.dataLoader = MockDataLoader()
            configuration.imageCache = cache
            configuration.decoderRegistry = registry
        }
    }

    private func animation(
        _ processors: [any ImageProcessing], _ change: (inout ImageRequest) -> Void = { _ in }
    ) async throws -> (ImageAnimation, poster: Bitmap) {
        var request = ImageRequest(url: URL(string: "http://test.com/a.gif"), processors: processors)
        change(&request)
        let response = try await pipeline().imageTask(with: request).response
        return (try #require(response.container.animation), response.image)
    }

    @Test("each frame goes through each processor once, in order, whatever the order of asking; the poster too")
    func once() async throws {
        let counter = MockProcessor.Counter()
        let (animation, _) = try await animation([
            MockProcessor("a", counter: counter), MockProcessor("b", counter: counter),
        ])
        #expect(counter.order == ["a", "b"])
        for index in [2, 0, 1] {
            let image = try await animation.frame(at: index)
            #expect(image.byteArray.first == UInt8(index * 50))
        }
        #expect(counter.order == ["a", "b", "a", "b", "a", "b", "a", "b"])
        #expect(try animation.decodeFrame(at: 1).byteArray.first == 50)
        #expect(counter.total == 10)
    }

    @Test("what a processor makes of a frame is not what the next frame is made of, and comes once when played")
    func marks() async throws {
        let marking = Marking(identifier: "mark", calls: Locked([]))
        let (animation, poster) = try await animation([marking, marking])
        #expect(poster.byteArray[0] == 130)
        for index in [1, 1, 2, 0] { #expect(try await animation.frame(at: index).byteArray[0] == index * 50 + 2) }
        let (clock, pool, calls) = (TestClock(), AnimatedImageFramePool(), marking.calls)
        calls.withLock { $0 = [] }
        let player = AnimatedImagePlayer(animation, repetition: .forever, pool: pool, clock: clock)
        let iterator = player.makeAsyncIterator()
        for index in [0, 1, 2, 0, 1, 2, 0] {
            let frame = try #require(try await iterator.next())
            #expect(frame.index == index && frame.image.byteArray[0] == index * 50 + 2)
            clock.advance(by: .milliseconds([1000, 100, 2000][index]))
        }
        #expect(calls.withLock { $0.count } == 6, "three frames, two processors each")
    }

    @Test("a processor is told of each frame what it was told of the poster; durations and plays stay")
    func context() async throws {
        let marking = Marking(identifier: "mark", calls: Locked([]))
        let (animation, _) = try await animation([ImageProcessors.Resize(width: 4), marking])
        #expect(animation.durations == [1, 0.1, 2] && animation.playCount == 4)
        #expect(try await animation.frame(at: 2).size == ImageSize(width: 4, height: 2))
        let calls = marking.calls.withLock { $0 }
        #expect(calls.count == 2)
        for call in calls {
            #expect(call.sizes == [ImageSize(width: 4, height: 2), nil] && !call.isBlank && call.type == .gif)
        }
        let direct = Marking(identifier: "direct", calls: Locked([]))
        let (whole, _) = try await self.animation([direct])
        _ = try await whole.frame(at: 0)
        let size = ImageSize(width: 8, height: 4)
        #expect(direct.calls.withLock { $0.map(\.sizes) } == [[size, size], [size, size]])
    }

    @Test("frames become thumbnails as the poster does, and get the request's scale")
    func thumbnails() async throws {
        let (small, poster) = try await animation([]) { request in
            request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 4)
            request.scale = 2
        }
        let frame = try await small.frame(at: 1)
        #expect(poster.size == ImageSize(width: 4, height: 2) && frame.size == poster.size && frame.scale == 2)
        let (both, smaller) = try await animation([ImageProcessors.Resize(width: 2)]) { request in
            request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 4)
        }
        #expect(try await both.frame(at: 2).size == smaller.size && smaller.width == 2)
    }

    @Test("a processor that fails on a frame fails that frame; one that takes the animation away is obeyed")
    func failures() async throws {
        let fragile = ImageProcessors.Anonymous(id: "fragile") { $0.bytes.unsafeLoad(as: UInt8.self) == 50 ? nil : $0 }
        let (animation, _) = try await animation([fragile])
        #expect(try await animation.frame(at: 0).width == 8)
        await #expect(throws: ImageProcessingError.unknown) { try await animation.frame(at: 1) }
        #expect(try await animation.frame(at: 2).width == 8)
        struct Still: ImageProcessing {
            let identifier = "still"
            func process(_ image: PlatformImage) -> PlatformImage? { image }
            func process(_ container: ImageContainer, context: ImageProcessingContext) -> ImageContainer {
                var container = container
                container.animation = nil
                return container
            }
        }
        let request = ImageRequest(url: URL(string: "http://test.com/a.gif"), processors: [Still(), fragile])
        #expect(try await pipeline().imageTask(with: request).response.container.animation == nil)
    }

    @Test("whoever gets an image from the memory cache gets the same animation, so that players share its frames")
    func cached() async throws {
        let pipeline = pipeline(MockImageCache())
        let counter = MockProcessor.Counter()
        let request = ImageRequest(
            url: URL(string: "http://test.com/a.gif"), processors: [MockProcessor("a", counter: counter)])
        let first = try await pipeline.imageTask(with: request).response.container.animation
        let second = try await pipeline.imageTask(with: request).response.container.animation
        #expect(first === second && first != nil)
        #expect(counter.total == 1)
    }

    @Test("the cost of an animated image is the poster, the data, once, and the canvases of its decoder [row 88]")
    func cost() throws {
        final class Holding: ImageFrameDecoding {
            let compressedData: Data?
            let canvasByteCount = 1000

            init(_ data: Data) { compressedData = data }

            func frame(at index: Int) throws -> Bitmap { .mock() }
        }
        let data = Data(repeating: 7, count: 5000)
        var container = ImageContainer(image: .mock(width: 10, height: 10))
        container.animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Holding(data))
        #expect(container.memoryCost == 400 + 5000 + 1000)
        container.data = data
        #expect(container.memoryCost == 400 + 5000 + 1000)
        container.data = Data(repeating: 7, count: 5000)
        #expect(container.memoryCost == 400 + 5000 + 5000 + 1000)
        container.animation = CountedFrames(canvasByteCount: 64).animation([1, 1])
        #expect(container.memoryCost == 400 + 5000 + 64)
        let cache = ImageCache(costLimit: 1 << 20)
        cache[ImageCacheKey(key: "a")] = container
        #expect(cache.totalCost == container.memoryCost)
    }
}
