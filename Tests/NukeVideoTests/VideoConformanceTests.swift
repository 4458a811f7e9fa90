import FoundationEssentials
import NukeCore
import NukeTestKit
import NukeTestSupport
import NukeVideo
import Testing

@Suite("Video conformance", .needsLibrary, .timeLimit(.minutes(5)))
struct VideoConformanceTests {
    private static func samples(_ format: ImageFormat) throws -> [DecoderConformance.Sample] {
        let suffix =
            switch format.type {
            case .mov: "mov"
            case .webm: "webm"
            case .mkv: "mkv"
            default: "mp4"
            }
        // Smooth ones: an edge in the middle of a picture can't be in both halves of a smaller one of an odd number of columns.
        let names = ["gen-smooth.\(suffix)", "gen-smooth-tall.\(suffix)"]
        return try names.map { name in
            var data = try VideoUnderTest.data(name)
            // There is no encoder that writes this brand alone.
            if format.type == .m4v { data.replaceSubrange(8..<12, with: Data("M4V ".utf8)) }
            return .init(name: name, data: data)
        }
    }

    @Test("the decoders keep the promises of a decoder", arguments: VideoUnderTest.formats)
    func conforms(_ format: ImageFormat) async throws {
        let suite = DecoderConformance(format: format, samples: try Self.samples(format))
        let violations = await suite.violations().map(\.description)
        #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
    }
}
