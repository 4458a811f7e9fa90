public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageFormat {
    /// PNG over libpng: decodes every colour type and depth, encodes gray, RGB and RGBA of 8 and 16 bits, and animations.
    ///
    /// Pictures that are not interlaced are reduced row by row while they are decoded, so a thumbnail never holds the
    /// whole. Of an animated PNG the image is the still picture. Interlaced pictures have previews.
    public static let png = ImageFormat(
        name: ImageDecoders.PNG.codec, type: .png, mimeTypes: ["image/png", "image/apng"],
        fileExtensions: ["png", "apng"],
        capabilities: [.decode, .encode, .progressive, .animation, .animationEncoding, .scaledDecode, .alpha],
        sniff: { prefix in
            if prefix.starts(with: PNGHeader.signature) { return .yes }
            return PNGHeader.signature.starts(with: prefix.bytes) ? .needsMoreData : .no
        },
        previewPolicy: { PNGHeader.declaresPasses($0.bytes) ? .incremental : .disabled },
        makeDecoder: { ImageDecoders.PNG(context: $0) },
        makeEncoder: { ImageEncoders.PNG(options: $0) },
        libraryVersion: { PNGLibrary.version }, missingLibrary: { PNGLibrary.defect })
}
