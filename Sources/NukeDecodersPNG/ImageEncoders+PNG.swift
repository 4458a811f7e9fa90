public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes PNG without loss: opaque pictures as RGB, others as RGBA with the alpha divided out, gray ones as gray.
    ///
    /// Pixels of 16 bits a sample stay so. The ICC profile of the bitmap is stored, if it is sound, and the EXIF data
    /// of a container that has it; nothing else is, so equal containers give equal bytes. Decoding gives back the very pixels of an 8-bit bitmap.
    public struct PNG: ImageEncoding {
        private let isInterlaced: Bool

        /// Creates an encoder; of the options, `isProgressive` asks for Adam7, and those of lossy formats don't count.
        public init(options: ImageEncodingOptions = ImageEncodingOptions()) { isInterlaced = options.isProgressive }

        /// The bytes of a file; nil if libpng is missing or fails, of which `encodedData(for:context:)` tells more.
        public func encode(_ image: PlatformImage) -> Data? { try? data(of: image, metadata: nil) }

        /// The bytes of a file.
        ///
        /// Throws `missingCodec` without libpng and `failed` if it gives up, as when there is no memory.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            try data(of: container.image, metadata: container.metadata)
        }

        private func data(of image: Bitmap, metadata: ImageMetadata?) throws(ImageEncodingError) -> Data {
            // SAFETY: whatever bytes are written through the span are samples of the row.
            let channels = image.format == .gray8 ? 1 : image.isOpaque ? 3 : 4
            let layout = PNGWriter.Layout(
                width: image.width, height: image.height, channels: channels,
                bitDepth: image.format.bitsPerChannel, isInterlaced: isInterlaced)
            let writer = try PNGWriter(layout, profile: image.colorSpace.iccProfile, exif: metadata?.exif)
            var scratch = [UInt8](repeating: 0, count: image.format == .gray8 ? 0 : layout.bytesPerRow)
            for _ in 0..<writer.passCount {
                for y in 0..<image.height {
                    if image.format == .gray8 {
                        try writer.writeRow(image.row(y))
                        continue
                    }
                    var span = scratch.mutableSpan
                    var target = unsafe span.mutableBytes
                    Self.convert(image.row(y), of: image, into: &target)
                    try writer.writeRow(target.bytes)
                }
            }
            return try writer.finish()
        }

        private static func convert(_ row: RawSpan, of image: Bitmap, into target: inout MutableRawSpan) {
            switch (image.format, image.isOpaque) {
            case (.rgba16, true): RowConversion.dropAlpha(row, into: &target, as: UInt16.self)
            case (.rgba16, false): RowConversion.unpremultiply(row, into: &target, as: UInt16.self)
            case (_, true): RowConversion.dropAlpha(row, into: &target, as: UInt8.self)
            case (_, false): RowConversion.unpremultiply(row, into: &target, as: UInt8.self)
            }
        }
    }
}
