import FoundationEssentials
import NukeCore
import NukeTestSupport
import NukeVideo
import Testing

@Suite("Videos while they download", .needsLibrary, .timeLimit(.minutes(5)))
struct VideoDownloadTests {
    /// What a decoder was given of a file until it had the image.
    private struct Outcome {
        var container: ImageContainer?
        var byteCount = 0
        var ranges: [Range<Int>] = []
        var callCount = 0
    }

    /// Brings a file in chunks, and the ranges that the decoder asks for, as the pipeline does.
    private func download(
        _ file: LargeVideo.Parts, chunk: Int = 64 << 10, poster: ImageRequest.VideoPoster? = nil
    ) throws -> Outcome {
        let context = VideoUnderTest.context(file.bytes(0..<min(chunk, file.count)), poster: poster) {
            $0.isCompleted = false
            $0.dataResponse = DataResponse(url: nil, statusCode: 200, expectedContentLength: Int64(file.count))
        }
        let decoder = try #require(ImageDecoders.Video(context: context))
        var outcome = Outcome()
        var arrived = 0
        while arrived < file.count, outcome.ranges.count <= 8 {
            if outcome.ranges.isEmpty { arrived = min(arrived + chunk, file.count) }
            var data = file.bytes(0..<arrived)
            outcome.byteCount = arrived
            for range in outcome.ranges {
                if data.count < range.upperBound { data.append(Data(count: range.upperBound - data.count)) }
                data.replaceSubrange(range, with: file.bytes(range))
                outcome.byteCount += range.count
            }
            do {
                outcome.callCount += 1
                // What the pipeline asks first.
                _ = try? decoder.properties(of: data)
                outcome.container = try decoder.decodePartiallyDownloadedData(data)
                if outcome.container != nil { return outcome }
                if !outcome.ranges.isEmpty { return outcome }
            } catch let error as ImageDecodingError where error.code == .needsRange {
                let range = try #require(error.neededRange)
                #expect(range.upperBound <= file.count)
                outcome.ranges.append(range)
            }
        }
        return outcome
    }

    private static func large(isIndexInFront: Bool, indexPadding: Int = 300 << 10) throws -> LargeVideo.Parts {
        let small = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let file = LargeVideo.make(
            small, count: 200 << 20, indexPadding: indexPadding, isIndexInFront: isIndexInFront)
        #expect(file.count == 200 << 20)
        return file
    }

    private func check(_ outcome: Outcome, limit: Int) throws {
        let container = try #require(outcome.container)
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(container.image), [113.7, 107.7, 117.4], 4))
        #expect(!container.isPreview && container.data == nil && container.type == .mp4)
        #expect(container.video?.data == nil && container.video?.duration == 2)
        #expect(outcome.byteCount <= limit, "\(outcome.byteCount) bytes, ranges \(outcome.ranges)")
    }

    @Test("With the index in front, the first bytes of a file are enough", arguments: [1000, 16 << 10, 256 << 10])
    func indexInFront(_ chunk: Int) throws {
        let outcome = try download(Self.large(isIndexInFront: true), chunk: chunk)
        try check(outcome, limit: 1 << 20)
        #expect(outcome.ranges.isEmpty)
    }

    @Test("With the index at the end, it is asked for, whatever its size", arguments: [1 << 10, 300 << 10, 2 << 20])
    func indexAtEnd(_ padding: Int) throws {
        let outcome = try download(Self.large(isIndexInFront: false, indexPadding: padding))
        try check(outcome, limit: 4 << 20)
        #expect((1...3).contains(outcome.ranges.count), "\(outcome.ranges)")
    }

    @Test("A picture that is further on than waiting pays is asked for")
    func laterPicture() throws {
        var file = try Self.large(isIndexInFront: true)
        // The pictures lie behind the zeros: their places are moved by as much.
        let small = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let whole = LargeVideo.make(small, count: 200 << 20, indexPadding: 2 << 20, isIndexInFront: true)
        file = whole
        let outcome = try download(file, poster: .time(seconds: 1))
        let container = try #require(outcome.container)
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(container.image), [113.4, 110.0, 117.6], 4))
        #expect(!outcome.ranges.isEmpty && outcome.byteCount <= 4 << 20)
    }

    @Test("WebM and Matroska are read from the front", arguments: ["gen-vp9.webm", "gen-h264.mkv"])
    func matroska(_ name: String) throws {
        let data = try VideoUnderTest.data(name)
        let file = LargeVideo.Parts(head: data, zeroCount: 0, tail: Data())
        let outcome = try download(file, chunk: 1000)
        let whole = VideoUnderTest.mean(try VideoUnderTest.decode(data).image)
        let image = try #require(outcome.container?.image)
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), whole, 0.01))
        #expect(outcome.byteCount < data.count && outcome.ranges.isEmpty)
    }

    @Test("Small files in small pieces give the same picture as whole ones, or none before the end")
    func pieces() throws {
        for name in ["gen-black-first.mp4", "gen-mjpeg.mov", "gen-h264-moov-end.mp4", "gen-av1.mkv", "gen-sar.mp4"] {
            let data = try VideoUnderTest.data(name)
            let whole = VideoUnderTest.mean(try VideoUnderTest.decode(data).image)
            for chunk in [500, 3000, 10_000] {
                let outcome = try download(.init(head: data, zeroCount: 0, tail: Data()), chunk: chunk)
                guard let image = outcome.container?.image else { continue }
                #expect(VideoUnderTest.isNear(VideoUnderTest.mean(image), whole, 0.01), "\(name) by \(chunk)")
            }
        }
    }

    @Test("Files of sound, and damaged ones, are looked at as they come without harm")
    func nothingToShow() throws {
        let data = try VideoUnderTest.data("gen-audio-only.mp4")
        #expect(throws: ImageDecodingError.self) {
            try download(.init(head: data, zeroCount: 0, tail: Data()), chunk: 4000)
        }
        var numbers = SeededNumbers(seed: 5)
        let sample = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        for _ in 0..<200 {
            var bytes = [UInt8](sample)
            for _ in 0..<3 {
                bytes[.random(in: 12..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            let file = LargeVideo.Parts(
                head: Data(bytes.prefix(200)), zeroCount: 3 << 20, tail: Data(bytes.dropFirst(200)))
            do { _ = try download(file, chunk: 256 << 10) } catch { #expect(error is ImageDecodingError, "\(error)") }
        }
    }
}
