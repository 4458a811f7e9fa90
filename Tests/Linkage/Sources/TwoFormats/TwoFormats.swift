import FoundationEssentials
import Maps
import NukeCore
import NukeDecodersGIF
import NukeDecodersPNG

/// Loads the PNG named on the command line, and a GIF, with the core and the plugins of these two formats.
@main
enum TwoFormats {
    static func main() async throws {
        ImageDecoderRegistry.shared.register(.png, .gif)
        let path = CommandLine.arguments.dropFirst().first ?? ""
        let png = try await ImagePipeline.shared.image(for: URL(filePath: path))
        // One transparent pixel.
        let gif = try await ImagePipeline.shared.image(
            for: "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
        Maps.check(
            has: ["libpng"],
            lacks: ["libjpeg", "libwebp", "libheif", "libcurl", "libav", "librsvg", "libFoundation.so"])
        print("TwoFormats loaded \(png.width)x\(png.height) and \(gif.width)x\(gif.height)")
    }
}
