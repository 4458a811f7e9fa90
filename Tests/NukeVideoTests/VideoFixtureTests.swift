import FoundationEssentials
import NukeCore
import NukeTestSupport
import NukeVideo
import Testing

@Suite("Video files", .needsLibrary, .needsCorpus, .timeLimit(.minutes(5)))
struct VideoFixtureTests {
    /// What the manifest tells of a video.
    private struct Entry: Decodable {
        let path: String
        let expected: Expected

        struct Expected: Decodable {
            let error: FixtureEntry.Outcome
            let width, height: Int?
            let sample_aspect_ratio: String?
            let rotation: Int?
            let codec: String?
            let duration_ms: Double?
            let attached_pic: Bool?
            let mean: [Double]?
            let mean_tolerance: Double?
            let mean_at_ms: [String: [Double]]?
            let quadrant_means: [[Double]]?

            /// The size at which it is shown: of square pixels, with the shorter side grown.
            var size: (Int, Int)? {
                guard let width, let height else { return nil }
                let parts = (sample_aspect_ratio ?? "1:1").split(separator: ":").compactMap { Double($0) }
                return (Int((Double(width) * parts[0] / parts[1]).rounded()), height)
            }
        }
    }

    /// Files in containers that NukeVideo does not take: its demuxers are those of ISO media and Matroska.
    private static let otherContainers: Set<String> = [
        "video/gen-h264.flv", "video/gen-h264.ts", "video/gen-mpeg2.mpg", "video/gen-mpeg4.avi",
        "video/gen-theora.ogv", "video/gen-cover.mp3",
    ]

    private static func entries() throws -> [Entry] {
        let folder = try #require(Fixture.corpus)
        let all = try JSONDecoder().decode([Entry].self, from: try File.read(folder + "/MANIFEST.json"))
        let entries = all.filter { $0.path.hasPrefix("video/") }
        #expect(entries.count >= 49, "the corpus is empty, or not there")
        return entries
    }

    @Test("[row 202] [row 203] every video of the corpus has the size, turn and first picture that its manifest says")
    func firstFrames() throws {
        let folder = try #require(Fixture.corpus)
        for entry in try Self.entries() {
            let data = try File.read(folder + "/" + entry.path)
            let expected = entry.expected
            guard let decoder = ImageDecoders.Video(context: VideoUnderTest.context(data, poster: .time(seconds: 0)))
            else {
                #expect(Self.otherContainers.contains(entry.path), "\(entry.path) is not taken for a video")
                continue
            }
            guard case .decodes = expected.error else {
                let error = VideoUnderTest.error(data)
                #expect(error?.code == .unsupported, "\(entry.path): \(String(describing: error))")
                continue
            }
            let size = try #require(expected.size)
            let properties = try #require(try decoder.properties(of: data), "\(entry.path)")
            #expect((properties.width, properties.height) == size, "\(entry.path)")
            let container = try decoder.decode(data)
            let image = container.image
            #expect((image.width, image.height) == size, "\(entry.path)")
            #expect(container.originalSize == ImageSize(width: size.0, height: size.1), "\(entry.path)")
            let statistics = PixelStatistics(image)
            let tolerance = try #require(expected.mean_tolerance)
            let mean = try #require(expected.mean)
            #expect(
                VideoUnderTest.isNear(statistics.mean, mean, tolerance), "\(entry.path): \(statistics.mean), \(mean)")
            let quadrants = try #require(expected.quadrant_means)
            for (seen, wanted) in zip(statistics.quadrantMeans, quadrants) {
                #expect(VideoUnderTest.isNear(seen, wanted, 2 * tolerance), "\(entry.path): \(seen), \(wanted)")
            }
            let video = try #require(container.video)
            #expect(video.codec == expected.codec, "\(entry.path)")
            #expect(video.size == container.originalSize)
            let duration = try #require(video.duration, "\(entry.path)")
            #expect(abs(duration * 1000 - (expected.duration_ms ?? 0)) <= 60, "\(entry.path): \(duration)")
        }
    }

    @Test("[row 206] every video of the corpus shows at a time what its manifest says")
    func timedFrames() throws {
        let folder = try #require(Fixture.corpus)
        var count = 0
        for entry in try Self.entries() where !Self.otherContainers.contains(entry.path) {
            let data = try File.read(folder + "/" + entry.path)
            for (time, mean) in entry.expected.mean_at_ms ?? [:] {
                let seconds = try #require(Double(time)) / 1000
                let image = try VideoUnderTest.decode(data, poster: .time(seconds: seconds)).image
                let seen = PixelStatistics(image).mean
                #expect(
                    VideoUnderTest.isNear(seen, mean, entry.expected.mean_tolerance ?? 0),
                    "\(entry.path) at \(time) ms: \(seen), \(mean)")
                count += 1
            }
        }
        #expect(count >= 50)
    }
}
