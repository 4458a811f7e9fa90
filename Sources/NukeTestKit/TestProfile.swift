internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What the suite for encoders has written beside the pixels.
enum TestProfile {
    /// An ICC profile of version 2.4 (ICC.1:2001-04) with the primaries of Display P3 and a gamma of 2.2.
    static let colorSpace = ColorSpace(iccProfile: Data(profile), for: .rgba8)

    /// EXIF data of one directory that holds a description (EXIF 2.32, 4.6.2).
    static let metadata: ImageMetadata? = {
        let text = Array("NukeTestKit".utf8) + [0]
        var bytes: [UInt8] = Array("MM".utf8) + number(42, 2) + number(8, 4) + number(1, 2)
        bytes += number(0x010E, 2) + number(2, 2) + number(text.count, 4) + number(26, 4) + number(0, 4) + text
        return ImageMetadata(exif: Data(bytes))
    }()

    private static var profile: [UInt8] {
        let name = Array("NukeTestKit".utf8) + [0]
        let description =
            Array("desc".utf8) + number(0, 4) + number(name.count, 4) + name + number(0, 4 + 4 + 2 + 1 + 67)
        let gamma = Array("curv".utf8) + number(0, 4) + number(1, 4) + number(0x0233, 2)
        let tags: [(name: String, contents: [UInt8])] = [
            ("desc", description), ("cprt", Array("text".utf8) + number(0, 4) + Array("None".utf8) + [0]),
            ("wtpt", xyz(0xF6D6, 0x10000, 0xD32D)), ("rXYZ", xyz(0x83DF, 0x3DBF, 0xFFFF_FFBB)),
            ("gXYZ", xyz(0x4ABF, 0xB137, 0x0AB9)), ("bXYZ", xyz(0x2838, 0x110B, 0xC8B9)),
            ("rTRC", gamma), ("gTRC", gamma), ("bTRC", gamma),
        ]
        var table = number(tags.count, 4)
        var contents: [UInt8] = []
        for tag in tags {
            let offset = 128 + 4 + tags.count * 12 + contents.count
            table += Array(tag.name.utf8) + number(offset, 4) + number(tag.contents.count, 4)
            contents += tag.contents + number(0, (4 - tag.contents.count % 4) % 4)
        }
        return header(size: 128 + table.count + contents.count) + table + contents
    }

    private static func header(size: Int) -> [UInt8] {
        var header = number(size, 4) + number(0, 4) + number(0x0240_0000, 4) + Array("mntrRGB XYZ ".utf8)
        header += [2020, 1, 1, 0, 0, 0].flatMap { number($0, 2) } + Array("acsp".utf8)
        header += number(0, 28) + number(0xF6D6, 4) + number(0x10000, 4) + number(0xD32D, 4)
        return header + number(0, 128 - header.count)
    }

    private static func xyz(_ x: Int, _ y: Int, _ z: Int) -> [UInt8] {
        Array("XYZ ".utf8) + number(0, 4) + number(x, 4) + number(y, 4) + number(z, 4)
    }

    /// A number in so many bytes, the highest first.
    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> ($0 * 8)) : 0 }
    }
}
