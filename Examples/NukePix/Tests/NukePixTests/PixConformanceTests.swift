import NukeCore
import NukePix
import NukeTestKit
import Testing

@Suite("Pix conformance", .timeLimit(.minutes(5)))
struct PixConformanceTests {
    @Test("The decoder keeps the promises of a decoder")
    func decoder() async {
        let suite = DecoderConformance(
            format: .pix,
            samples: [
                .init(name: "wide", data: TestPictures.file(150, 70)),
                .init(name: "translucent", data: TestPictures.file(33, 40, alpha: 100, blue: 255)),
                .init(name: "one pixel", data: TestPictures.file(1, 1)),
            ])
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The encoder keeps the promises of an encoder")
    func encoder() async {
        var suite = EncoderConformance(format: .pix)
        suite.minimumPSNR = .infinity
        suite.largestSide = 65_535
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }
}
