public import NukeCore

extension ImageFormat {
    /// GIF 87a and 89a, stills and animations, without a library.
    ///
    /// Pictures that are not interlaced are reduced row by row while they are decoded, so a thumbnail never holds the
    /// whole.
    public static let gif = ImageFormat(
        name: ImageDecoders.GIF.codec, type: .gif, mimeTypes: ["image/gif"], fileExtensions: ["gif"],
        capabilities: [.decode, .encode, .progressive, .animation, .animationEncoding, .scaledDecode, .alpha],
        sniff: { prefix in
            for signature in GIFHeader.signatures {
                if prefix.starts(with: signature) { return .yes }
                if signature.starts(with: prefix.bytes) { return .needsMoreData }
            }
            return .no
        },
        makeDecoder: { ImageDecoders.GIF(context: $0) },
        makeEncoder: { ImageEncoders.GIF(options: $0) })
}
