import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips what needs libwebp where the package was built without it.
    static var needsLibrary: Self {
        .enabled(if: ImageFormat.webp.libraryVersion() != nil, "libwebp was not there when the package was built")
    }
}

@Suite(
    "WebP without libwebp",
    .disabled(if: ImageFormat.webp.libraryVersion() != nil, "libwebp is there"), .timeLimit(.minutes(5)))
struct WebPMissingLibraryTests {
    @Test("Decoding tells which package to install", arguments: ["gen-lossy", "gen-lossless", "gen-anim-offsets"])
    func decoding(_ name: String) throws {
        let data = try Fixture.data("webp/\(name).webp")
        let error = #expect(throws: ImageDecodingError.self) { try WebPUnderTest.decode(data) }
        #expect(error?.code == .missingCodec && error?.reason.contains("libwebp-dev") == true)
    }

    @Test("Encoding tells which package to install")
    func encoding() throws {
        let image = try Picture.flat([1, 2, 3, 255], width: 2, height: 2)
        let error = #expect(throws: ImageEncodingError.self) { try Picture.encode(image) }
        #expect(error?.code == .missingCodec && error?.reason.contains("libwebp-dev") == true)
        #expect(ImageEncoders.WebP().encode(image) == nil)
    }

    @Test("The header is told all the same")
    func properties() throws {
        #expect(try WebPUnderTest.properties(Fixture.data("webp/gen-anim-offsets.webp"))?.frameCount == 6)
    }
}
