import FoundationEssentials
import NukeCore
import NukeTestSupport
import NukeVideo
import Testing

/// A clock on which waiting takes no time: who waits moves it on.
private final class JumpingClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private let time = Locked(Duration.zero)

    var now: Instant { Instant(offset: time.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline.offset) }
    }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}

private struct WeakImage {
    weak var image: Bitmap?
}

@Suite("Videos that play", .needsLibrary, .timeLimit(.minutes(5)))
struct VideoPlaybackTests {
    private func video(_ name: String) throws -> ImageVideo {
        try #require(try VideoUnderTest.decode(try VideoUnderTest.data(name)).video)
    }

    @Test("30 s of frames at rate 1 come when they are due, none late, and none is kept")
    func thirtySeconds() async throws {
        // 45 frames in 3 s, ten times.
        let video = try video("gen-black-first.mp4")
        let clock = JumpingClock()
        var images: [WeakImage] = []
        for try await frame in video.frames(playCount: 10, clock: clock) {
            let due = Duration.seconds(Double(images.count) / 15)
            #expect(abs((frame.presentationTime - due) / .milliseconds(1)) < 1 && frame.droppedFrameCount == 0)
            #expect(abs((clock.now.offset - due) / .milliseconds(1)) < 1)
            #expect(abs(frame.time - Double(images.count % 45) / 15) < 0.001)
            images.append(WeakImage(image: frame.image))
        }
        #expect(images.count == 450 && images.count { $0.image != nil } <= 1)
        #expect(abs(clock.now.offset / .seconds(1) - 30) < 0.001)
    }

    @Test("At another rate times are shorter, and sizes are as asked for")
    func rate() async throws {
        let video = try video("gen-smooth.mp4")
        let clock = JumpingClock()
        var times: [Double] = []
        for try await frame in video.frames(
            maximumSize: ImageSize(width: 80, height: 80), playCount: 2, rate: 2, clock: clock)
        {
            times.append(frame.presentationTime / .seconds(1))
            #expect(frame.image.size == ImageSize(width: 80, height: 60))
        }
        #expect(times.count == 8)
        for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 20) < 0.001) }
    }

    @Test("Who comes late gets the frame that is due by then")
    func late() async throws {
        let video = try video("gen-black-first.mp4")
        let clock = JumpingClock()
        var frames = video.frames(playCount: 1, clock: clock).makeAsyncIterator()
        #expect(try await frames.next()?.time == 0)
        clock.advance(by: .seconds(1.51))
        let frame = try #require(try await frames.next())
        #expect(abs(frame.time - 22.0 / 15) < 0.001 && frame.droppedFrameCount == 21)
        let next = try #require(try await frames.next())
        #expect(abs(next.time - 23.0 / 15) < 0.001 && next.droppedFrameCount == 0)
        clock.advance(by: .seconds(60))
        #expect(try await frames.next() == nil)
        #expect(try await frames.next() == nil)
    }

    @Test("Frames of one play, of none, of a turned video, and of WebM")
    func kinds() async throws {
        let clock = JumpingClock()
        for (name, size, count) in [
            ("gen-rotate90.mov", ImageSize(width: 120, height: 160), 15),
            ("gen-vp9.webm", .init(width: 160, height: 120), 30),
            ("gen-one-frame.mp4", .init(width: 160, height: 120), 1),
        ] {
            let video = try video(name)
            var seen = 0
            for try await frame in video.frames(playCount: 1, clock: clock) {
                #expect(frame.image.size == size && frame.image.isOpaque)
                seen += 1
            }
            #expect(seen == count, "\(name)")
            for try await _ in video.frames(playCount: 0, clock: clock) { Issue.record("there is no play") }
        }
    }

    @Test("A task that is cancelled ends the sequence")
    func cancellation() async throws {
        let video = try video("gen-smooth.mp4")
        let clock = TestClock()
        let task = Task {
            var count = 0
            for try await _ in video.frames(clock: clock) { count += 1 }
            return count
        }
        await waitUntil { clock.sleeperCount == 1 }
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test("The memory cache keeps the bytes of small videos, and of large ones the request that loads them")
    func memoryCache() async throws {
        let small = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let file = LargeVideo.make(small, count: 9 << 20, indexPadding: 0, isIndexInFront: true)
        let large = file.bytes(0..<file.count)
        let registry = ImageDecoderRegistry()
        registry.register(.mp4)
        let cache = ImageCache()
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = cache
        }
        for (name, data, isKept) in [("small", small, true), ("large", large, false)] {
            let loads = Locked(0)
            let request = ImageRequest(
                id: name,
                data: {
                    loads.withLock { $0 += 1 }
                    return data
                })
            let container = try await pipeline.imageTask(with: request).response.container
            #expect(container.data?.count == data.count && container.video?.data?.count == data.count)
            let cached = try #require(pipeline.cache[request])
            #expect((cached.data != nil) == isKept && (cached.video?.data != nil) == isKept)
            #expect(cached.video?.duration == 2)
            #expect((cached.userInfo[.videoAssetKey] as? ImageVideo)?.data == cached.video?.data)
            let pixels = cached.image.byteCount
            #expect(cached.memoryCost == pixels + (isKept ? data.count : 0))
            // What is kept by reference plays as well: it is loaded again.
            let video = try #require(cached.video)
            var count = 0
            for try await _ in video.frames(playCount: 1, pipeline: pipeline, clock: JumpingClock()) { count += 1 }
            #expect(count == 30 && loads.withLock { $0 } == (isKept ? 1 : 2))
        }
    }

    @Test("A video whose bytes are not kept is read from its file")
    func fromFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("clip 1.mp4")
        let small = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let file = LargeVideo.make(small, count: 9 << 20, indexPadding: 0, isIndexInFront: false)
        try file.bytes(0..<file.count).write(to: URL(filePath: path))
        let registry = ImageDecoderRegistry()
        registry.register(.mp4)
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = ImageCache()
        }
        let request = ImageRequest(url: URL(filePath: path))
        _ = try await pipeline.image(for: request)
        let video = try #require(pipeline.cache[request]?.video)
        #expect(video.data == nil)
        var count = 0
        for try await _ in video.frames(playCount: 1, pipeline: pipeline, clock: JumpingClock()) { count += 1 }
        #expect(count == 30)
        try FileManager.default.removeItem(atPath: path)
        await #expect(throws: ImageDecodingError.self) {
            for try await _ in video.frames(playCount: 1, pipeline: pipeline, clock: JumpingClock()) {}
        }
    }

    @Test("Pictures of several times of a video are different images to every cache")
    func identity() async throws {
        let data = try VideoUnderTest.data("gen-black-first.mp4")
        let registry = ImageDecoderRegistry()
        registry.register(.mp4)
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = ImageCache()
        }
        var request = ImageRequest(id: "a", data: { data })
        var keys: Set<ImageCacheKey> = []
        var means: [Double] = []
        for poster in [nil, .time(seconds: 0), .fraction(0.5), .sheet(columns: 2, rows: 1)]
            as [ImageRequest.VideoPoster?]
        {
            request.videoPoster = poster
            keys.insert(ImageCacheKey(request: request))
            means.append(VideoUnderTest.mean(try await pipeline.image(for: request))[0])
        }
        #expect(keys.count == 4 && means[1] < 2 && means[0] > 40 && means[2] > 40 && means[3] > 20)
    }
}
