import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("PNG conformance", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGConformanceTests {
    @Test("the PNG decoder keeps the promises of a decoder")
    func conforms() async throws {
        let names = [
            "gen-pal8-trns", "gen-gray16", "gen-rgba8-interlaced", "gen-rgb8-trns", "gen-1x31", "gen-exif-o6",
            "gen-iccp-p3", "gen-rgba16-interlaced",
        ]
        let samples = try names.map { DecoderConformance.Sample(name: $0, data: try Fixture.data("png/\($0).png")) }
        let larger = PNGFile(SamplePicture(width: 201, height: 140, colorType: 2, depth: 8)).data
        let suite = DecoderConformance(format: .png, samples: samples + [.init(name: "larger", data: larger)])
        #expect(await suite.violations().map(\.description) == [])
    }

    @Test("the PNG decoder turns every stored orientation upright")
    func turns() async throws {
        let picture = SamplePicture(width: 40, height: 24, colorType: 2, depth: 8)
        func file(_ orientation: Int) -> Data {
            PNGFile(picture, before: [PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: orientation).bytes)])
                .data
        }
        var suite = DecoderConformance(format: .png, samples: [.init(name: "upright", data: file(1))])
        for orientation in ImageOrientation.allCases { suite.orientations[orientation] = file(orientation.rawValue) }
        #expect(await suite.violations().map(\.description) == [])
    }
}
