import FoundationEssentials
import NukeCore
import NukeSVG
import NukeTestKit
import Testing

@Suite("SVG conformance", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGConformanceTests {
    private static let gradients = """
        <defs><linearGradient id="a" x2="1" y2="1"><stop stop-color="#24c"/><stop offset="1" stop-color="#fa4"/>\
        </linearGradient><radialGradient id="b"><stop stop-color="#fff" stop-opacity=".8"/><stop offset="1" \
        stop-color="#080" stop-opacity=".1"/></radialGradient></defs>
        """

    @Test("The decoder keeps the promises of a decoder")
    func conforms() async {
        let wide = SVGUnderTest.document(
            Self.gradients + "<rect width=\"160\" height=\"100\" fill=\"url(#a)\"/>", width: "160", height: "100")
        let tall = SVGUnderTest.document(
            Self.gradients + "<rect width=\"48\" height=\"64\" fill=\"url(#b)\"/>", width: nil, height: nil,
            attributes: "viewBox=\"0 0 48 64\"")
        let suite = DecoderConformance(
            format: .svg, samples: [.init(name: "opaque", data: wide), .init(name: "alpha", data: tall)])
        let violations = await suite.violations().map(\.description)
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
}
