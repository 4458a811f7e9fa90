import FoundationEssentials

/// Writes bitmaps for tests.
struct BMPFile {
    var width = 3
    var height = 2
    var bitCount = 24
    var headerSize = 40
    var compression = 0
    var isTopDown = false
    /// Red, green and blue.
    var palette: [[UInt8]] = []
    /// Red, green, blue and, if there are four, alpha.
    var masks: [UInt32] = []
    var profile = Data()
    /// What stands where the pixels are.
    var body = Data()
    /// Rows that a mask adds to the height, in icons.
    var isIcon = false

    static func little(_ value: Int, _ size: Int) -> Data {
        Data((0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
    }

    /// Sets the body to rows, which are padded; the first is the highest.
    mutating func setRows(_ rows: [[UInt8]]) {
        body = Data()
        for row in isTopDown ? rows : rows.reversed() {
            body += Data(row) + Data(count: (4 - row.count % 4) % 4)
        }
    }

    /// The header, the palette and the masks.
    var header: Data {
        let little = Self.little
        var data = little(headerSize, 4)
        let rows = (isTopDown ? -height : height) * (isIcon ? 2 : 1)
        if headerSize == 12 {
            data += little(width, 2) + little(rows, 2) + little(1, 2) + little(bitCount, 2)
        } else {
            data += little(width, 4) + little(rows, 4) + little(1, 2) + little(bitCount, 2)
            data += little(compression, 4) + Data(count: 12) + little(palette.count, 4) + Data(count: 4)
            data = data.prefix(headerSize) + Data(count: max(0, headerSize - data.count))
            if headerSize >= 52, headerSize != 64 {
                for (index, mask) in masks.enumerated() {
                    data.replaceSubrange(40 + index * 4..<44 + index * 4, with: little(Int(mask), 4))
                }
            } else {
                for mask in masks { data += little(Int(mask), 4) }
            }
        }
        for color in palette {
            data += Data([color[2], color[1], color[0]]) + Data(count: headerSize == 12 ? 0 : 1)
        }
        return data
    }

    var data: Data {
        var header = header
        let pixelStart = 14 + header.count
        if !profile.isEmpty {
            header.replaceSubrange(56..<60, with: "DEBM".utf8)
            header.replaceSubrange(112..<116, with: Self.little(header.count + body.count, 4))
            header.replaceSubrange(116..<120, with: Self.little(profile.count, 4))
        }
        let count = pixelStart + body.count + profile.count
        return Data("BM".utf8) + Self.little(count, 4) + Data(count: 4) + Self.little(pixelStart, 4) + header + body
            + profile
    }

    /// An icon or cursor of pictures with the sizes that the directory says.
    static func icon(_ pictures: [(width: Int, height: Int, data: Data)], isCursor: Bool = false) -> Data {
        var file = Data([0, 0, isCursor ? 2 : 1, 0]) + little(pictures.count, 2)
        var place = 6 + 16 * pictures.count
        for picture in pictures {
            file += Data([UInt8(picture.width & 255), UInt8(picture.height & 255), 0, 0]) + little(0, 4)
            file += little(picture.data.count, 4) + little(place, 4)
            place += picture.data.count
        }
        return pictures.reduce(file) { $0 + $1.data }
    }

    /// A picture for an icon: one colour of 24 bits with a mask that covers its left column.
    static func masked(_ side: Int, _ color: [UInt8]) -> Data {
        var file = BMPFile(width: side, height: side, isIcon: true)
        file.setRows(Array(repeating: (0..<side).flatMap { _ in [color[2], color[1], color[0]] }, count: side))
        let row = Data([0x80]) + Data(count: (side + 31) / 32 * 4 - 1)
        return file.header + file.body + (0..<side).reduce(Data()) { mask, _ in mask + row }
    }

    /// Noise of 24 bits.
    static func noise(_ width: Int, _ height: Int) -> BMPFile {
        var file = BMPFile(width: width, height: height)
        file.setRows(
            (0..<height).map { y in
                (0..<width * 3).map { UInt8(truncatingIfNeeded: ($0 &* 73 ^ y &* 151) &* 37 >> 3) }
            })
        return file
    }
}
