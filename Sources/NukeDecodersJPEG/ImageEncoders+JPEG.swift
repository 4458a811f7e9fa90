public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes images as JPEG files.
    ///
    /// Pixels that are not opaque are put on white, as the format has no alpha; 16 bits a sample become 8; gray stays
    /// gray. The image's ICC profile is written, and so is the EXIF data of a container that has it. The same container
    /// gives the same bytes each time.
    public struct JPEG: ImageEncoding {
        /// What an APP2 segment holds of a profile, times the most that there can be (ICC.1:2022, B.4).
        private static let profileLimit = 65_519 * 255

        /// What an APP1 segment holds behind the header of EXIF data (EXIF 2.32, 4.7.2).
        private static let exifLimit = 65_527

        private let options: ImageEncodingOptions

        /// Creates an encoder: quality 0…1 becomes 1…100, and with chroma at half the size files are 4:2:0.
        public init(options: ImageEncodingOptions = ImageEncodingOptions()) {
            self.options = options
        }

        /// The file; nil if it can't be made, such as for a side of more than 65,500 pixels.
        public func encode(_ image: PlatformImage) -> Data? {
            try? data(for: image, metadata: nil)
        }

        /// The file.
        ///
        /// Throws `unsupported` for what the format can't hold, such as a side of more than 65,500 pixels, or 64 KB
        /// of EXIF data.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            try data(for: container.image, metadata: container.metadata)
        }

        private func data(for image: Bitmap, metadata: ImageMetadata?) throws(ImageEncodingError) -> Data {
            let profile = image.colorSpace.iccProfile
            guard (profile?.count ?? 0) <= Self.profileLimit else {
                throw .unsupported("the ICC profile is too large for a JPEG", codec: JPEGSession.codec)
            }
            guard (metadata?.exif.count ?? 0) <= Self.exifLimit else {
                throw .unsupported("the EXIF data is too large for a JPEG", codec: JPEGSession.codec)
            }
            let compressor = try JPEGCompressor()
            try compressor.start(
                JPEGCompressor.Parameters(
                    width: image.width, height: image.height, isGray: image.format == .gray8, quality: quality,
                    isChromaHalved: options.chromaSubsampling == .half, isProgressive: options.isProgressive,
                    iccProfile: profile, exif: metadata?.exif))
            if image.format != .rgba16, image.isOpaque {
                try compressor.writeRows(image.bytes, bytesPerRow: image.bytesPerRow)
            } else {
                var flattener = RowFlattener(width: image.width)
                for y in 0..<image.height {
                    let row = flattener.flatten(image.row(y), format: image.format)
                    try compressor.writeRows(row, bytesPerRow: row.byteCount)
                }
            }
            return try compressor.finish()
        }

        /// 1…100; what is not a number counts as 0.
        private var quality: Int {
            let fraction = options.quality > 0 ? min(options.quality, 1) : 0
            return max(1, Int((fraction * 100).rounded()))
        }
    }
}

/// Makes opaque rows of 8 bits a sample out of rows with alpha or 16 bits.
private struct RowFlattener {
    private var row: [UInt8]

    init(width: Int) {
        row = [UInt8](repeating: 255, count: width * 4)
    }

    /// The row on white, as red, green, blue and a byte of no meaning; of RGBA8 or RGBA16.
    ///
    /// Colour is premultiplied already, so white only fills what alpha leaves: c + (1 − a).
    @_lifetime(&self)
    mutating func flatten(_ pixels: RawSpan, format: PixelFormat) -> RawSpan {
        // SAFETY: the bytes returned are those of integers of one byte.
        if format == .rgba16 {
            for index in row.indices where index % 4 != 3 {
                let color = UInt32(pixels.sample16(at: index))
                let alpha = UInt32(pixels.sample16(at: index | 3))
                let value = min(color + (65_535 - alpha), 65_535)
                row[index] = UInt8((value * 255 + 32_767) / 65_535)
            }
        } else {
            for index in row.indices where index % 4 != 3 {
                let (color, alpha) = (UInt16(pixels.sample8(at: index)), UInt16(pixels.sample8(at: index | 3)))
                row[index] = UInt8(min(color + (255 - alpha), 255))
            }
        }
        return unsafe row.span.bytes
    }
}

extension RawSpan {
    fileprivate func sample8(at index: Int) -> UInt8 {
        // SAFETY: the load checks the bounds, and any byte is a UInt8.
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    fileprivate func sample16(at index: Int) -> UInt16 {
        // SAFETY: the load checks the bounds, and any two bytes are a UInt16.
        unsafe unsafeLoadUnaligned(fromByteOffset: index * 2, as: UInt16.self)
    }
}
