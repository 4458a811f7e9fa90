public import NukeCore

extension ImageFormat {
    /// Pix: `ImageDecoderRegistry.shared.register(.pix)`, at startup.
    public static let pix = ImageFormat(
        name: "Pix", type: .pix, mimeTypes: ["image/x-pix"], fileExtensions: ["pix"],
        capabilities: [.decode, .encode, .progressive, .alpha],
        sniff: { prefix in
            if prefix.starts(with: PixHeader.signature) { return .yes }
            // A few bytes may be the start of the signature.
            return PixHeader.signature.starts(with: prefix.bytes) ? .needsMoreData : .no
        },
        makeDecoder: { PixDecoder(context: $0) },
        makeEncoder: { _ in PixEncoder() })
}

extension AssetType {
    /// Pix.
    public static let pix: AssetType = "org.example.pix"
}
