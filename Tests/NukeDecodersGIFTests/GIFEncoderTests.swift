import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF encoding", .timeLimit(.minutes(5)))
struct GIFEncoderTests {
    private func decoded(_ image: Bitmap, isDithered: Bool = false) throws -> Bitmap {
        let file = try ImageEncoders.GIF(isDithered: isDithered).file(ImageContainer(image: image))
        return try Decoding.container(file).image
    }

    @Test(
        "up to 256 colours come back as they were, whatever their number",
        arguments: [1, 2, 3, 4, 5, 16, 17, 128, 129, 255, 256])
    func exact(count: Int) throws {
        let image = try Bitmap.picture(61, 43, isOpaque: true) { x, y in
            let index = (y * 61 + x * 7) % count
            return 0xFF00_0000 | UInt32(index) << 16 | UInt32(255 - index) << 8 | UInt32(index * 37 & 255)
        }
        let result = try decoded(image)
        #expect(result.byteArray == image.byteArray)
        #expect(result.isOpaque)
        #expect(try decoded(image, isDithered: true).byteArray == image.byteArray)
    }

    @Test("255 colours and nothing come back as they were; alphas from 128 on are opaque, with the alpha divided out")
    func transparency() throws {
        let image = try Bitmap.picture(64, 5) { x, y in
            if y == 0 { return UInt32(x * 4) << 24 }
            let index = (y - 1) * 64 + x
            return index == 255 ? 0 : 0xFF00_0000 | UInt32(index) << 8 | UInt32(index * 3 & 255)
        }
        let result = try decoded(image)
        #expect(!result.isOpaque)
        for y in 0..<5 {
            for x in 0..<64 {
                let source = image.pixel(x, y)
                let expected = y > 0 ? source : [0, 0, 0, x * 4 < 128 ? 0 : 255]
                #expect(result.pixel(x, y) == expected, "\(x), \(y)")
            }
        }
        let half = try Bitmap.picture(2, 1) { x, _ in x == 0 ? 0x8010_4080 : 0x7F10_4070 }
        #expect(try decoded(half).byteArray == [255, 128, 32, 255, 0, 0, 0, 0])
    }

    @Test("of many colours those are chosen that serve: 34 dB, and no fewer with errors handed on than 29")
    func many() throws {
        let image = try Bitmap.photograph(160, 120)
        #expect(try image.peakSignalToNoise(decoded(image)) > 34)
        let dithered = try decoded(image, isDithered: true)
        #expect(image.peakSignalToNoise(dithered) > 29)
        #expect(dithered.byteArray != (try decoded(image).byteArray))
    }

    @Test("errors that are handed on keep the mean of small places, where steps of a gradient do not")
    func dithering() throws {
        let image = try Bitmap.picture(128, 128, isOpaque: true) { x, y in
            0xFF00_0000 | UInt32(x * 2) | UInt32(y * 2) << 8 | UInt32(255 - x - y) << 16
        }
        func error(_ result: Bitmap) -> Int {
            var sum = 0
            // Not at the edges, whose colours lie outside of all that were chosen.
            for block in 0..<256 where 2..<14 ~= block % 16 && 2..<14 ~= block / 16 {
                var difference = SIMD3<Int>()
                for index in 0..<64 {
                    let (x, y) = (block % 16 * 8 + index % 8, block / 16 * 8 + index / 8)
                    let (a, b) = (result.pixel(x, y), image.pixel(x, y))
                    for channel in 0..<3 { difference[channel] += Int(a[channel]) - Int(b[channel]) }
                }
                sum += (difference &* difference).wrappedSum()
            }
            return sum
        }
        let (plain, dithered) = try (error(decoded(image)), error(decoded(image, isDithered: true)))
        #expect(dithered * 2 < plain)
    }

    @Test("noise and stretches that differ come back through a full table, kept or cleared")
    func packing() throws {
        var random = SeededGenerator(7)
        let image = try Bitmap.picture(300, 400, isOpaque: true) { x, y in
            let value: UInt32
            switch y / 50 % 4 {
            case 0: value = UInt32.random(in: 0...255, using: &random)
            case 1: value = UInt32(x / 9 & 255)
            case 2: value = UInt32((x * x + y) & 7)
            default: value = UInt32((x ^ y) & 255)
            }
            return 0xFF00_0000 | value * 0x01_0101
        }
        #expect(try decoded(image).byteArray == image.byteArray)
        for count in [1, 2, 3, 253, 254, 255, 256, 257, 3837, 3838, 3839, 3840, 4095, 4096, 4097] {
            let line = try Bitmap.picture(count, 1, isOpaque: true) { x, _ in
                0xFF00_0000 | UInt32((x &* 2_654_435) >> 3 & 255)
            }
            #expect(try decoded(line).byteArray == line.byteArray, "\(count)")
        }
    }

    @Test("16 bits and gray become 8 bits of three colours")
    func formats() throws {
        guard var deep = PixelBuffer(width: 3, height: 1, format: .rgba16) else { return }
        deep.withBytes { bytes in
            for (index, sample) in [0x80FF, 0x1234, 0xFFFF, 0xFFFF, 0, 0, 0, 0, 0x4000, 0x8000, 0x2000, 0x8000]
                .enumerated()
            {
                bytes.storeBytes(of: UInt16(sample), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        let narrow = try decoded(deep.freeze()).byteArray
        #expect(narrow == [128, 18, 255, 255, 0, 0, 0, 0, 128, 255, 64, 255])
        guard var gray = PixelBuffer(width: 2, height: 1, format: .gray8) else { return }
        gray.withBytes { bytes in bytes.storeBytes(of: 77, toByteOffset: 1, as: UInt8.self) }
        #expect(try decoded(gray.freeze()).byteArray == [0, 0, 0, 255, 77, 77, 77, 255])
    }

    @Test("the colour profile is stored")
    func profile() throws {
        var bytes = [UInt8](repeating: 7, count: 700)
        bytes.replaceSubrange(36..<40, with: Array("acsp".utf8))
        bytes.replaceSubrange(16..<20, with: Array("RGB ".utf8))
        let space = try #require(ColorSpace(iccProfile: Data(bytes), for: .rgba8))
        let image = try Bitmap.picture(4, 4, isOpaque: true, colorSpace: space) { x, _ in 0xFF00_0000 | UInt32(x) }
        #expect(try decoded(image).colorSpace.iccProfile == Data(bytes))
    }

    @Test("a side has at most 65,535 pixels")
    func sides() throws {
        let wide = try Bitmap.picture(65_536, 1, isOpaque: true) { _, _ in 0xFF00_0000 }
        #expect(throws: ImageEncodingError.unsupported("", codec: "GIF")) { try decoded(wide) }
        #expect(ImageEncoders.GIF().encode(wide) == nil)
        let line = try Bitmap.picture(65_535, 1, isOpaque: true) { x, _ in 0xFF00_0000 | UInt32(x & 127) }
        #expect(try decoded(line).byteArray == line.byteArray)
        #expect(ImageEncoders.GIF().encode(line) != nil)
    }
}
