import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeDecodersHEIF
import NukeDecodersJPEG
import NukeDecodersPNG
import NukeDecodersWebP
import NukeTestKit
import Testing

@Suite("Encoder conformance", .timeLimit(.minutes(5)))
struct EncoderConformanceTests {
    private func suite(_ fault: RawFormat.Fault?) -> EncoderConformance {
        var suite = EncoderConformance(format: RawFormat.format(fault))
        suite.minimumPSNR = .infinity
        suite.features = [.profiles, .metadata]
        suite.largestSide = RawFormat.largestSide
        return suite
    }

    @Test("A sound encoder has no violations")
    func sound() async {
        let violations = await suite(nil).violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("An encoder with a fault has a violation of the check that is for it", arguments: RawFormat.Fault.allCases)
    func faulty(_ fault: RawFormat.Fault) async {
        let violations = await suite(fault).violations()
        #expect(violations.contains { $0.check == fault.check }, "\(violations)")
        #expect(violations.allSatisfy { EncoderConformance.checks.contains($0.check) })
    }

    @Test("Every check has a faulty encoder that it finds")
    func everyCheck() {
        #expect(Set(EncoderConformance.checks) == Set(RawFormat.Fault.allCases.map(\.check)))
    }

    @Test("A format without an encoder, or without a decoder to check it with, fails")
    func noEncoder() async {
        let format = ImageFormat(
            name: "None", type: "org.example.none", mimeTypes: [], fileExtensions: [], capabilities: [],
            sniff: { _ in .no })
        #expect(await EncoderConformance(format: format).violations().map(\.check) == ["encoder"])
    }
}

@Suite("Bundled encoders", .timeLimit(.minutes(5)))
struct BundledEncoderTests {
    @Test("The encoder of PNG keeps the promises of an encoder", .enabled(if: ImageFormat.png.missingLibrary() == nil))
    func png() async {
        var suite = EncoderConformance(format: .png)
        suite.minimumPSNR = .infinity
        suite.features = [.profiles, .metadata]
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The encoder of JPEG keeps them", .enabled(if: ImageFormat.jpeg.missingLibrary() == nil))
    func jpeg() async {
        var suite = EncoderConformance(format: .jpeg)
        suite.features = [.profiles, .metadata]
        suite.largestSide = 65_500
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The encoder of GIF keeps them")
    func gif() async {
        var suite = EncoderConformance(format: .gif)
        // 256 colours.
        suite.minimumPSNR = 28
        suite.isAlphaBinary = true
        suite.largestSide = 65_535
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The encoder of WebP keeps them, lossy and lossless", .enabled(if: ImageFormat.webp.missingLibrary() == nil))
    func webp() async {
        var suite = EncoderConformance(format: .webp)
        suite.minimumPSNR = 25
        suite.features = [.profiles, .metadata]
        suite.largestSide = 16_383
        let lossy = await suite.violations()
        #expect(lossy.map(\.description) == [])
        suite.minimumPSNR = .infinity
        suite.options.quality = 1
        suite.largestSide = nil
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    @Test("The encoders of HEIC and AVIF keep them", arguments: [AssetType.heic, .avif])
    func heif(_ type: AssetType) async throws {
        let format: ImageFormat = type == .avif ? .avif : .heic
        guard canEncode(format) else { return }
        var suite = EncoderConformance(format: format)
        suite.features = [.profiles, .metadata]
        let violations = await suite.violations()
        #expect(violations.map(\.description) == [])
    }

    /// Libraries may lack the part that encodes, which the plugin's own tests are for.
    private func canEncode(_ format: ImageFormat) -> Bool {
        guard let buffer = PixelBuffer(width: 8, height: 8), let encoder = format.makeEncoder?(.init()) else {
            return false
        }
        let image = buffer.freeze()
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        do {
            _ = try encoder.encodedData(for: ImageContainer(image: image), context: context)
            return true
        } catch {
            return (error as? ImageEncodingError)?.code != .missingCodec
        }
    }
}
