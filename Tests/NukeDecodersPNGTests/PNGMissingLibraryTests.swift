import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips what needs libpng where the package was built without it.
    static var needsLibrary: Self {
        .enabled(if: ImageFormat.png.libraryVersion() != nil, "libpng was not there when the package was built")
    }
}

@Suite(
    "PNG without libpng",
    .disabled(if: ImageFormat.png.libraryVersion() != nil, "libpng is there"), .timeLimit(.minutes(5)))
struct PNGMissingLibraryTests {
    @Test("decoding tells which package to install")
    func decoding() {
        let error = Decoding.error(PNGFile(SamplePicture(colorType: 2, depth: 8)).data)
        #expect(error?.code == .missingCodec)
        #expect(error?.reason.contains("libpng-dev") == true)
    }

    @Test("encoding tells which package to install")
    func encoding() throws {
        guard let buffer = PixelBuffer(width: 1, height: 1) else { throw ImageProcessingError.outOfMemory }
        let image = buffer.freeze()
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        #expect(throws: ImageEncodingError.missingCodec("", codec: "PNG")) {
            try ImageEncoders.PNG().encodedData(for: ImageContainer(image: image), context: context)
        }
        #expect(ImageEncoders.PNG().encode(image) == nil)
    }

    @Test("the header is told all the same")
    func properties() throws {
        #expect(try Decoding.properties(PNGFile(SamplePicture(colorType: 2, depth: 8)).data)?.width == 11)
    }
}
