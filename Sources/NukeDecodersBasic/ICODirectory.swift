internal import NukeCore

/// The directory of an icon or cursor: where its pictures are, the one to show first.
struct ICODirectory {
    /// A picture.
    struct Entry {
        let range: Range<Int>
        let width: Int
        let height: Int
        let bitCount: Int
        let isPNG: Bool
    }

    /// The picture of most pixels, and of those the one of most bits.
    let best: Entry

    private static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    init(_ bytes: RawSpan, codec: String) throws(ImageDecodingError) {
        guard bytes.byteCount >= 6 else { throw .truncated("the data ends within the header", codec: codec) }
        let kind = bytes.number16(at: 2)
        guard bytes.number16(at: 0) == 0, kind == 1 || kind == 2 else {
            throw .corruptData("there is no signature", codec: codec)
        }
        let count = bytes.number16(at: 4)
        guard count > 0 else { throw .corruptData("there is no picture", codec: codec) }
        guard 6 + 16 * count <= bytes.byteCount else {
            throw .truncated("the data ends within the directory", codec: codec)
        }
        var best: Entry?
        var isLacking = false
        for index in 0..<count {
            let place = 6 + 16 * index
            let (length, offset) = (Int(bytes.number32(at: place + 8)), Int(bytes.number32(at: place + 12)))
            guard offset >= 6 + 16 * count, length >= 12 else { continue }
            guard offset + length <= bytes.byteCount else {
                isLacking = true
                continue
            }
            let (columns, rows) = (Int(bytes.byte(at: place)), Int(bytes.byte(at: place + 1)))
            let isPNG = (0..<8).allSatisfy { bytes.byte(at: offset + $0) == Self.pngSignature[$0] }
            // 0 stands for 256. A cursor has its hot spot where an icon has its bits, so the picture is asked.
            let bitCount = isPNG ? 32 : length >= 16 ? bytes.number16(at: offset + 14) : 0
            let entry = Entry(
                range: offset..<offset + length, width: columns == 0 ? 256 : columns, height: rows == 0 ? 256 : rows,
                bitCount: bitCount, isPNG: isPNG)
            if best.map({ entry.isBetter(than: $0) }) ?? true { best = entry }
        }
        // A smaller picture in place of one that is cut off would be another image.
        guard !isLacking else { throw .truncated("the data ends within a picture", codec: codec) }
        guard let best else { throw .corruptData("the directory names no picture", codec: codec) }
        self.best = best
    }
}

extension ICODirectory.Entry {
    fileprivate func isBetter(than other: Self) -> Bool {
        (width * height, bitCount) > (other.width * other.height, other.bitCount)
    }
}
