import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("PNG pixels", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGPixelTests {
    @Test("every colour type, depth and interlacing gives the exact pixels", arguments: SamplePicture.all)
    func exactPixels(_ picture: SamplePicture) throws {
        let image = try Decoding.image(PNGFile(picture).data)
        #expect(image.width == picture.width && image.height == picture.height)
        #expect(image.byteArray == picture.expectedBytes)
        #expect(image.isOpaque == (picture.colorType < 4))
        #expect(image.format == .rgba8 && image.colorSpace == .sRGB)
    }

    @Test(
        "sides from 1 to 9 give the exact pixels, interlaced or not [row 142]",
        arguments: [(0, 1), (3, 4), (6, 8), (2, 16)])
    func smallSides(_ type: Int, _ depth: Int) throws {
        for (width, height) in [1, 2, 3, 4, 5, 9].flatMap({ width in [1, 2, 3, 5, 9].map { (width, $0) } }) {
            for isInterlaced in [false, true] {
                let picture = SamplePicture(
                    width: width, height: height, colorType: type, depth: depth, isInterlaced: isInterlaced)
                #expect(try Decoding.image(PNGFile(picture).data).byteArray == picture.expectedBytes, "\(picture)")
            }
        }
    }

    @Test("every filter gives the exact pixels", arguments: 0...4)
    func filters(_ filter: Int) throws {
        for picture in [SamplePicture(colorType: 6, depth: 8), SamplePicture(colorType: 2, depth: 16)] {
            let filtered = picture.with { $0.filter = filter }
            #expect(try Decoding.image(PNGFile(filtered).data).byteArray == picture.expectedBytes)
        }
    }

    @Test(
        "a tRNS key makes its colour transparent, at the stored depth",
        arguments: [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16)], [false, true])
    func keys(_ kind: (type: Int, depth: Int), _ isInterlaced: Bool) throws {
        let plain = SamplePicture(colorType: kind.type, depth: kind.depth, isInterlaced: isInterlaced)
        let picture = plain.with { $0.transparency = plain.samples(4, 3) }
        let image = try Decoding.image(PNGFile(picture).data)
        #expect(image.byteArray == picture.expectedBytes)
        #expect(!image.isOpaque)
        #expect(image.pixel(4, 3) == [0, 0, 0, 0])
    }

    @Test("a 16-bit key matches before the samples are reduced to 8 bits", arguments: [0, 2])
    func wideKeys(_ type: Int) throws {
        let plain = SamplePicture(colorType: type, depth: 16)
        // The neighbour of the key has the same eight bits and must stay.
        let picture = plain.with { $0.transparency = plain.samples(4, 3).map { $0 ^ 1 } }
        let image = try Decoding.image(PNGFile(picture).data)
        #expect(image.byteArray == picture.expectedBytes)
        #expect(image.pixel(4, 3)[3] == 255)
    }

    @Test(
        "a palette takes alpha from tRNS, which may be shorter [row 136]", arguments: [1, 2, 4, 8],
        [false, true])
    func paletteAlpha(_ depth: Int, _ isInterlaced: Bool) throws {
        let picture = SamplePicture(
            colorType: 3, depth: depth, isInterlaced: isInterlaced,
            transparency: Array([128, 0, 77].prefix(1 << depth - 1)))
        let image = try Decoding.image(PNGFile(picture).data)
        #expect(image.byteArray == picture.expectedBytes)
        #expect(!image.isOpaque)
    }

    @Test("16-bit gray with alpha is premultiplied at the right depth and channels [row 134]")
    func wideGrayAlpha() throws {
        let rows = [[0xFFFF, 0x8000, 0x8000, 0x4000], [0x1234, 0xFFFF, 0xFFFF, 0]].map { PNGFile.wide($0) }
        let image = try Decoding.image(PNGFile(width: 2, depth: 16, colorType: 4, rows: rows).data)
        #expect(image.pixel(0, 0) == [128, 128, 128, 128])
        #expect(image.pixel(1, 0) == [32, 32, 32, 64])
        #expect(image.pixel(0, 1) == [0x12, 0x12, 0x12, 255])
        #expect(image.pixel(1, 1) == [0, 0, 0, 0])
    }

    @Test("colour under full transparency is gone, so that resizing shows no fringe [row 133]")
    func fringe() throws {
        // White opaque beside black transparent: halved, the colour must stay white.
        let row: [UInt8] = [255, 255, 255, 255, 0, 0, 0, 0]
        let image = try Decoding.image(PNGFile(width: 2, depth: 8, colorType: 6, rows: [row, row]).data)
        let small = try #require(ImageProcessors.Resize(width: 1).process(image))
        let pixel = small.pixel(0, 0)
        #expect(pixel[3] > 120 && pixel[3] < 136)
        #expect(pixel[0] == pixel[3] && pixel[1] == pixel[3] && pixel[2] == pixel[3])
    }

    @Test("premultiplying rounds to the nearest value for every colour and alpha")
    func premultiplication() throws {
        var rows = [[UInt8]](repeating: [], count: 256)
        var expected: [UInt8] = []
        for alpha in 0..<256 {
            for color in 0..<256 {
                let colors = [color, 255 - color, color / 2]
                rows[alpha] += (colors + [alpha]).map { UInt8($0) }
                expected += (colors.map { ($0 * alpha + 127) / 255 } + [alpha]).map { UInt8($0) }
            }
        }
        let bytes = try Decoding.image(PNGFile(width: 256, depth: 8, colorType: 6, rows: rows).data).byteArray
        #expect(bytes == expected)
    }

    @Test("16-bit RGBA and a palette with alpha go ways of their own [row 137]")
    func independentPaths() throws {
        let wide = SamplePicture(colorType: 6, depth: 16)
        let indexed = SamplePicture(colorType: 3, depth: 8, transparency: [10, 20, 30])
        for picture in [wide, indexed, wide] {
            #expect(try Decoding.image(PNGFile(picture).data).byteArray == picture.expectedBytes)
        }
    }
}
