import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("PNG encoding", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGEncoderTests {
    /// A picture whose bytes a closure gives, which are premultiplied for RGBA.
    private func bitmap(
        _ width: Int, _ height: Int, format: PixelFormat = .rgba8, isOpaque: Bool = false,
        colorSpace: ColorSpace = .sRGB, _ bytes: [UInt8]
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else {
            throw ImageProcessingError.outOfMemory
        }
        buffer.withBytes { span in
            for (index, byte) in bytes.enumerated() { span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
        }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }

    private func encoded(_ image: Bitmap, isProgressive: Bool = false) throws -> Data {
        let options = ImageEncodingOptions(isProgressive: isProgressive)
        let encoder = ImageEncoders.PNG(options: options)
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        let data = try encoder.encodedData(for: ImageContainer(image: image), context: context)
        #expect(encoder.encode(image) == data)
        return data
    }

    @Test("decoding gives back every premultiplied pixel, interlaced or not", arguments: [false, true])
    func roundTrip(_ isProgressive: Bool) throws {
        // All pairs of a colour and an alpha that is at least as large.
        var bytes: [UInt8] = []
        for alpha in 0..<256 {
            for color in 0..<256 {
                let value = UInt8(min(color, alpha))
                bytes += [value, UInt8(alpha) - value, value / 2, UInt8(alpha)]
            }
        }
        let data = try encoded(try bitmap(256, 256, bytes), isProgressive: isProgressive)
        let image = try Decoding.image(data)
        #expect(image.byteArray == bytes)
        #expect(!image.isOpaque)
        #expect(try Decoding.properties(data)?.isProgressive == isProgressive)
    }

    @Test("opaque pictures are stored as RGB, others as RGBA, gray ones as gray [ENC-02]")
    func layouts() throws {
        let opaque = try encoded(try bitmap(2, 1, isOpaque: true, [1, 2, 3, 255, 4, 5, 6, 255]))
        var properties = try #require(try Decoding.properties(opaque))
        #expect(!properties.hasAlpha && properties.colorModel == .rgb && properties.bitDepth == 8)
        #expect(try Decoding.image(opaque).byteArray == [1, 2, 3, 255, 4, 5, 6, 255])
        #expect(try Decoding.image(opaque).isOpaque)

        // Not said to be opaque, though every alpha is full.
        properties = try #require(try Decoding.properties(try encoded(try bitmap(1, 1, [1, 2, 3, 255]))))
        #expect(properties.hasAlpha && properties.colorModel == .rgb)

        let gray = try encoded(try bitmap(3, 1, format: .gray8, [0, 7, 255]))
        properties = try #require(try Decoding.properties(gray))
        #expect(!properties.hasAlpha && properties.colorModel == .gray && properties.bitDepth == 8)
        #expect(try Decoding.image(gray).byteArray == [0, 0, 0, 255, 7, 7, 7, 255, 255, 255, 255, 255])
    }

    @Test("16 bits a sample stay so, with the alpha divided out", arguments: [false, true])
    func wide(_ isOpaque: Bool) throws {
        let alpha: UInt16 = isOpaque ? .max : 0x8000
        let samples: [UInt16] = [0x1234, 0x7FFF, 0, alpha, 0x4000, 1, 0x8000, alpha]
        let bytes = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let data = try encoded(try bitmap(2, 1, format: .rgba16, isOpaque: isOpaque, bytes))
        let properties = try #require(try Decoding.properties(data))
        #expect(properties.bitDepth == 16 && properties.hasAlpha == !isOpaque)
        // c × 65535 ÷ alpha, then reduced to 8 bits, then premultiplied by the reduced alpha.
        let expected: [UInt8] = isOpaque ? [0x12, 127, 0, 255, 64, 0, 128, 255] : [18, 128, 0, 128, 64, 0, 128, 128]
        #expect(try Decoding.image(data).byteArray == expected)
    }

    @Test("where alpha is 0 all is 0, and colours above alpha count as full")
    func extremes() throws {
        let data = try encoded(try bitmap(3, 1, [9, 9, 9, 0, 200, 100, 0, 100, 255, 0, 1, 1]))
        #expect(try Decoding.image(data).byteArray == [0, 0, 0, 0, 100, 100, 0, 100, 1, 0, 1, 1])
    }

    @Test("the profile of the bitmap is stored; a broken one is left out")
    func profile() throws {
        let sound = Data(ProfileData.bytes(space: "RGB ", count: 600))
        let space = try #require(ColorSpace(iccProfile: sound, for: .rgba8))
        let data = try encoded(try bitmap(1, 1, isOpaque: true, colorSpace: space, [1, 2, 3, 255]))
        #expect(try Decoding.image(data).colorSpace == space)
        #expect(try Decoding.properties(data)?.hasICCProfile == true)

        let gray = try #require(ColorSpace(iccProfile: Data(ProfileData.bytes(space: "GRAY", count: 600)), for: .gray8))
        let grayData = try encoded(try bitmap(1, 1, format: .gray8, colorSpace: gray, [9]))
        #expect(try Decoding.properties(grayData)?.hasICCProfile == true)

        let broken = try #require(ColorSpace(iccProfile: sound + [1, 2, 3], for: .rgba8))
        let plain = try encoded(try bitmap(1, 1, isOpaque: true, colorSpace: broken, [1, 2, 3, 255]))
        #expect(try Decoding.properties(plain)?.hasICCProfile == false)
        #expect(try Decoding.image(plain).byteArray == [1, 2, 3, 255])
    }

    @Test("equal bitmaps give equal bytes, without time or text; the type sniffs back [AST-21]")
    func deterministic() throws {
        let bytes = (0..<64 * 64 * 4).map { UInt8(truncatingIfNeeded: $0 % 4 == 3 ? 255 : $0 * $0 / 7) }
        let first = try encoded(try bitmap(64, 64, bytes))
        #expect(try encoded(try bitmap(64, 64, bytes)) == first)
        #expect(AssetType(first) == .png)
        let text = String(decoding: first, as: UTF8.self)
        #expect(["tEXt", "tIME", "eXIf", "pHYs"].allSatisfy { !text.contains($0) })
    }

    @Test("an upright picture has no orientation in its file [ENC-04]")
    func orientation() throws {
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: 6).bytes)
        let image = try Decoding.image(PNGFile(SamplePicture(colorType: 6, depth: 8), before: [exif]).data)
        let again = try encoded(image)
        #expect(try Decoding.properties(again)?.orientation == .up)
        #expect(try Decoding.image(again).byteArray == image.byteArray)
    }

    @Test("sides of one pixel and rows longer than a block are encoded", arguments: [(1, 1), (1, 300), (40_000, 1)])
    func unusualSides(_ width: Int, _ height: Int) throws {
        let bytes = (0..<width * height).map { UInt8(truncatingIfNeeded: $0 * 31 >> 3) }
        let image = try Decoding.image(try encoded(try bitmap(width, height, format: .gray8, bytes)))
        #expect(image.width == width && image.height == height)
        #expect((0..<height).allSatisfy { image.pixel(0, $0)[0] == bytes[$0 * width] })
        #expect(image.pixel(width - 1, height - 1)[0] == bytes.last)
    }

    @Test("a side that the format can't hold is a typed error")
    func tooWide() throws {
        // The format holds 2³¹ - 1 columns; libpng's own bound on a row is lower or the same.
        guard let buffer = PixelBuffer(width: Int(Int32.max) + 1, height: 1, format: .gray8) else {
            throw ImageProcessingError.outOfMemory
        }
        let image = buffer.freeze()
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        let encoder = ImageEncoders.PNG()
        #expect(throws: ImageEncodingError.self) {
            try encoder.encodedData(for: ImageContainer(image: image), context: context)
        }
        #expect(encoder.encode(image) == nil)
    }
}
