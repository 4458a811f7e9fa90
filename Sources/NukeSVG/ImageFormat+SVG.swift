public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageFormat {
    /// Scalable Vector Graphics over librsvg, which is opened at first use; compressed ones too.
    public static let svg = svg(ImageDecoders.SVG.Options())

    /// The same, drawn with options.
    public static func svg(_ options: ImageDecoders.SVG.Options) -> ImageFormat {
        ImageFormat(
            name: "SVG", type: .svg, mimeTypes: ["image/svg+xml"], fileExtensions: ["svg", "svgz"],
            capabilities: [.decode, .scaledDecode, .alpha],
            sniff: { SVGSniffer.answer(for: $0.bytes, isComplete: $0.isComplete) },
            makeDecoder: { ImageDecoders.SVG(context: $0, options: options) },
            // Telling a version is no reason to open the library, which takes 6 ms.
            libraryVersion: { SVGLibrary.versionText }, missingLibrary: { SVGLibrary.shared.defect })
    }
}
