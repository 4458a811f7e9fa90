import Testing

@testable import NukeCore

/// Thumbnail and density in EXIF data; whatever it says, nothing outside of it is read.
@Suite("EXIF", .timeLimit(.minutes(5)))
struct EXIFReaderTests {
    private typealias Entry = (tag: Int, type: Int, count: Int, value: Int)

    private func number(_ value: Int, _ size: Int, _ isBigEndian: Bool) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(value >> (8 * $0) & 255) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    /// A TIFF structure of two directories and bytes behind them, which begin at `start`.
    private func tiff(
        _ first: [Entry], _ second: [Entry]? = nil, behind: [UInt8] = [], isBigEndian: Bool = true
    ) -> [UInt8] {
        func directory(_ entries: [Entry], next: Int) -> [UInt8] {
            entries.reduce(number(entries.count, 2, isBigEndian)) { bytes, entry in
                bytes + number(entry.tag, 2, isBigEndian) + number(entry.type, 2, isBigEndian)
                    + number(entry.count, 4, isBigEndian)
                    + (entry.type == 3
                        ? number(entry.value, 2, isBigEndian) + [0, 0] : number(entry.value, 4, isBigEndian))
            } + number(next, 4, isBigEndian)
        }
        let next = second == nil ? 0 : 8 + 2 + first.count * 12 + 4
        let header = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2, isBigEndian) + number(8, 4, isBigEndian)
        return header + directory(first, next: next) + (second.map { directory($0, next: 0) } ?? []) + behind
    }

    /// Where bytes behind two directories of these numbers of entries begin.
    private func start(_ first: Int, _ second: Int) -> Int { 8 + 2 + first * 12 + 4 + 2 + second * 12 + 4 }

    @Test("the thumbnail is where the second directory says, in both byte orders", arguments: [true, false])
    func thumbnail(isBigEndian: Bool) {
        let start = start(1, 2)
        let entries: [Entry] = [(0x0201, 4, 1, start), (0x0202, 3, 1, 5)]
        let bytes = tiff(
            [(0x0112, 3, 1, 1)], entries, behind: Array(repeating: 9, count: 5), isBigEndian: isBigEndian)
        #expect(EXIFThumbnail.range(in: bytes.span.bytes) == start..<start + 5)
        let prefixed = Array("Exif\0\0".utf8) + bytes
        #expect(EXIFThumbnail.range(in: prefixed.span.bytes) == start + 6..<start + 11)
        #expect(EXIFThumbnail.range(in: Array(bytes.dropLast()).span.bytes) == nil)
    }

    @Test("no directory, no tags, no bytes: no thumbnail")
    func noThumbnail() {
        #expect(EXIFThumbnail.range(in: [UInt8]().span.bytes) == nil)
        #expect(EXIFThumbnail.range(in: tiff([(0x0201, 4, 1, 8), (0x0202, 4, 1, 8)]).span.bytes) == nil)
        #expect(EXIFThumbnail.range(in: tiff([], [(0x0201, 4, 1, 8)]).span.bytes) == nil)
        #expect(EXIFThumbnail.range(in: tiff([], [(0x0201, 4, 1, 8), (0x0202, 4, 1, 0)]).span.bytes) == nil)
        #expect(EXIFThumbnail.range(in: tiff([], [(0x0201, 4, 2, 8), (0x0202, 4, 1, 4)]).span.bytes) == nil)
        let huge: [Entry] = [(0x0201, 4, 1, 0xFFFF_FFFF), (0x0202, 4, 1, 0xFFFF_FFFF)]
        #expect(EXIFThumbnail.range(in: tiff([], huge).span.bytes) == nil)
    }

    @Test("density is a RATIONAL by a unit: an inch, which is also the default, or a centimetre")
    func density() {
        let start = 8 + 2 + 3 * 12 + 4
        let behind: [UInt8] = [0, 0, 0, 144, 0, 0, 0, 2, 0, 0, 0, 100, 0, 0, 0, 1]
        func density(unit: Int, behind: [UInt8]) -> ImageProperties.Density? {
            let bytes = tiff(
                [(0x011A, 5, 1, start), (0x011B, 5, 1, start + 8), (0x0128, 3, 1, unit)], behind: behind)
            return EXIFDensity.read(from: bytes.span.bytes)
        }
        #expect(density(unit: 2, behind: behind) == ImageProperties.Density(x: 72, y: 100))
        #expect(density(unit: 3, behind: behind) == ImageProperties.Density(x: 182.88, y: 254))
        #expect(density(unit: 1, behind: behind) == nil)
        #expect(density(unit: 2, behind: Array(behind.dropLast())) == nil)
        #expect(density(unit: 2, behind: Array(repeating: 0, count: 16)) == nil)
        #expect(EXIFDensity.read(from: tiff([(0x011A, 3, 1, 72), (0x011B, 3, 1, 72)]).span.bytes) == nil)
        #expect(ImageProperties.Density(x: 0, y: 1) == nil && ImageProperties.Density(x: .infinity, y: 1) == nil)
    }
}
