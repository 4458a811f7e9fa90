public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes HEIC or AVIF files of 8 bits a sample, where libheif has an encoder for what codes them.
    ///
    /// Pictures that are not opaque have their alpha stored beside colours it is divided out of; 16 bits a sample become
    /// 8. The image's ICC profile is written, or code points that name sRGB, and the EXIF data of a container that has it.
    /// Encoders work on one thread, so the same container gives the same bytes each time.
    public struct HEIF: ImageEncoding {
        private let type: AssetType
        private let options: ImageEncodingOptions
        private let library: HEIFLibrary

        /// Creates an encoder; `type` is `.heic`, or `.avif`, as everything else counts.
        ///
        /// Of the options, quality 0…1 becomes the library's 0…100, and `isProgressive` doesn't count.
        public init(type: AssetType = .avif, options: ImageEncodingOptions = ImageEncodingOptions()) {
            self.init(type: type, options: options, library: .shared)
        }

        init(type: AssetType, options: ImageEncodingOptions = ImageEncodingOptions(), library: HEIFLibrary) {
            self.type = type == .heic ? .heic : .avif
            self.options = options
            self.library = library
        }

        /// The file; nil if it can't be made, of which `encodedData(for:context:)` tells more.
        public func encode(_ image: PlatformImage) -> Data? { try? data(of: image, metadata: nil) }

        /// The file.
        ///
        /// Throws `missingCodec` where libheif or its encoder is missing, `unsupported` or `failed` if that gives up.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            try data(of: container.image, metadata: container.metadata)
        }

        private func data(of image: Bitmap, metadata: ImageMetadata?) throws(ImageEncodingError) -> Data {
            let channels = image.format == .gray8 ? 1 : image.isOpaque ? 3 : 4
            let writer = try HEIFWriter(
                HEIFWriter.Parameters(
                    type: type, width: image.width, height: image.height, channels: channels, quality: quality,
                    isChromaHalved: options.chromaSubsampling == .half, profile: image.colorSpace.iccProfile),
                library: library, codec: type == .avif ? "AVIF" : "HEIC")
            for y in 0..<image.height {
                writer.withRow(y) { StraightRow.write(image.row(y), of: image.format, channels: channels, into: &$0) }
            }
            return try writer.finish(exif: metadata?.exif)
        }

        /// 0…100; what is not a number counts as 0.
        private var quality: Int {
            let fraction = options.quality > 0 ? min(options.quality, 1) : 0
            return Int((fraction * 100).rounded())
        }
    }
}

/// Brings rows of bitmaps to the form in which libheif takes them.
private enum StraightRow {
    /// Writes a row with its alpha divided out, or left out where there are three channels; samples become 8 bits.
    static func write(_ row: RawSpan, of format: PixelFormat, channels: Int, into target: inout MutableRawSpan) {
        let count = target.byteCount / channels
        guard format != .gray8 else {
            for x in 0..<count { target.storeBytes(of: row.sample(x, of: format), toByteOffset: x, as: UInt8.self) }
            return
        }
        for x in 0..<count {
            let alpha = UInt32(row.sample(x * 4 + 3, of: format))
            for channel in 0..<channels {
                let sample = UInt32(row.sample(x * 4 + channel, of: format))
                let isColor = channel < 3 && channels == 4 && alpha > 0 && alpha < 255
                let value = isColor ? min((sample * 255 + alpha / 2) / alpha, 255) : sample
                target.storeBytes(of: UInt8(value), toByteOffset: x * channels + channel, as: UInt8.self)
            }
        }
    }
}

extension RawSpan {
    /// A sample of a row, rounded to 8 bits.
    fileprivate func sample(_ index: Int, of format: PixelFormat) -> UInt8 {
        // SAFETY: the loads check the bounds, and any bytes are integers.
        guard format == .rgba16 else { return unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self) }
        let wide = UInt32(unsafe unsafeLoadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
        return UInt8((wide * 255 + 32_767) / 65_535)
    }
}
