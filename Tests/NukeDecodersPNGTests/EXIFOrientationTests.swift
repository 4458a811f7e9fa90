import NukeCore
import NukeTestSupport
import Testing

@Suite("EXIF orientation", .timeLimit(.minutes(5)))
struct EXIFOrientationTests {
    private func read(_ bytes: [UInt8]) -> ImageOrientation { EXIFOrientation.read(from: bytes.span.bytes) }

    @Test("all eight values are read in both byte orders", arguments: ImageOrientation.allCases, [false, true])
    func values(_ orientation: ImageOrientation, _ isLittleEndian: Bool) {
        let exif = ExifData(orientation: orientation.rawValue, isLittleEndian: isLittleEndian)
        #expect(read(exif.bytes) == orientation)
        #expect(read([0x45, 0x78, 0x69, 0x66, 0, 0] + exif.bytes) == orientation)
    }

    @Test("a LONG serves as well as a SHORT", arguments: [false, true])
    func long(_ isLittleEndian: Bool) {
        var exif = ExifData([ExifData.Entry(type: 4, value: 6, size: 4)])
        exif.isLittleEndian = isLittleEndian
        #expect(read(exif.bytes) == .right)
    }

    @Test("values outside 1…8 count as upright [row 124]", arguments: [0, 9, 255, 65_535])
    func invalidValues(_ value: Int) {
        #expect(read(ExifData(orientation: value).bytes) == .up)
        #expect(
            read(ExifData([ExifData.Entry(type: 4, value: value << 16 | 6, size: 4)]).bytes)
                == (value == 0 ? .right : .up))
    }

    @Test("other types and counts count as upright", arguments: [(1, 1), (5, 1), (3, 0), (3, 2), (0, 1), (13, 1)])
    func invalidTypes(_ type: Int, _ count: Int) {
        #expect(read(ExifData([ExifData.Entry(type: type, count: count, value: 6)]).bytes) == .up)
    }

    @Test("the directory may stand anywhere within the data")
    func laterDirectory() {
        var exif = ExifData(orientation: 8)
        exif.offset = 1001
        #expect(read(exif.bytes) == .left)
    }

    @Test(
        "offsets beyond the data count as upright [row 125]",
        arguments: [0x8765_4321, 0xFFFF_FFFF, 0x7FFF_FFFF, 50, 0])
    func wildOffsets(_ offset: Int) {
        for isLittleEndian in [false, true] {
            var exif = ExifData(orientation: 6, isLittleEndian: isLittleEndian)
            let bytes = exif.bytes
            exif.offset = offset
            #expect(read(Array(exif.bytes.prefix(8)) + bytes.dropFirst(8)) == .up)
        }
    }

    @Test("a directory that tells more entries than there are gives what is there")
    func countTooLarge() {
        var bytes = ExifData(orientation: 6).bytes
        (bytes[8], bytes[9]) = (0xFF, 0xFF)
        #expect(read(bytes) == .right)
        #expect(read(Array(bytes.prefix(10))) == .up)
    }

    @Test("data that is cut anywhere is read within its bounds")
    func truncation() {
        let bytes = ExifData(orientation: 6).bytes
        // The value ends before the last two bytes of the entry's four, and the link to the next directory.
        for count in 0...bytes.count {
            #expect(read(Array(bytes.prefix(count))) == (count < bytes.count - 6 ? .up : .right))
        }
    }

    @Test("wrong byte orders and magic numbers count as upright")
    func noTIFF() {
        var exif = ExifData(orientation: 6)
        exif.magic = 43
        #expect(read(exif.bytes) == .up)
        #expect(read([0x4D, 0x49] + ExifData(orientation: 6).bytes.dropFirst(2)) == .up)
        #expect(read([]) == .up)
    }

    @Test("any bytes are read within their bounds")
    func anyBytes() {
        var numbers = SeededNumbers(seed: 5)
        let sound = ExifData(orientation: 6).bytes
        for _ in 0..<5000 {
            var bytes = sound
            for _ in 0..<4 {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
            }
            #expect(ImageOrientation.allCases.contains(read(bytes)))
        }
    }
}
