import FoundationEssentials
import NukeCore

/// A format of its own: a line of text, the profile, the EXIF data, then the pixels; sound, unless it is given a fault.
struct RawFormat: Sendable {
    /// What the encoder does wrong, and the check that must say so.
    enum Fault: String, CaseIterable, Sendable {
        case hasOtherSignature = "encoder"
        case losesRows = "round trip"
        case roundsColors = "round trip, colours"
        case losesAlpha = "opacity"
        case tellsTheTime = "determinism"
        case throwsUntyped = "too large"
        case cutsLargePictures = "too large, cut"
        case disagrees = "agreement"
        case failsAtZero = "quality"
        case losesProfile = "profile"
        case losesMetadata = "metadata"
        case mixesPictures = "concurrency"
        case changesInput = "input"
        case inventsMetadata = "metadata, invented"

        /// The name of the check.
        var check: String { String(rawValue.prefix { $0 != "," }) }
    }

    struct Untyped: Error {}
    static let largestSide = 300
    private static let count = Lock(0)
    private static let crowd = Crowd()

    /// The number of pixels, rows and bytes of what follows, each in five digits.
    private struct Header {
        static let count = 4 + 5 * 5
        let numbers: [Int]

        init(_ numbers: [Int]) { self.numbers = numbers }

        init(_ data: Data) throws {
            let text = String(decoding: data.prefix(Self.count), as: UTF8.self)
            numbers = stride(from: 4, to: Self.count, by: 5).compactMap { Int(text.dropFirst($0).prefix(5)) }
            guard text.hasPrefix("RAW1"), numbers.count == 5 else {
                throw ImageDecodingError.corruptData("no header", codec: "Raw")
            }
        }

        var data: Data {
            Data("RAW1".utf8) + numbers.flatMap { Array(String("00000\($0)".suffix(5)).utf8) }
        }
    }

    static func format(_ fault: Fault? = nil) -> ImageFormat {
        ImageFormat(
            name: "Raw", type: "org.example.raw", mimeTypes: ["image/x-raw"], fileExtensions: ["raw"],
            capabilities: [.decode, .encode, .alpha],
            sniff: { $0.starts(with: fault == .hasOtherSignature ? "RAW2" : "RAW1") ? .yes : .no },
            makeDecoder: { Decoder(context: $0) }, makeEncoder: { Encoder(quality: $0.quality, fault: fault) })
    }

    private struct Encoder: ImageEncoding {
        let quality: Double
        let fault: Fault?

        func encode(_ image: PlatformImage) -> Data? {
            let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
            return encode(ImageContainer(image: image), context: context)
        }

        func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data? {
            try? encodedData(for: container, context: context) + (fault == .disagrees ? [0] : [])
        }

        func encodedData(for container: ImageContainer, context: ImageEncodingContext) throws -> Data {
            guard fault == .mixesPictures else { return try file(of: container) }
            return try crowd.enter { try file(of: container) + ($0 ? [0] : []) }
        }

        private func file(of container: ImageContainer) throws -> Data {
            let image = container.image
            if fault == .changesInput {
                // Bitmaps can't be changed by means that the core offers: this reaches into the memory.
                image.bytes.withUnsafeBytes { bytes in
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.storeBytes(of: 1, as: UInt8.self)
                }
            }
            if max(image.width, image.height) > largestSide, fault != .cutsLargePictures {
                if fault == .throwsUntyped { throw Untyped() }
                throw ImageEncodingError.unsupported("a side of more than \(largestSide) pixels", codec: "Raw")
            }
            if fault == .failsAtZero, quality == 0 { throw ImageEncodingError.failed("no quality", codec: "Raw") }
            let profile = fault == .losesProfile ? Data() : image.colorSpace.iccProfile ?? Data()
            let invented = fault == .inventsMetadata ? Data("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8) : Data()
            let exif = fault == .losesMetadata ? Data() : container.metadata?.exif ?? invented
            let isOpaque = image.isOpaque || fault == .losesAlpha
            let header = Header([image.width, image.height, isOpaque ? 1 : 0, profile.count, exif.count])
            var data = header.data + profile + exif
            for y in 0..<image.height { data += pixels(image, fault == .losesRows ? min(y, 1) : y) }
            if fault == .tellsTheTime {
                RawFormat.count.withLock { count in
                    count += 1
                    data.append(UInt8(truncatingIfNeeded: count))
                }
            }
            return data
        }

        private func pixels(_ image: Bitmap, _ y: Int) -> [UInt8] {
            let row = image.row(y).withUnsafeBytes { Array($0) }
            switch image.format {
            case .gray8: return row.flatMap { [$0, $0, $0, 255] }
            case .rgba16: return stride(from: 1, to: row.count, by: 2).map { row[$0] }
            case .rgba8:
                return row.indices.map { index in
                    if index % 4 == 3 { return fault == .losesAlpha ? 255 : row[index] }
                    return fault == .roundsColors ? row[index] & 0xE0 : row[index]
                }
            }
        }
    }

    private struct Decoder: ImageDecoding {
        let context: ImageDecodingContext

        func decode(_ data: Data) throws -> ImageContainer {
            let data = [UInt8](data)
            let header = try Header(Data(data)).numbers
            let (width, height) = (header[0], header[1])
            try context.limits.check(width: width, height: height, codec: "Raw")
            let start = Header.count + header[3] + header[4]
            guard data.count >= start + width * height * 4, var buffer = PixelBuffer(width: width, height: height)
            else {
                throw ImageDecodingError.truncated("pixels are missing", codec: "Raw")
            }
            for y in 0..<height {
                let row = Array(data[start + y * width * 4..<start + (y + 1) * width * 4])
                buffer.writeStoredRow(row.span.bytes, at: y, orientation: .up)
            }
            let profile = Data(data[Header.count..<Header.count + header[3]])
            let space = ColorSpace(iccProfile: profile, for: .rgba8) ?? .sRGB
            let image = buffer.freeze(isOpaque: header[2] == 1, colorSpace: space)
            var container = try context.makeContainer(
                image: image, type: "org.example.raw", originalSize: ImageSize(width: width, height: height))
            try context.attachMetadata(exif: Data(data[Header.count + header[3]..<start]), to: &container)
            return container
        }
    }
}
