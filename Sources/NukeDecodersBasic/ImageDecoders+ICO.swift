public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageDecoders {
    /// Decodes Windows icons and cursors: of their pictures the one of most pixels, and of those the one of most bits.
    ///
    /// What the mask below a picture covers is transparent; pictures of 32 bits have alpha instead, unless all of it is
    /// nothing. A picture that is PNG goes to the decoder that `ImageDecoderRegistry.shared` has for PNG, and is unsupported
    /// without one. Where the data ends within a picture, it is an error under every truncation policy.
    public struct ICO: ImageDecoding {
        static let codec = "ICO"

        private let context: ImageDecodingContext
        private let registry: ImageDecoderRegistry

        /// Creates the decoder of one load.
        public init(context: ImageDecodingContext) { self.init(context: context, registry: .shared) }

        init(context: ImageDecodingContext, registry: ImageDecoderRegistry) {
            self.context = context
            self.registry = registry
        }

        /// What the header of the picture to show tells.
        public func properties(of data: Data) throws(ImageDecodingError) -> ImageProperties? {
            let bytes = data.bytes
            let entry = try ICODirectory(bytes, codec: Self.codec).best
            if entry.isPNG {
                let (width, height) = try Self.pngSize(bytes, entry)
                return ImageProperties(
                    type: .ico, storedWidth: width, storedHeight: height, hasAlpha: true, bitDepth: 8, colorModel: .rgb)
            }
            let header = try Self.header(bytes, entry)
            return ImageProperties(
                type: .ico, storedWidth: header.width, storedHeight: header.height, hasAlpha: true,
                bitDepth: header.bitCount <= 8 ? header.bitCount : 8,
                colorModel: header.bitCount <= 8 ? .indexed : .rgb)
        }

        /// The picture; looks at the cancellation flag and the clock every 64 rows.
        public func decode(_ data: Data) throws(ImageDecodingError) -> ImageContainer {
            try context.cancellation.check()
            let bytes = data.bytes
            let entry = try ICODirectory(bytes, codec: Self.codec).best
            if entry.isPNG { return try decodePNG(data, entry) }
            let header = try Self.header(bytes, entry)
            try context.limits.check(width: header.width, height: header.height, codec: Self.codec)
            guard var pixels = PixelBuffer(width: header.width, height: header.height) else {
                throw .outOfMemory("no memory for \(header.width)x\(header.height) pixels", codec: Self.codec)
            }
            let picture = bytes.extracting(0..<entry.range.upperBound)
            let watch = DecodingWatch(context, codec: Self.codec)
            var rows = BMPRows(header, picture, at: header.end, readsAlpha: true)
            for row in 0..<header.height {
                try watch.check(row: row)
                let isWhole = pixels.withRow(header.isTopDown ? row : header.height - 1 - row) { target in
                    rows.next(in: picture, into: &target)
                }
                guard isWhole else { throw .truncated("the data ends within row \(row)", codec: Self.codec) }
            }
            var isOpaque = rows.isOpaque
            if header.bitCount < 32 || rows.isEmpty {
                // Premultiplied by nothing, colours are lost: they are read again without alpha.
                if rows.isEmpty { Self.readOpaque(header, picture, into: &pixels) }
                isOpaque = Self.applyMask(header, picture, to: &pixels)
            }
            return try context.makeContainer(
                image: pixels.freeze(isOpaque: isOpaque), type: .ico,
                originalSize: ImageSize(width: header.width, height: header.height))
        }

        private static func readOpaque(_ header: BMPHeader, _ bytes: RawSpan, into pixels: inout PixelBuffer) {
            var rows = BMPRows(header, bytes, at: header.end)
            for row in 0..<header.height {
                pixels.withRow(header.isTopDown ? row : header.height - 1 - row) { target in
                    _ = rows.next(in: bytes, into: &target)
                }
            }
        }

        /// Makes transparent what the mask behind the picture covers, as far as it is there; says whether that is nothing.
        private static func applyMask(_ header: BMPHeader, _ bytes: RawSpan, to pixels: inout PixelBuffer) -> Bool {
            let start = header.end + header.bytesPerRow * header.height
            let bytesPerRow = (header.width + 31) / 32 * 4
            var isOpaque = true
            for row in 0..<header.height {
                let place = start + row * bytesPerRow
                guard place <= bytes.byteCount - bytesPerRow else { break }
                pixels.withRow(header.isTopDown ? row : header.height - 1 - row) { target in
                    for x in 0..<header.width where bytes.byte(at: place + x / 8) >> UInt8(7 - x % 8) & 1 == 1 {
                        target.storeBytes(of: 0, toByteOffset: x * 4, as: UInt32.self)
                        isOpaque = false
                    }
                }
            }
            return isOpaque
        }

        private static func header(
            _ bytes: RawSpan, _ entry: ICODirectory.Entry
        ) throws(ImageDecodingError) -> BMPHeader {
            let picture = bytes.extracting(0..<entry.range.upperBound)
            let header = try BMPHeader(
                picture, at: entry.range.lowerBound, pixelStart: nil, isIcon: true, codec: codec)
            guard header.packing == .plain else { throw .unsupported("an icon of run lengths", codec: codec) }
            return header
        }

        // MARK: PNG

        /// What the PNG's first chunk says.
        private static func pngSize(
            _ bytes: RawSpan, _ entry: ICODirectory.Entry
        ) throws(ImageDecodingError) -> (width: Int, height: Int) {
            guard entry.range.count >= 33 else { throw .truncated("the data ends within a PNG", codec: codec) }
            let start = entry.range.lowerBound
            let (width, height) = (
                bytes.number32(at: start + 16).byteSwapped, bytes.number32(at: start + 20).byteSwapped
            )
            guard width > 0, height > 0, width <= Int32.max, height <= Int32.max else {
                throw .corruptData("a PNG of \(width)x\(height) pixels", codec: codec)
            }
            return (Int(width), Int(height))
        }

        private func decodePNG(_ data: Data, _ entry: ICODirectory.Entry) throws(ImageDecodingError) -> ImageContainer {
            var context = context
            let start = data.startIndex
            context.data = Data(data[start + entry.range.lowerBound..<start + entry.range.upperBound])
            context.isCompleted = true
            guard let decoder = registry.format(for: .png)?.makeDecoder?(context) else {
                throw .unsupported("the picture is PNG, for which no decoder is registered", codec: Self.codec)
            }
            do {
                var container = try decoder.decode(context.data)
                container.type = .ico
                return container
            } catch let error as ImageDecodingError {
                throw error
            } catch {
                throw .corruptData("\(error)", codec: Self.codec)
            }
        }
    }
}
