public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageFormat {
    /// HEIF pictures coded with HEVC, over libheif, which is opened at first use.
    ///
    /// Decodes pictures, grids and overlays of 8 to 16 bits with and without alpha to 8 bits; of a sequence the still picture.
    /// Encodes where libheif has an encoder for HEVC.
    public static let heic = make(
        name: "HEIC", type: .heic,
        mimeTypes: ["image/heic", "image/heif", "image/heic-sequence", "image/heif-sequence"],
        fileExtensions: ["heic", "heif", "hif", "heics"])

    /// HEIF pictures coded with AV1, over libheif, which is opened at first use.
    ///
    /// Decodes pictures and grids of 8 to 12 bits with and without alpha to 8 bits; of a sequence the still picture. Encodes
    /// where libheif has an encoder for AV1.
    public static let avif = make(
        name: "AVIF", type: .avif, mimeTypes: ["image/avif", "image/avif-sequence"], fileExtensions: ["avif", "avifs"])

    private static func make(
        name: String, type: AssetType, mimeTypes: [String], fileExtensions: [String]
    ) -> ImageFormat {
        ImageFormat(
            name: name, type: type, mimeTypes: mimeTypes, fileExtensions: fileExtensions,
            capabilities: [.decode, .encode, .scaledDecode, .alpha],
            sniff: { prefix in
                switch HEIFBrand.answer(for: prefix.bytes, isComplete: prefix.isComplete) {
                case .type(let found): found == type ? .yes : .no
                case .other: .no
                case .needsMoreData: .needsMoreData
                }
            },
            previewPolicy: { HEIFContainer($0.bytes)?.thumbnailRange == nil ? .disabled : .thumbnail },
            makeDecoder: { ImageDecoders.HEIF(context: $0) },
            makeEncoder: { ImageEncoders.HEIF(type: type, options: $0) },
            // As built against: telling a version is no reason to open the library, which takes 3 ms and 6 MB.
            libraryVersion: { HEIFLibrary.headerVersion.map { "libheif " + $0 } },
            missingLibrary: { HEIFLibrary.shared.lack(forReadingAndWriting: type) })
    }
}
