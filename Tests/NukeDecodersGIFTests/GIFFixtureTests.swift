import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF files", .timeLimit(.minutes(5)))
struct GIFFixtureTests {
    /// Files of which one frame is not as the manifest says.
    ///
    /// Its frames are ImageMagick's there, which clears places to the background colour if the frame has no transparent
    /// index. By the manifest's own rule, and in browsers, they become transparent.
    private static let exceptions: Set = ["gif/imagers-issue_1455_undersized.gif", "gif/wuffs-background-color.gif"]

    @Test(
        "every GIF of the corpus is decoded frame by frame, or refused, as its manifest says",
        .enabled(if: Fixture.corpus != nil))
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            entry.path.hasPrefix("gif/") || entry.path.hasPrefix("broken/") && entry.kind == "gif"
        }
        #expect(entries.count >= 70, "the corpus is empty, or not there")
        for entry in entries {
            let faults = try await entry.faults(in: folder) { ImageDecoders.GIF(context: $0) }
            if Self.exceptions.contains(entry.path) {
                #expect(faults.count == 1 && faults[0].hasPrefix("frame 1 differs"), "\(entry.path): \(faults)")
            } else {
                #expect(faults == [], "\(entry.path)")
            }
        }
    }

    @Test(
        "a GIF cut after 60,001 of 427,672 bytes decodes its first frame [DEC-17]",
        .enabled(if: Fixture.corpus != nil))
    func truncated() throws {
        let data = try File.read(try #require(Fixture.corpus) + "/gif/nuke-cat.gif")
        #expect(data.count == 427_672)
        let container = try Decoding.container(data.prefix(60_001))
        #expect((container.image.width, container.image.height) == (500, 279))
        #expect(container.image.byteArray == (try Decoding.container(data).image.byteArray))
        #expect(container.animation?.frameCount ?? 1 < 22)
        #expect(try Decoding.container(data).animation?.frameCount == 22)
    }
}
