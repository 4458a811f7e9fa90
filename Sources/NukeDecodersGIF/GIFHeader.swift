internal import NukeCore

/// What stands before the blocks of a GIF (GIF89a, 17 to 19): the size of the canvas and the global palette.
struct GIFHeader {
    /// The first six bytes, of either version.
    static let signatures = ["GIF87a", "GIF89a"].map { Array($0.utf8) }

    /// Columns of the canvas.
    let width: Int
    /// Rows of the canvas.
    let height: Int
    /// Where the colours of frames without a palette of their own are; nil if there are none.
    let palette: Range<Int>?
    /// The offset of the first block.
    let end: Int

    /// Reads the header; throws if it is not whole.
    init(_ bytes: RawSpan) throws(ImageDecodingError) {
        let codec = ImageDecoders.GIF.codec
        let start = (0..<min(6, bytes.byteCount)).map { bytes.byte(at: $0) }
        guard Self.signatures.contains(where: { $0.starts(with: start) }) else {
            throw .corruptData("there is no GIF signature", codec: codec)
        }
        guard bytes.byteCount >= 13 else { throw .truncated("the data ends within the header", codec: codec) }
        width = bytes.number(at: 6)
        height = bytes.number(at: 8)
        guard width > 0, height > 0 else {
            throw .corruptData("the header declares \(width)x\(height) pixels", codec: codec)
        }
        let palette = GIFHeader.palette(flags: bytes.byte(at: 10), at: 13)
        self.palette = palette.isEmpty ? nil : palette
        end = palette.upperBound
        guard end <= bytes.byteCount else { throw .truncated("the data ends within the palette", codec: codec) }
    }

    /// Where a palette at an offset is, by the flags that declare it; empty if there is none.
    static func palette(flags: UInt8, at offset: Int) -> Range<Int> {
        offset..<offset + (flags & 0x80 == 0 ? 0 : 3 * (2 << Int(flags & 7)))
    }
}

extension RawSpan {
    /// The byte at an offset, which must be within bounds.
    func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The number of 16 bits at an offset, which must be within bounds.
    func number(at offset: Int) -> Int {
        // SAFETY: any two bytes are a UInt16; unsafeLoadUnaligned checks the bounds.
        Int(UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
}
