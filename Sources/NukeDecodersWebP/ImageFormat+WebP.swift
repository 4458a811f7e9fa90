public import NukeCore

extension ImageFormat {
    /// WebP (RFC 9649), over libwebp.
    ///
    /// Decodes lossy and lossless pictures with and without alpha, and animations; smaller versions cost less, and still
    /// pictures have previews. Encodes both, lossy and lossless.
    public static let webp = ImageFormat(
        name: ImageDecoders.WebP.codec, type: .webp, mimeTypes: ["image/webp"], fileExtensions: ["webp"],
        capabilities: [.decode, .encode, .progressive, .animation, .animationEncoding, .scaledDecode, .alpha],
        sniff: { prefix in
            if prefix.starts(with: "RIFF"), prefix.starts(with: "WEBP", at: 8) { return .yes }
            let isBegun = Array("RIFF".utf8).starts(with: prefix.bytes.prefix(4))
            let rest = Array("WEBP".utf8).starts(with: prefix.bytes.dropFirst(8))
            return isBegun && rest && prefix.count < 12 ? .needsMoreData : .no
        },
        makeDecoder: { ImageDecoders.WebP(context: $0) }, makeEncoder: { ImageEncoders.WebP(options: $0) },
        libraryVersion: { WebPLibrary.version.map { "libwebp \($0)" } },
        missingLibrary: { WebPLibrary.version == nil ? WebPLibrary.remedy : nil })
}
