import FoundationEssentials
import Maps
import NukeCore

/// Loads a data URL through the pipeline with the core alone, then looks at its own maps.
@main
enum CoreOnly {
    /// Takes anything and makes a pixel of it.
    struct PixelDecoder: ImageDecoding {
        func decode(_ data: Data) throws -> ImageContainer {
            guard let buffer = PixelBuffer(width: 1, height: 1) else { throw ImageDecodingError.unknown }
            return ImageContainer(image: buffer.freeze())
        }
    }

    static func main() async throws {
        ImageDecoderRegistry.shared.register { _ in PixelDecoder() }
        let image = try await ImagePipeline.shared.image(for: "data:;base64,AAAA")
        let foundation = [
            "libFoundation.so", "FoundationNetworking", "FoundationInternationalization", "FoundationICU",
        ]
        let codecs = ["libjpeg", "libpng", "libwebp", "libheif", "libcurl", "librsvg", "libav"]
        Maps.check(has: ["libFoundationEssentials", "libswiftCore"], lacks: foundation + codecs)
        print("CoreOnly loaded \(image.width)x\(image.height) without Foundation, ICU or a codec")
    }
}
