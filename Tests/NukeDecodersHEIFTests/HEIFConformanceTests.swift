import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("HEIF conformance", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFConformanceTests {
    @Test("the decoders keep the promises of a decoder", arguments: [ImageFormat.heic, .avif])
    func conforms(_ format: ImageFormat) async throws {
        let alpha = try Picture.make(48, 40, isOpaque: false) { x, y in
            [x, y, 20, 55 + x + y].map { $0 * 3 / 2 }
        }
        let samples = [
            ("gradient", try Picture.gradient(200, 144)), ("small", try Picture.gradient(31, 17)), ("alpha", alpha),
        ]
        let suite = DecoderConformance(
            format: format,
            samples: try samples.map { .init(name: $0.0, data: try HEIFUnderTest.encoded($0.1, format.type)) })
        #expect(await suite.violations().map(\.description) == [])
    }

    @Test("a decode leaves the thread the processors that it had, also where it fails", arguments: HEIFUnderTest.types)
    func processors(_ type: AssetType) throws {
        let count = Processors.countForThread
        let file = try HEIFUnderTest.encoded(try Picture.gradient(64, 64), type)
        #expect(try HEIFUnderTest.image(file).width == 64 && Processors.countForThread == count)
        _ = HEIFUnderTest.error(file.dropLast(60) + Data(count: 60))
        #expect(Processors.countForThread == count)
    }
}
