import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF files", .enabled(if: Fixture.corpus != nil), .timeLimit(.minutes(2)))
struct GIFFixtureTests {
    /// What the manifest tells of the frames.
    private struct Animation: Decodable {
        struct Expected: Decodable {
            let frames: Int?
            let loops: Int?
            let durations: [Double]?
            let hasAlpha: Bool?
            enum CodingKeys: String, CodingKey {
                case frames
                case loops = "loop_count"
                case durations = "frame_durations_ms"
                case hasAlpha = "has_alpha"
            }
        }
        let path: String
        let expected: Expected
    }

    @Test("every GIF of the corpus is decoded, or refused, as its manifest says")
    func corpus() throws {
        let folder = try #require(Fixture.corpus)
        let animations = try JSONDecoder().decode([Animation].self, from: File.read(folder + "/MANIFEST.json"))
        let frames = Dictionary(uniqueKeysWithValues: animations.map { ($0.path, $0.expected) })
        let entries = try Fixture.manifest(of: folder).filter { entry in
            entry.path.hasPrefix("gif/") || entry.path.hasPrefix("broken/") && entry.kind == "gif"
        }
        #expect(entries.count >= 70, "the corpus is empty, or not there")
        for entry in entries { try check(entry, try #require(frames[entry.path]), in: folder) }
    }

    @Test("a GIF cut after 60,001 of 427,672 bytes decodes its first frame [DEC-17]")
    func truncated() throws {
        let data = try File.read(try #require(Fixture.corpus) + "/gif/nuke-cat.gif")
        #expect(data.count == 427_672)
        let container = try Decoding.container(data.prefix(60_001))
        #expect((container.image.width, container.image.height) == (500, 279))
        #expect(PixelStatistics(container.image).mean == PixelStatistics(try Decoding.container(data).image).mean)
    }

    private func check(_ entry: FixtureEntry, _ animation: Animation.Expected, in folder: String) throws {
        let data = try File.read(folder + "/" + entry.path)
        let image: Bitmap
        let properties: ImageProperties
        do {
            let container = try Decoding.container(data)
            #expect(container.data == data)
            image = container.image
            properties = try #require(try Decoding.properties(data))
        } catch {
            #expect(entry.expected.error != .decodes, "\(entry.path): \(error)")
            #expect((error as? ImageDecodingError)?.codec == "GIF", "\(entry.path)")
            return
        }
        #expect(entry.expected.error != .fails, "\(entry.path) was decoded")
        #expect((properties.width, properties.height) == (image.width, image.height), "\(entry.path)")
        // Where readers differ, what they say is only informative.
        guard case .decodes = entry.expected.error else { return }
        #expect((image.width, image.height) == (entry.expected.width, entry.expected.height), "\(entry.path)")
        #expect(properties.frameCount == animation.frames, "\(entry.path)")
        #expect(properties.loopCount == animation.loops, "\(entry.path)")
        #expect(properties.hasAlpha || image.isOpaque && animation.hasAlpha != true, "\(entry.path)")
        if let durations = animation.durations {
            let seen = properties.frameDurations.prefix(32).map { ($0 * 1000).rounded() }
            #expect(seen == durations, "\(entry.path)")
        }
        let mean = PixelStatistics(image).mean
        let wanted = try #require(entry.expected.mean)
        let tolerance = entry.expected.meanTolerance ?? 0.5
        let isNear = zip(mean, wanted).allSatisfy { abs($0 - $1) <= tolerance }
        #expect(isNear, "\(entry.path): mean \(mean), not \(wanted)")
    }
}
