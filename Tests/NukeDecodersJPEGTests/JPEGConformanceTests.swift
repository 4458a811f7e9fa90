import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("JPEG conformance", .timeLimit(.minutes(5)))
struct JPEGConformanceTests {
    @Test(
        "The JPEG decoder keeps the promises of a decoder",
        arguments: [
            ["gen-420", "gen-gray", "gen-1x9", "gen-o6", "gen-rgb", "gen-icc-p3"],
            ["gen-444", "gen-progressive", "gen-sequential-3scans", "gen-restart1b", "gen-arith", "gen-arith-prog"],
        ])
    func conforms(_ names: [String]) async throws {
        let samples = try names.map { name in
            DecoderConformance.Sample(name: name, data: try Fixture.data("jpeg/\(name).jpg"))
        }
        let suite = DecoderConformance(format: .jpeg, samples: samples)
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The JPEG decoder turns every stored orientation upright")
    func turns() async throws {
        let upright = try Fixture.data("jpeg/gen-o1.jpg")
        var suite = DecoderConformance(format: .jpeg, samples: [.init(name: "gen-o1", data: upright)])
        for orientation in ImageOrientation.allCases {
            suite.orientations[orientation] = try Fixture.data("jpeg/gen-o\(orientation.rawValue).jpg")
        }
        #expect(suite.orientations.count == 8)
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }
}
