import FoundationEssentials
import NukeTestSupport

/// A JPEG file taken apart into its marker segments, to be changed and put together again.
struct JPEGFile {
    struct Segment {
        var marker: UInt8
        /// What follows the length; for a scan (SOS) the coded data after it as well, in `tail`.
        var content: [UInt8]
        var tail: [UInt8] = []

        var bytes: [UInt8] {
            let length = content.count + 2
            return [0xFF, marker, UInt8(length >> 8 & 255), UInt8(length & 255)] + content + tail
        }
    }

    static let app1: UInt8 = 0xE1
    static let app2: UInt8 = 0xE2
    static let startOfScan: UInt8 = 0xDA

    /// Everything between the start and the end of the image.
    var segments: [Segment] = []

    init(_ data: Data) {
        let bytes = [UInt8](data)
        var index = 2
        while index + 4 <= bytes.count, bytes[index] == 0xFF, bytes[index + 1] != 0xD9 {
            let marker = bytes[index + 1]
            let end = index + 2 + Int(bytes[index + 2]) << 8 + Int(bytes[index + 3])
            var segment = Segment(marker: marker, content: Array(bytes[index + 4..<end]))
            index = end
            if marker == Self.startOfScan {
                let isCoded = { (index: Int) in
                    bytes[index] != 0xFF || bytes[index + 1] == 0 || (0xD0...0xD7).contains(bytes[index + 1])
                }
                while index + 1 < bytes.count, isCoded(index) { index += 1 }
                segment.tail = Array(bytes[end..<index])
            }
            segments.append(segment)
        }
    }

    /// A file of the fixtures.
    init(fixture name: String) throws { self.init(try Fixture.data("jpeg/\(name)")) }

    var data: Data { Data([0xFF, 0xD8] + segments.flatMap(\.bytes) + [0xFF, 0xD9]) }

    /// The file without its end marker.
    var dataWithoutEnd: Data { data.dropLast(2) }

    /// Where each segment ends in `data`.
    var segmentEnds: [Int] {
        var end = 2
        return segments.map { segment in
            end += segment.bytes.count
            return end
        }
    }

    /// A segment with the six bytes that EXIF begins with, then a TIFF structure.
    static func exif(_ tiff: [UInt8]) -> Segment {
        Segment(marker: app1, content: Array("Exif\0\0".utf8) + tiff)
    }

    /// EXIF data with an orientation, and with a thumbnail in its second directory if there is one.
    static func exif(orientation: Int, thumbnail: Data? = nil) -> Segment {
        var tiff = tiff(isBigEndian: false, entries: [(0x0112, 3, 1, orientation)])
        guard let thumbnail else { return exif(tiff) }
        // The second directory follows the first; the thumbnail follows both.
        let start = tiff.count + 2 + 2 * 12 + 4
        tiff.replaceSubrange(tiff.count - 4..<tiff.count, with: [UInt8(tiff.count), 0, 0, 0])
        let entries = [(0x0201, 4, 1, start), (0x0202, 4, 1, thumbnail.count)]
        return exif(tiff + Self.tiff(isBigEndian: false, entries: entries).dropFirst(8) + thumbnail)
    }

    /// A TIFF structure with one directory of entries: tag, type, count, value.
    static func tiff(
        isBigEndian: Bool, entries: [(tag: Int, type: Int, count: Int, value: Int)], directory: Int = 8
    ) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            let bytes = (0..<size).map { UInt8(value >> (8 * $0) & 255) }
            return isBigEndian ? bytes.reversed() : bytes
        }
        var bytes = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(directory, 4)
        bytes += number(entries.count, 2)
        for entry in entries {
            bytes += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            // A SHORT stands in the first two bytes of the value.
            bytes += entry.type == 3 ? number(entry.value, 2) + [0, 0] : number(entry.value, 4)
        }
        return bytes + number(0, 4)
    }
}
