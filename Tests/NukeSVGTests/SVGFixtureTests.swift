import FoundationEssentials
import NukeCore
import NukeSVG
import NukeTestSupport
import Testing

@Suite("SVG files", .needsLibrary, .needsCorpus, .timeLimit(.minutes(5)))
struct SVGFixtureTests {
    /// What the manifest tells beside what all entries have.
    private struct Fonts: Decodable {
        let path: String
        let expected: Expected
        struct Expected: Decodable {
            let depends_on_fonts: Bool?
        }
    }

    /// Documents that tell neither a size nor a view box: 300×150 by CSS, where rsvg-convert takes what is drawn.
    private static let withoutSize: Set<String> = [
        "svg/imagesize-viewbox-lowercase.svg", "broken/rsvg-PixelRectangle-duplicate-crash.svg",
        "broken/rsvg-pattern-fallback-cycles.svg", "broken/rsvg-bug342-use-references-ancestor.svg",
    ]

    @Test(
        "[row 196] Every document of the corpus has the size and the colours that its manifest says, or a typed error")
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter {
            $0.path.hasSuffix(".svg") || $0.path.hasSuffix(".svgz")
        }
        #expect(entries.count >= 180)
        let all = try JSONDecoder().decode([Fonts].self, from: try File.read(folder + "/MANIFEST.json"))
        let withFonts = Set(all.filter { $0.expected.depends_on_fonts == true }.map(\.path))
        var compared = 0
        for entry in entries {
            let data = try File.read(folder + "/" + entry.path)
            guard ImageDecoders.SVG(context: SVGUnderTest.context(data)) != nil else {
                if case .decodes = entry.expected.error { Issue.record("\(entry.path) is not taken for SVG") }
                continue
            }
            if Self.withoutSize.contains(entry.path) {
                #expect(try SVGUnderTest.decode(data).image.size == ImageSize(width: 300, height: 150))
                continue
            }
            let faults = try await entry.faults(in: folder) { context in
                ImageDecoders.SVG(context: context) ?? ImageDecoders.Empty() as any ImageDecoding
            }
            // Fonts change colours, but no sizes.
            let counted =
                withFonts.contains(entry.path)
                ? faults.filter { !$0.hasPrefix("mean") && !$0.hasPrefix("quadrants") } : faults
            #expect(counted.isEmpty, "\(entry.path): \(counted)")
            if case .decodes = entry.expected.error, !withFonts.contains(entry.path) { compared += 1 }
        }
        #expect(compared >= 100)
    }
}
