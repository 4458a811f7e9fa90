import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("JPEG conformance", .timeLimit(.minutes(1)))
struct JPEGConformanceTests {
    private static let names = [
        "gen-420", "gen-444", "gen-progressive", "gen-gray", "gen-rgb", "gen-arith", "gen-arith-prog", "gen-restart1b",
        "gen-sequential-3scans", "gen-o6", "gen-icc-p3", "gen-1x9",
    ]

    @Test("The JPEG decoder keeps the promises of a decoder")
    func conforms() async throws {
        let samples = try Self.names.map { name in
            DecoderConformance.Sample(name: name, data: try Fixture.data("jpeg/\(name).jpg"))
        }
        var suite = DecoderConformance(format: .jpeg, samples: samples)
        for orientation in ImageOrientation.allCases {
            suite.orientations[orientation] = try Fixture.data("jpeg/gen-o\(orientation.rawValue).jpg")
        }
        #expect(suite.orientations.count == 8)
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }
}
