import FoundationEssentials

/// Small BMP files of every depth and compression, as the corpus has none.
enum Bitmaps {
    struct Picture {
        /// The information header, masks and palette.
        var info: Data
        var pixels: Data
    }

    static let all: [Picture] = [
        picture(1, palette: 2, pixels: rows(4)), picture(4, palette: 16, pixels: rows(4)),
        picture(8, palette: 256, pixels: rows(8)), picture(16, pixels: rows(16)), picture(24, pixels: rows(24)),
        picture(32, pixels: rows(32)), picture(32, height: -8, pixels: rows(32)),
        // Runs, pictures as they are, jumps, ends of rows and the end.
        picture(
            8, compression: 1, palette: 256,
            pixels: Data([4, 7, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 1, 1, 3, 9, 0, 0, 8, 5, 0, 1])),
        picture(
            4, compression: 2, palette: 16, pixels: Data([5, 0x71, 0, 4, 0x12, 0x34, 0, 0, 0, 2, 1, 1, 3, 0x19, 0, 1])),
        picture(16, compression: 3, masks: [0xF800, 0x07E0, 0x001F], pixels: rows(16)),
        picture(32, compression: 3, masks: [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000], pixels: rows(32)),
    ]

    static func header(_ picture: Picture) -> Data {
        let start = 14 + picture.info.count
        return Data("BM".utf8) + little(start + picture.pixels.count, 4) + little(0, 4) + little(start, 4)
    }

    /// The picture, of twice its height for the mask that is not there, as the only one of an icon.
    static func icon(_ picture: Picture) -> Data {
        let body = picture.info + picture.pixels + Data(count: 64)
        return little(0, 2) + little(1, 2) + little(1, 2) + Data([8, 4, 0, 0]) + little(1, 2) + little(32, 2)
            + little(body.count, 4) + little(22, 4) + body
    }

    private static func rows(_ bits: Int) -> Data {
        let count = (8 * bits + 31) / 32 * 4 * 8
        return Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) })
    }

    private static func picture(
        _ bits: Int, height: Int = 8, compression: Int = 0, palette: Int = 0, masks: [Int] = [], pixels: Data
    ) -> Picture {
        var info = little(40, 4) + little(8, 4) + little(height, 4) + little(1, 2) + little(bits, 2)
        info += little(compression, 4) + little(pixels.count, 4) + little(2835, 4) + little(2835, 4)
        info += little(palette, 4) + little(0, 4)
        for mask in masks { info += little(mask, 4) }
        for index in 0..<palette { info += little(index * 0x01_0203, 4) }
        return Picture(info: info, pixels: pixels)
    }

    private static func little(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
}
