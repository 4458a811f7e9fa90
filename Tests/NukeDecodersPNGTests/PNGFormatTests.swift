import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import Testing

@Suite("PNG format", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGFormatTests {
    private let data = PNGFile(SamplePicture(colorType: 2, depth: 8)).data

    @Test("the format tells its names and what it can do")
    func description() {
        let format = ImageFormat.png
        #expect(format.name == "PNG" && format.type == .png)
        #expect(format.mimeTypes == ["image/png", "image/apng"])
        #expect(format.fileExtensions == ["png", "apng"])
        #expect(
            format.capabilities == [
                .decode, .encode, .progressive, .animation, .animationEncoding, .scaledDecode, .alpha,
            ])
    }

    @Test("the running library tells its version")
    func version() throws {
        let version = try #require(ImageFormat.png.libraryVersion())
        #expect(version.hasPrefix("libpng 1."))
        #expect(version.dropFirst(7).split(separator: ".").count == 3)
    }

    @Test("the registry finds the decoder by the first bytes, and the encoder by the type")
    func registry() throws {
        let registry = ImageDecoderRegistry()
        registry.register(.png)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        let decoder = try #require(registry.decoder(for: context))
        #expect(decoder is ImageDecoders.PNG)
        #expect(decoder.isAsynchronous)
        #expect(try decoder.decode(data).image.width == 11)
        #expect(ImageFormat.png.makeEncoder?(ImageEncodingOptions()) is ImageEncoders.PNG)
        let other = ImageDecodingContext(request: ImageRequest(url: nil), data: Data("GIF89a".utf8))
        #expect(registry.decoder(for: other) == nil)
    }

    @Test("fewer than eight bytes of the signature need more data [AST-04]")
    func partialSignature() throws {
        let registry = ImageDecoderRegistry()
        registry.register(.png)
        for count in 0...8 {
            for isCompleted in [false, true] {
                let context = ImageDecodingContext(
                    request: ImageRequest(url: nil), data: data.prefix(count), isCompleted: isCompleted)
                #expect((registry.decoder(for: context) != nil) == (count == 8), "\(count) bytes")
            }
        }
    }

    @Test("there are no previews of partial data [PRG-34]")
    func noPreviews() throws {
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data, isCompleted: false)
        #expect(try ImageDecoders.PNG(context: context).decodePartiallyDownloadedData(data.dropLast(20)) == nil)
    }
}
