public import NukeCore

extension ImageFormat {
    /// JPEG (ITU-T T.81), over libjpeg-turbo.
    ///
    /// Decodes baseline and progressive files, gray, colour and CMYK, to sRGB or the embedded profile; smaller versions cost
    /// less, and progressive files have previews. 12 bits a sample and lossless files are `unsupported`.
    public static let jpeg = ImageFormat(
        name: "JPEG", type: .jpeg, mimeTypes: ["image/jpeg"], fileExtensions: ["jpg", "jpeg", "jpe", "jfif"],
        capabilities: [.decode, .encode, .progressive, .scaledDecode],
        sniff: { prefix in
            // SOI, then the first byte of the marker that must follow.
            let signature: [UInt8] = [0xFF, 0xD8, 0xFF]
            if prefix.starts(with: signature) { return .yes }
            return signature.starts(with: prefix.bytes) ? .needsMoreData : .no
        },
        makeDecoder: { ImageDecoders.JPEG(context: $0) }, makeEncoder: { ImageEncoders.JPEG(options: $0) },
        libraryVersion: { JPEGLibrary.version.map { "libjpeg-turbo \($0)" } },
        missingLibrary: { JPEGLibrary.version == nil ? JPEGLibrary.remedy : nil })
}
