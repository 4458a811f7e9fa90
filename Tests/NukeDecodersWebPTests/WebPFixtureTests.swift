import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

/// Every file whose content is WebP, in the repository and in the larger corpus.
@Suite("WebP fixtures", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPFixtureTests {
    static func entries(of folder: String) throws -> [FixtureEntry] {
        try Fixture.manifest(of: folder).filter { $0.kind == "webp" || $0.path.hasPrefix("webp/") }
    }

    @Test("Files of the repository decode to the sizes, means, frames and times of the manifest, or fail as it says")
    func repository() async throws {
        let entries = try Self.entries(of: Fixture.folder)
        #expect(entries.count >= 25)
        for entry in entries { try await check(entry, in: Fixture.folder) }
    }

    @Test("Files of the corpus decode as its manifest says", .enabled(if: Fixture.corpus != nil))
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Self.entries(of: folder)
        #expect(entries.count >= 95)
        for entry in entries { try await check(entry, in: folder) }
    }

    private func check(_ entry: FixtureEntry, in folder: String) async throws {
        let faults = try await entry.faults(in: folder) { ImageDecoders.WebP(context: $0) }
        #expect(faults.isEmpty, "\(entry.path): \(faults.joined(separator: "; "))")
    }
}
