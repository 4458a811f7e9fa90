import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("WebP conformance", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPConformanceTests {
    @Test(
        "The WebP decoder keeps the promises of a decoder",
        arguments: [
            ["gen-lossy", "gen-1x17", "gen-lossy-alpha", "gen-exif-o6", "gen-icc-swapped", "gen-sharpyuv"],
            ["gen-lossless", "gen-lossless-alpha", "gen-16x1", "gen-near-lossless", "gen-xmp-alpha"],
            ["gen-anim-offsets", "gen-anim-oneframe", "gen-anim-shortdelays", "gen-lossy-alphalossy"],
        ])
    func conforms(_ names: [String]) async throws {
        let samples = try names.map { name in
            DecoderConformance.Sample(name: name, data: try Fixture.data("webp/\(name).webp"))
        }
        let suite = DecoderConformance(format: .webp, samples: samples)
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The WebP decoder turns every stored orientation upright")
    func turns() async throws {
        var upright = try WebPFile(fixture: "gen-lossless-alpha.webp")
        upright.extend(width: 135, height: 90, flags: WebPFile.Flag.alpha)
        var suite = DecoderConformance(format: .webp, samples: [.init(name: "lossless", data: upright.data)])
        for orientation in ImageOrientation.allCases {
            var file = upright
            file.add(exif: WebPFile.exif(orientation))
            suite.orientations[orientation] = file.data
        }
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }
}
