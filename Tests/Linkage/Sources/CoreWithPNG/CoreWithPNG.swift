import FoundationEssentials
import NukeCore
import NukeDecodersPNG

/// Loads the PNG named on the command line with the core and one plugin.
@main
enum CoreWithPNG {
    static func main() async throws {
        ImageDecoderRegistry.shared.register(.png)
        let path = CommandLine.arguments.dropFirst().first ?? ""
        let image = try await ImagePipeline.shared.image(for: URL(filePath: path))
        let maps = try String(contentsOf: URL(filePath: "/proc/self/maps"), encoding: .utf8)
        let found = ["libjpeg", "libcurl", "libFoundation.so"].filter { maps.contains($0) }
        guard found.isEmpty, maps.contains("libpng") else {
            print("CoreWithPNG has loaded \(found)")
            throw CancellationError()
        }
        print("CoreWithPNG loaded \(image.width)x\(image.height)")
    }
}
