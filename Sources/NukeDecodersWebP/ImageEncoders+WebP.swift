public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageEncoders {
    /// Encodes still pictures as WebP: lossy below the quality 1, without loss at it.
    ///
    /// Alpha is kept in full; 16 bits a sample become 8, gray becomes RGB. The image's ICC profile is written, and so is the
    /// EXIF data of a container that has it. The same container gives the same bytes each time. Decoding a lossless file gives back the very
    /// pixels of an 8-bit bitmap.
    public struct WebP: ImageEncoding {
        private let options: ImageEncodingOptions

        /// Creates an encoder: a quality of 0…1 becomes libwebp's 0…100, and 1 means without loss.
        ///
        /// Chroma of a lossy WebP always has half the size; asked for all of it, the encoder makes it with more care, which
        /// keeps edges of colour sharper and takes several times as long. `isProgressive` does not count.
        public init(options: ImageEncodingOptions = ImageEncodingOptions()) { self.options = options }

        /// The file; nil if it can't be made, such as for a side of more than 16,383 pixels.
        public func encode(_ image: PlatformImage) -> Data? { try? data(for: image, metadata: nil) }

        /// The file.
        ///
        /// Throws `unsupported` for a side of more than 16,383 pixels, `missingCodec` without libwebp, and `failed` if it gives
        /// up, as when there is no memory.
        public func encodedData(
            for container: ImageContainer, context: ImageEncodingContext
        ) throws(ImageEncodingError) -> Data {
            try data(for: container.image, metadata: container.metadata)
        }

        private func data(for image: Bitmap, metadata: ImageMetadata?) throws(ImageEncodingError) -> Data {
            let compressor = try WebPCompressor(width: image.width, height: image.height)
            var converter = RowConverter(width: image.width, format: image.format)
            for y in 0..<image.height {
                compressor.setRow(y, converter.convert(image.row(y)), isOpaque: image.isOpaque)
            }
            let file = try compressor.encode(method)
            let profile = image.format == .gray8 ? nil : image.colorSpace.iccProfile
            return WebPContainer.adding(profile: profile, exif: metadata?.exif, to: file)
        }

        /// What is not a number counts as quality 0.
        private var method: WebPCompressor.Method {
            if options.quality >= 1 { return .lossless }
            let quality = options.quality > 0 ? Float(options.quality * 100) : 0
            return .lossy(quality: quality, isChromaSharp: options.chromaSubsampling == .none)
        }
    }
}

/// Makes rows of RGBA8 out of rows of other formats.
private struct RowConverter {
    private let format: PixelFormat
    private var row: [UInt8]

    init(width: Int, format: PixelFormat) {
        self.format = format
        row = [UInt8](repeating: 255, count: format == .rgba8 ? 0 : width * 4)
    }

    /// The row as it is if that is RGBA8, else a conversion: the high part of 16 bits, rounded, and gray as three colours.
    @_lifetime(copy pixels, &self)
    mutating func convert(_ pixels: RawSpan) -> RawSpan {
        // SAFETY: the loads check the bounds, and any bytes are integers; the bytes returned are those of an array.
        switch format {
        case .rgba8: return pixels
        case .rgba16:
            for index in row.indices {
                let sample = UInt32(unsafe pixels.unsafeLoadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
                row[index] = UInt8((sample * 255 + 32_767) / 65_535)
            }
        case .gray8:
            for index in row.indices where index % 4 != 3 {
                row[index] = unsafe pixels.unsafeLoad(fromByteOffset: index / 4, as: UInt8.self)
            }
        }
        return unsafe row.span.bytes
    }
}

/// Writes the container around a coded picture (RFC 9649, 2.7).
enum WebPContainer {
    /// A file with a profile and EXIF data in it; the file as it is if it is not one that the library writes.
    static func adding(profile: Data?, exif: Data?, to file: Data) -> Data {
        if profile == nil, exif == nil { return file }
        let bytes = file.bytes
        guard let header = try? WebPHeader(bytes, frameLimit: 1), let picture = header.still,
            picture.isComplete(in: file.count)
        else { return file }
        let start = file.startIndex
        let pictureChunks = file[start + picture.range.lowerBound..<start + picture.range.upperBound]
        var flags: UInt8 = 0
        if profile != nil { flags |= 0x20 }
        if exif != nil { flags |= 0x08 }
        if picture.hasAlpha { flags |= 0x10 }
        let sides = [header.width - 1, header.height - 1].flatMap { littleEndian($0, count: 3) }
        var body = Data("WEBP".utf8)
        body += chunk("VP8X", Data([flags, 0, 0, 0] + sides))
        if let profile { body += chunk("ICCP", profile) }
        body += pictureChunks
        if pictureChunks.count % 2 == 1 { body.append(0) }
        if let exif { body += chunk("EXIF", exif) }
        return chunk("RIFF", body)
    }

    private static func chunk(_ type: String, _ contents: Data) -> Data {
        var chunk = Data(type.utf8) + littleEndian(contents.count, count: 4) + contents
        if contents.count % 2 == 1 { chunk.append(0) }
        return chunk
    }

    private static func littleEndian(_ value: Int, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
