import FoundationEssentials
import NukeCore

/// The first bytes of a Pix file, and where what follows them is.
struct PixHeader {
    static let codec = "Pix"
    static let signature: [UInt8] = Array("PIX1".utf8)
    /// Signature, width, height, flags.
    static let byteCount = 9
    /// Pixels of the picture on either side for one of the small picture.
    static let step = 8

    let width: Int
    let height: Int
    let hasAlpha: Bool

    init(width: Int, height: Int, hasAlpha: Bool) {
        self.width = width
        self.height = height
        self.hasAlpha = hasAlpha
    }

    /// Reads the header of data, whatever index its first byte has.
    init(_ data: Data) throws(ImageDecodingError) {
        let bytes = [UInt8](data.prefix(Self.byteCount))
        guard Self.signature.starts(with: bytes.prefix(4)) else {
            throw .corruptData("no signature", codec: Self.codec)
        }
        guard bytes.count == Self.byteCount else { throw .truncated("the header is cut short", codec: Self.codec) }
        guard bytes[8] <= 1 else { throw .unsupported("the flags \(bytes[8])", codec: Self.codec) }
        width = Int(bytes[4]) << 8 | Int(bytes[5])
        height = Int(bytes[6]) << 8 | Int(bytes[7])
        hasAlpha = bytes[8] == 1
        guard width > 0, height > 0 else { throw .corruptData("a side of no pixels", codec: Self.codec) }
    }

    var bytes: [UInt8] {
        let sides = [width >> 8, width & 255, height >> 8, height & 255].map { UInt8($0) }
        return Self.signature + sides + [hasAlpha ? 1 : 0]
    }

    // Sides have 16 bits, so that none of these numbers is too large for an Int.

    /// Bytes of a pixel.
    var pixelSize: Int { hasAlpha ? 4 : 3 }
    /// Bytes of a row.
    var rowSize: Int { width * pixelSize }
    /// Columns of the small picture.
    var smallWidth: Int { (width + Self.step - 1) / Self.step }
    /// Rows of the small picture.
    var smallHeight: Int { (height + Self.step - 1) / Self.step }
    /// Where the rows begin: behind the small picture.
    var rowsStart: Int { Self.byteCount + smallWidth * smallHeight * pixelSize }
    /// Bytes of the whole file.
    var fileSize: Int { rowsStart + height * rowSize }

    /// How many rows are whole in so many bytes of the file.
    func rowCount(in byteCount: Int) -> Int { max(0, min(height, (byteCount - rowsStart) / rowSize)) }

    var size: ImageSize { ImageSize(width: width, height: height) }
}
