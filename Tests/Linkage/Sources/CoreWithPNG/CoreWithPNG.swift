import FoundationEssentials
import Maps
import NukeCore
import NukeDecodersPNG

/// Loads the PNG named on the command line with the core and one plugin.
@main
enum CoreWithPNG {
    static func main() async throws {
        ImageDecoderRegistry.shared.register(.png)
        let path = CommandLine.arguments.dropFirst().first ?? ""
        let image = try await ImagePipeline.shared.image(for: URL(filePath: path))
        Maps.check(has: ["libpng"], lacks: ["libjpeg", "libcurl", "libFoundation.so"])
        print("CoreWithPNG loaded \(image.width)x\(image.height)")
    }
}
