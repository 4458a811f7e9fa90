internal import NukeCore

/// What a bitmap's header tells: those of OS/2 and of Windows, from version 1 to 5.
struct BMPHeader {
    /// How the rows are packed.
    enum Packing {
        case plain, runLengths
    }

    /// The sizes of headers that there are: OS/2's first, and its second short and whole; Windows' 3, with masks, 4 and 5.
    static let sizes = [12, 16, 64, 40, 52, 56, 108, 124]

    let width: Int
    let height: Int
    let isTopDown: Bool
    let bitCount: Int
    let packing: Packing
    /// Which bits are red, green, blue and alpha, for pixels of 16 and 32 bits.
    let masks: SIMD4<UInt32>
    /// Where the colours of indices are; empty for pixels without indices.
    let palette: Range<Int>
    /// Bytes of a colour of the palette: blue, green, red and, but in the oldest, one that means nothing.
    let paletteStride: Int
    /// Where pixels lie that stand directly behind header and palette.
    let end: Int
    /// Where the ICC profile is, counted from the header's start; nil if there is none.
    let profile: Range<Int>?

    /// Bytes from one row to the next; 32 bits are the least.
    var bytesPerRow: Int { (width * bitCount + 31) / 32 * 4 }

    /// Whether pixels say how opaque they are.
    var hasAlpha: Bool { masks.w != 0 }

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - start: Where the header begins.
    ///   - pixelStart: Where the file says that the pixels are, before which the palette ends; nil: behind it.
    ///   - isIcon: Whether the height counts a mask below the picture, too.
    ///   - codec: The name in errors.
    init(
        _ bytes: RawSpan, at start: Int, pixelStart: Int?, isIcon: Bool = false, codec: String
    ) throws(ImageDecodingError) {
        guard start <= bytes.byteCount - 4 else { throw .truncated("the data ends within the header", codec: codec) }
        let size = Int(bytes.number32(at: start))
        guard Self.sizes.contains(size) else {
            throw .corruptData("there is no header of \(size) bytes", codec: codec)
        }
        guard start <= bytes.byteCount - size else { throw .truncated("the data ends within the header", codec: codec) }
        let isOld = size == 12
        let columns = isOld ? bytes.number16(at: start + 4) : Int(Int32(bitPattern: bytes.number32(at: start + 4)))
        let rows = isOld ? bytes.number16(at: start + 6) : Int(Int32(bitPattern: bytes.number32(at: start + 8)))
        bitCount = bytes.number16(at: start + (isOld ? 10 : 14))
        let compression = size >= 40 || size == 64 ? bytes.number32(at: start + 16) : 0
        isTopDown = rows < 0
        width = columns
        height = isIcon ? abs(rows) / 2 : abs(rows)
        guard width > 0, height > 0 else {
            throw .corruptData("the header declares \(columns)x\(rows) pixels", codec: codec)
        }
        guard [1, 4, 8, 16, 24, 32].contains(bitCount) else {
            throw .unsupported("pixels of \(bitCount) bits", codec: codec)
        }
        packing = try Self.packing(compression, bitCount, isTopDown: isTopDown, isOS2: size == 64, codec: codec)
        // With a header of 40 bytes masks stand behind it, with larger ones in it.
        let maskCount = size == 40 ? compression == 3 ? 3 : compression == 6 ? 4 : 0 : 0
        let headerEnd = start + size + maskCount * 4
        guard headerEnd <= bytes.byteCount else { throw .truncated("the data ends within the masks", codec: codec) }
        let hasMasks = (compression == 3 || compression == 6) && size != 64
        masks = hasMasks ? Self.masks(bytes, start, size, maskCount) : Self.plainMasks(bitCount)
        paletteStride = isOld ? 3 : 4
        let declared = size >= 40 ? Int(bytes.number32(at: start + 32)) : 0
        let limit = 1 << min(bitCount, 8)
        let room = pixelStart.map { $0 > headerEnd ? ($0 - headerEnd) / (isOld ? 3 : 4) : limit } ?? limit
        let count = bitCount > 8 ? 0 : min(declared == 0 ? limit : min(declared, limit), room)
        palette = headerEnd..<headerEnd + count * paletteStride
        guard palette.upperBound <= bytes.byteCount else {
            throw .truncated("the data ends within the palette", codec: codec)
        }
        // Colours beyond those that indices reach, and colours for screens of few, stand before the pixels, too.
        end = headerEnd + max(declared, count) * paletteStride
        profile = size == 124 ? Self.profile(bytes, start) : nil
    }

    private static func packing(
        _ compression: UInt32, _ bitCount: Int, isTopDown: Bool, isOS2: Bool, codec: String
    ) throws(ImageDecodingError) -> Packing {
        switch (compression, bitCount) {
        case (0, _): return .plain
        case (1, 8), (2, 4):
            guard !isTopDown else { throw .corruptData("run lengths from the top down", codec: codec) }
            return .runLengths
        case (3, 16), (3, 32), (6, 16), (6, 32):
            guard !isOS2 else { break }
            return .plain
        default: break
        }
        throw .unsupported("compression \(compression) of pixels of \(bitCount) bits", codec: codec)
    }

    private static func masks(_ bytes: RawSpan, _ start: Int, _ size: Int, _ count: Int) -> SIMD4<UInt32> {
        let hasAlpha = size >= 56 || count == 4
        return SIMD4(
            bytes.number32(at: start + 40), bytes.number32(at: start + 44), bytes.number32(at: start + 48),
            hasAlpha ? bytes.number32(at: start + 52) : 0)
    }

    private static func plainMasks(_ bitCount: Int) -> SIMD4<UInt32> {
        bitCount == 16 ? SIMD4(0x7C00, 0x3E0, 0x1F, 0) : SIMD4(0xFF0000, 0xFF00, 0xFF, 0)
    }

    /// Of version 5 with the type "MBED"; may lie anywhere.
    private static func profile(_ bytes: RawSpan, _ start: Int) -> Range<Int>? {
        guard bytes.number32(at: start + 56) == 0x4D42_4544 else { return nil }
        let offset = start + Int(bytes.number32(at: start + 112))
        let count = Int(bytes.number32(at: start + 116))
        return count > 0 && count <= bytes.byteCount && offset <= bytes.byteCount - count
            ? offset..<offset + count : nil
    }
}
