public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImageFormat {
    /// Windows bitmaps, read without a library.
    public static let bmp = ImageFormat(
        name: ImageDecoders.BMP.codec, type: .bmp, mimeTypes: ["image/bmp", "image/x-ms-bmp"],
        fileExtensions: ["bmp", "dib"], capabilities: [.decode, .alpha],
        sniff: { prefix in
            guard prefix.starts(with: "BM") else {
                return "BM".utf8.starts(with: prefix.bytes) ? .needsMoreData : .no
            }
            guard prefix.count >= 18 else { return .needsMoreData }
            // Two letters are no signature: the size of the header that follows must be one of those that there are.
            return BMPHeader.sizes.contains(Int(prefix.bytes.bytes.number32(at: 14))) ? .yes : .no
        },
        makeDecoder: { ImageDecoders.BMP(context: $0) })

    /// Windows icons and cursors, read without a library; pictures in them that are PNG go to the registered decoder.
    public static let ico = ImageFormat(
        name: ImageDecoders.ICO.codec, type: .ico, mimeTypes: ["image/x-icon", "image/vnd.microsoft.icon"],
        fileExtensions: ["ico", "cur"], capabilities: [.decode, .alpha],
        sniff: { prefix in
            let signatures: [[UInt8]] = [[0, 0, 1, 0], [0, 0, 2, 0]]
            guard let signature = signatures.first(where: { $0.starts(with: prefix.bytes.prefix(4)) }) else {
                return .no
            }
            guard prefix.starts(with: signature), prefix.count >= 22 else { return .needsMoreData }
            // There are pictures, a reserved byte is 0, and the first lies behind the directory.
            let bytes = prefix.bytes.bytes
            let count = bytes.number16(at: 4)
            return count > 0 && bytes.byte(at: 9) == 0 && bytes.number32(at: 18) >= UInt32(6 + 16 * count) ? .yes : .no
        },
        makeDecoder: { ImageDecoders.ICO(context: $0) })
}
