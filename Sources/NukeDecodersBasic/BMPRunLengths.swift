/// Unpacks rows of indices that are packed by run lengths, with 8 or 4 bits each (`BI_RLE8`, `BI_RLE4`).
///
/// What is left out has the index 0.
struct BMPRunLengths {
    private let isNibbles: Bool
    private var place: Int
    private var column = 0
    private var rowsToSkip = 0
    private var isOver = false
    /// Whether the data ended before the picture did.
    private(set) var isTruncated = false

    init(at place: Int, bitCount: Int) {
        self.place = place
        isNibbles = bitCount == 4
    }

    /// Writes the indices of the next row.
    mutating func next(in bytes: RawSpan, into row: inout [UInt8]) {
        for index in row.indices { row[index] = 0 }
        if isOver { return }
        if rowsToSkip > 0 {
            rowsToSkip -= 1
            if rowsToSkip > 0 { return }
        }
        while true {
            guard place + 2 <= bytes.byteCount else { return truncate() }
            let (count, value) = (Int(bytes.byte(at: place)), bytes.byte(at: place + 1))
            place += 2
            if count > 0 {
                for index in 0..<count { put(isNibbles ? nibble(value, index) : value, into: &row) }
                continue
            }
            switch value {
            case 0:
                column = 0
                return
            case 1:
                isOver = true
                return
            case 2:
                guard place + 2 <= bytes.byteCount else { return truncate() }
                column += Int(bytes.byte(at: place))
                rowsToSkip = Int(bytes.byte(at: place + 1))
                place += 2
                if rowsToSkip > 0 { return }
            default:
                let byteCount = isNibbles ? (Int(value) + 1) / 2 : Int(value)
                guard place + byteCount <= bytes.byteCount else { return truncate() }
                for index in 0..<Int(value) {
                    let byte = bytes.byte(at: place + (isNibbles ? index / 2 : index))
                    put(isNibbles ? nibble(byte, index) : byte, into: &row)
                }
                // To the next whole 16 bits.
                place += (byteCount + 1) / 2 * 2
            }
        }
    }

    private func nibble(_ byte: UInt8, _ index: Int) -> UInt8 { index % 2 == 0 ? byte >> 4 : byte & 15 }

    private mutating func put(_ index: UInt8, into row: inout [UInt8]) {
        if column < row.count { row[column] = index }
        column += 1
    }

    private mutating func truncate() {
        isOver = true
        isTruncated = true
    }
}
