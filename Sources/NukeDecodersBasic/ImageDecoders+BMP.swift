public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes Windows bitmaps, and OS/2's: 1 to 32 bits, indices, run lengths, bit fields with alpha, either way up.
    ///
    /// What run lengths leave out has the palette's first colour; indices beyond the palette are black. The fourth byte of
    /// plain pixels of 32 bits means nothing. Where the data ends within the picture, it is an error, unless the context's
    /// truncation policy is lenient: then the rows that are there are the image, marked by `isTruncatedKey`. JPEG and PNG
    /// within a bitmap, and OS/2's other ways to pack, are unsupported. An ICC profile becomes the colour space.
    public struct BMP: ImageDecoding {
        static let codec = "BMP"

        private let context: ImageDecodingContext

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.context = context }

        /// What the header tells.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let (header, _) = try header(data.bytes)
            return ImageProperties(
                type: .bmp, storedWidth: header.width, storedHeight: header.height, hasAlpha: header.hasAlpha,
                bitDepth: header.bitCount <= 8 ? header.bitCount : 8,
                colorModel: header.bitCount <= 8 ? .indexed : .rgb, hasICCProfile: header.profile != nil)
        }

        /// The picture; looks at the cancellation flag and the clock every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            let bytes = data.bytes
            let (header, pixelStart) = try header(bytes)
            try context.limits.check(width: header.width, height: header.height, codec: Self.codec)
            guard pixelStart < bytes.byteCount else {
                throw .truncated("the data ends before the picture begins", codec: Self.codec)
            }
            guard var pixels = PixelBuffer(width: header.width, height: header.height) else {
                throw .outOfMemory("no memory for \(header.width)x\(header.height) pixels", codec: Self.codec)
            }
            let watch = DecodingWatch(context, codec: Self.codec)
            var rows = BMPRows(header, bytes, at: pixelStart)
            var missingRow: Int?
            for row in 0..<header.height {
                try watch.check(row: row)
                let isWhole = pixels.withRow(header.isTopDown ? row : header.height - 1 - row) { target in
                    rows.next(in: bytes, into: &target)
                }
                if !isWhole {
                    missingRow = row
                    break
                }
            }
            if let missingRow, context.truncationPolicy == .strict || missingRow == 0 {
                throw .truncated("the data ends within row \(missingRow)", codec: Self.codec)
            }
            let isOpaque = rows.isOpaque && missingRow == nil
            let image = pixels.freeze(isOpaque: isOpaque, colorSpace: colorSpace(header, data))
            var container = try context.makeContainer(
                image: image, type: .bmp, originalSize: ImageSize(width: header.width, height: header.height))
            if missingRow != nil { container.userInfo[.isTruncatedKey] = true }
            return container
        }

        /// The header, and where the pixels are.
        private func header(_ bytes: RawSpan) throws(ImageDecodingError) -> (BMPHeader, pixelStart: Int) {
            guard bytes.byteCount >= 2 else { throw .truncated("the data ends within the header", codec: Self.codec) }
            guard bytes.byte(at: 0) == UInt8(ascii: "B"), bytes.byte(at: 1) == UInt8(ascii: "M") else {
                throw .corruptData("there is no signature", codec: Self.codec)
            }
            guard bytes.byteCount >= 18 else { throw .truncated("the data ends within the header", codec: Self.codec) }
            let pixelStart = Int(bytes.number32(at: 10))
            let header = try BMPHeader(bytes, at: 14, pixelStart: pixelStart, codec: Self.codec)
            guard pixelStart >= header.palette.lowerBound else {
                throw .corruptData("the pixels lie within the header", codec: Self.codec)
            }
            return (header, pixelStart)
        }

        private func colorSpace(_ header: BMPHeader, _ data: Data) -> ColorSpace {
            guard let range = header.profile, range.count <= context.limits.metadataBytes else { return .sRGB }
            let start = data.startIndex
            let profile = Data(data[start + range.lowerBound..<start + range.upperBound])
            return ColorSpace(iccProfile: profile, for: .rgba8) ?? .sRGB
        }
    }
}
