internal import NukeCore

/// Makes RGBA of the rows of a bitmap, one after the other as they are stored.
struct BMPRows {
    private let header: BMPHeader
    /// Opaque RGBA; what is beyond the file's palette is black.
    private var palette: [UInt32] = []
    private var channels: [Channel] = []
    private var runLengths: BMPRunLengths?
    private var indices: [UInt8] = []
    private var place: Int
    /// Whether any alpha was not full, and whether any was not nothing.
    private(set) var isOpaque = true
    private(set) var isEmpty = true

    /// - Parameter place: Where the rows begin.
    /// - Parameter readsAlpha: Whether the highest 8 of 32 bits are alpha though no mask says so, as in icons.
    init(_ header: BMPHeader, _ bytes: RawSpan, at place: Int, readsAlpha: Bool = false) {
        self.header = header
        self.place = place
        if header.bitCount <= 8 {
            palette = Self.palette(header, bytes)
            indices = [UInt8](repeating: 0, count: header.width)
            if header.packing == .runLengths {
                runLengths = BMPRunLengths(at: place, bitCount: header.bitCount)
            }
        } else if header.bitCount != 24 {
            var masks = header.masks
            if readsAlpha, masks.w == 0, header.bitCount == 32 { masks.w = 0xFF00_0000 }
            channels = (0..<4).map { Channel(masks[$0], emptyValue: $0 == 3 ? 255 : 0) }
        }
    }

    private static func palette(_ header: BMPHeader, _ bytes: RawSpan) -> [UInt32] {
        var colors = [UInt32](repeating: 0xFF00_0000, count: 256)
        for (index, place) in stride(
            from: header.palette.lowerBound, to: header.palette.upperBound, by: header.paletteStride
        ).enumerated() {
            let (blue, green, red) = (bytes.byte(at: place), bytes.byte(at: place + 1), bytes.byte(at: place + 2))
            colors[index] = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
        }
        return colors
    }

    /// Writes the next row, premultiplied; false if the data ends before its end.
    mutating func next(in bytes: RawSpan, into row: inout MutableRawSpan) -> Bool {
        if runLengths != nil {
            runLengths?.next(in: bytes, into: &indices)
            isEmpty = false
            for (x, index) in indices.enumerated() { store(palette[Int(index)], x, &row) }
            return runLengths?.isTruncated == false
        }
        let byteCount = (header.width * header.bitCount + 7) / 8
        guard place <= bytes.byteCount - byteCount else { return false }
        let source = bytes.extracting(place..<place + byteCount)
        place += header.bytesPerRow
        switch header.bitCount {
        case 24: readBytes(source, &row)
        case 16, 32: readFields(source, &row)
        default: readIndices(source, &row)
        }
        return true
    }

    private func store(_ pixel: UInt32, _ x: Int, _ row: inout MutableRawSpan) {
        row.storeBytes(of: pixel.littleEndian, toByteOffset: x * 4, as: UInt32.self)
    }

    private mutating func readIndices(_ source: RawSpan, _ row: inout MutableRawSpan) {
        isEmpty = false
        let bits = header.bitCount
        let mask = UInt8(truncatingIfNeeded: 1 << bits - 1)
        for x in 0..<header.width {
            let bit = x * bits
            // The leftmost pixel has a byte's highest bits.
            let index = source.byte(at: bit / 8) >> UInt8(8 - bits - bit % 8) & mask
            store(palette[Int(index)], x, &row)
        }
    }

    private mutating func readBytes(_ source: RawSpan, _ row: inout MutableRawSpan) {
        isEmpty = false
        for x in 0..<header.width {
            let blue = UInt32(source.byte(at: x * 3))
            let green = UInt32(source.byte(at: x * 3 + 1))
            let red = UInt32(source.byte(at: x * 3 + 2))
            store(red | green << 8 | blue << 16 | 0xFF00_0000, x, &row)
        }
    }

    private mutating func readFields(_ source: RawSpan, _ row: inout MutableRawSpan) {
        let isShort = header.bitCount == 16
        var (least, most): (UInt32, UInt32) = (255, 0)
        for x in 0..<header.width {
            let stored = isShort ? UInt32(source.number16(at: x * 2)) : source.number32(at: x * 4)
            let alpha = channels[3].value(of: stored)
            (least, most) = (min(least, alpha), max(most, alpha))
            var pixel = alpha << 24
            for index in 0..<3 {
                let value = channels[index].value(of: stored)
                pixel |= (alpha == 255 ? value : (value * alpha + 127) / 255) << UInt32(index * 8)
            }
            store(pixel, x, &row)
        }
        if least < 255 { isOpaque = false }
        if most > 0 { isEmpty = false }
    }

    /// The bits of a pixel that are one component.
    private struct Channel {
        private let mask: UInt32
        private let shift: UInt32
        /// 8 bits of each value, where there are no more than 8 bits.
        private let table: [UInt8]
        private let highest: UInt64
        private let emptyValue: UInt32

        /// - Parameter emptyValue: What a component has that has no bits.
        init(_ mask: UInt32, emptyValue: UInt32) {
            self.mask = mask
            self.emptyValue = emptyValue
            shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
            let highest = UInt64(mask >> shift)
            self.highest = highest
            table = highest > 255 || highest == 0 ? [] : (0...highest).map { UInt8(($0 * 255 + highest / 2) / highest) }
        }

        func value(of pixel: UInt32) -> UInt32 {
            if highest == 0 { return emptyValue }
            let value = (pixel & mask) >> shift
            if !table.isEmpty { return UInt32(table[Int(value)]) }
            return UInt32((UInt64(value) * 255 + highest / 2) / highest)
        }
    }
}
