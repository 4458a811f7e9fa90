import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// Every file whose content is JPEG, in the repository and in the larger corpus.
@Suite("JPEG fixtures", .timeLimit(.minutes(5)))
struct JPEGFixtureTests {
    static func entries(of folder: String) throws -> [FixtureEntry] {
        try Fixture.manifest(of: folder).filter { $0.kind == "jpeg" || $0.path.hasPrefix("jpeg/") }
    }

    @Test("Files of the repository decode to the sizes, means and quadrants of the manifest, or fail as it says")
    func repository() async throws {
        let entries = try Self.entries(of: Fixture.folder)
        #expect(entries.count >= 60)
        for entry in entries { try await check(entry, in: Fixture.folder) }
    }

    @Test("Files of the corpus decode as its manifest says", .enabled(if: Fixture.corpus != nil))
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Self.entries(of: folder)
        #expect(entries.count >= 200)
        for entry in entries { try await check(entry, in: folder) }
    }

    private func check(_ entry: FixtureEntry, in folder: String) async throws {
        let faults = try await entry.faults(in: folder) { ImageDecoders.JPEG(context: $0) }
        #expect(faults.isEmpty, "\(entry.path): \(faults.joined(separator: "; "))")
    }
}
