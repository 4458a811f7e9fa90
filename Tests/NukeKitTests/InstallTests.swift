import FoundationEssentials
import GeneratedImages
import NukeKit
import NukeTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct InstallTests {
    @Test("installing registers every format and loader, at the end, and twice is once")
    func install() {
        NukeKit.install()
        NukeKit.install()
        NukeKit.install(.web)
        let types = ImageDecoderRegistry.shared.formats.map(\.type)
        let sequences: [AssetType] = ["public.avis", "public.heics"]
        let videos: [AssetType] = [.mp4, .m4v, .mov, .webm, .mkv]
        #expect(types == [.jpeg, .png, .gif, .webp] + sequences + [.heic, .avif] + videos + [.svg])
        #expect(DataLoaderRegistry.shared.loader(for: "https") is CurlLoader)
        #expect(DataLoaderRegistry.shared.loader(for: "HTTP") is CurlLoader)
    }

    @Test(
        "what is decoded and encoded sniffs back to its own type [AST-21]",
        arguments: [ImageFormat.jpeg, .png, .webp, .heic, .avif])
    func formatsSniffBack(format: ImageFormat) throws {
        let image = GeneratedImage.photo(width: 40, height: 30, seed: 1)
        let encoder = try #require(format.makeEncoder?(ImageEncodingOptions()))
        let data = try #require(encoder.encode(image))
        #expect(AssetType(data) == format.type)
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        let container = try #require(format.makeDecoder?(context)).decode(data)
        #expect(container.type == format.type && container.image.width == 40)
    }

    @Test("every format says what it is made of, and every library has a version")
    func formats() {
        for format in [ImageFormat.jpeg, .png, .webp, .heic, .avif] {
            #expect(!format.mimeTypes.isEmpty && !format.fileExtensions.isEmpty && format.libraryVersion() != nil)
            #expect(format.capabilities.contains([.decode, .encode, .scaledDecode]))
            #expect(format.type.decoderProduct != nil)
        }
    }
}
