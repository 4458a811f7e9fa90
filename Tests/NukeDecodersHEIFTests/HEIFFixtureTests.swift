import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

@Suite("HEIF files", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFFixtureTests {
    /// What the manifest expects and libheif 1.15 does not do, with the reason; at most 12.
    private static let exceptions: [String: String] = [:]

    @Test(
        "every HEIC and AVIF of the corpus is decoded, or refused, as its manifest says",
        .enabled(if: Fixture.corpus != nil))
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            ["heif/", "avif/"].contains { entry.path.hasPrefix($0) }
                || entry.path.hasPrefix("broken/") && ["heif", "avif"].contains(entry.kind)
        }
        #expect(entries.count >= 180, "the corpus is empty, or not there")
        for entry in entries {
            let faults = try await entry.faults(in: folder) { ImageDecoders.HEIF(context: $0) }
            let isExpected = Self.exceptions[entry.path] == nil
            #expect(faults.isEmpty == isExpected, "\(entry.path): \(faults)")
        }
    }
}
