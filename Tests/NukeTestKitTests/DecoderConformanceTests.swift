import NukeCore
import NukeTestKit
import Testing

/// The suite itself: it passes a sound decoder and finds what others do wrong.
@Suite("Decoder conformance", .timeLimit(.minutes(5)), .serialized)
struct DecoderConformanceTests {
    private func suite(_ fault: PixDecoder.Fault?) -> DecoderConformance {
        var suite = DecoderConformance(
            format: PixDecoder.format(fault),
            samples: [
                .init(name: "wide", data: PixDecoder.file(width: 72, height: 20)),
                .init(name: "tall", data: PixDecoder.file(width: 21, height: 30, shade: 200)),
                .init(name: "large", data: PixDecoder.file(width: 66, height: 64, shade: 100)),
            ])
        for orientation in ImageOrientation.allCases {
            suite.orientations[orientation] = PixDecoder.file(width: 20, height: 12, orientation: orientation)
        }
        suite.mutationCount = 24
        suite.cutCount = 8
        suite.patience = 0.05
        return suite
    }

    @Test("A sound decoder has no violations")
    func sound() async {
        let violations = await suite(nil).violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("A decoder with a fault has a violation of the check that is for it", arguments: PixDecoder.Fault.allCases)
    func faulty(_ fault: PixDecoder.Fault) async {
        let violations = await suite(fault).violations()
        PixDecoder.cleanUp()
        #expect(violations.contains { $0.check == fault.check }, "\(violations)")
        #expect(violations.allSatisfy { DecoderConformance.checks.contains($0.check) })
    }

    @Test("Every check has a faulty decoder that it finds")
    func everyCheck() {
        let found = Set(PixDecoder.Fault.allCases.map(\.check)).union(["samples"])
        #expect(Set(DecoderConformance.checks) == found)
    }

    @Test("A suite without samples fails")
    func noSamples() async {
        let violations = await DecoderConformance(format: PixDecoder.format(), samples: []).violations()
        #expect(violations.map(\.check) == ["samples"])
    }

    @Test("A sample that does not decode is a violation")
    func badSample() async {
        let sample = DecoderConformance.Sample(name: "bad", data: PixDecoder.file(width: 0, height: 4))
        let violations = await DecoderConformance(format: PixDecoder.format(), samples: [sample]).violations()
        #expect(violations.contains { $0.check == "samples" && $0.message.contains("bad: does not decode") })
    }
}
