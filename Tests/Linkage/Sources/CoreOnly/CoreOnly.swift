import FoundationEssentials
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
        let maps = try String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)
        let unwanted =
            ["libFoundation.so", "FoundationNetworking", "FoundationInternationalization", "_FoundationICU"]
            + ["libjpeg", "libpng", "libwebp", "libheif", "libcurl", "librsvg", "libav"]
        let found = unwanted.filter { maps.contains($0) }
        guard found.isEmpty, maps.contains("libFoundationEssentials") else {
            print("CoreOnly has loaded \(found)")
            throw CancellationError()
        }
        print("CoreOnly loaded \(image.width)x\(image.height) without Foundation, ICU or a codec")
    }
}
