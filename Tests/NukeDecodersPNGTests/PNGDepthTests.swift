import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("PNG of 16 bits", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGDepthTests {
    private func deep(_ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }) throws -> Bitmap {
        let request = ImageRequest(url: nil, options: [.preserveBitDepth])
        return try Decoding.container(data, request: request, change).image
    }

    /// The premultiplied RGBA of 16 bits that a pixel has to become.
    private func expected(_ picture: SamplePicture, _ x: Int, _ y: Int) -> [UInt16] {
        let stored = picture.samples(x, y)
        let color = picture.channels < 3 ? [stored[0], stored[0], stored[0]] : Array(stored[..<3])
        let isKey = !picture.transparency.isEmpty && stored == picture.transparency
        let alpha = isKey ? 0 : picture.colorType >= 4 ? stored[picture.channels - 1] : 65_535
        return color.map { UInt16(($0 * alpha + 32_767) / 65_535) } + [UInt16(alpha)]
    }

    private func samples(_ image: Bitmap, _ x: Int, _ y: Int) -> [UInt16] {
        (0..<4).map { image.row(y).unsafeLoad(fromByteOffset: x * 8 + $0 * 2, as: UInt16.self) }
    }

    @Test(
        "samples of 16 bits are kept on request, premultiplied at their depth [row 134]", arguments: [0, 2, 4, 6],
        [false, true])
    func kept(_ type: Int, _ isInterlaced: Bool) throws {
        let plain = SamplePicture(colorType: type, depth: 16, isInterlaced: isInterlaced)
        let keyed = type < 4 ? [plain.with { $0.transparency = plain.samples(4, 3) }] : []
        for picture in [plain] + keyed {
            let image = try deep(PNGFile(picture).data)
            #expect(image.format == .rgba16 && image.isOpaque == (type < 4 && picture.transparency.isEmpty))
            for y in 0..<picture.height {
                for x in 0..<picture.width {
                    #expect(samples(image, x, y) == expected(picture, x, y), "\(picture): \(x), \(y)")
                }
            }
        }
    }

    @Test("without the request, and of fewer bits with it, samples have 8", arguments: [0, 2, 3, 4, 6])
    func eight(_ type: Int) throws {
        let picture = SamplePicture(colorType: type, depth: 8)
        let image = try deep(PNGFile(picture).data)
        #expect(image.format == .rgba8 && image.byteArray == picture.expectedBytes)
        #expect(try Decoding.image(PNGFile(SamplePicture(colorType: 6, depth: 16)).data).format == .rgba8)
    }

    @Test("wide pixels are turned and reduced as others are, and counted at their size")
    func turned() throws {
        let picture = SamplePicture(width: 64, height: 48, colorType: 2, depth: 16)
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: 6).bytes)
        let data = PNGFile(picture, before: [exif]).data
        let image = try deep(data)
        #expect((image.width, image.height, image.format) == (48, 64, .rgba16))
        #expect(samples(image, 47, 0) == expected(picture, 0, 0))
        var request = ImageRequest(url: nil, options: [.preserveBitDepth])
        request.thumbnail = .init(maxPixelSize: 8)
        let small = try Decoding.container(data, request: request).image
        #expect((small.width, small.height, small.format) == (6, 8, .rgba16))
        #expect(throws: ImageDecodingError.self) { try deep(data) { $0.limits.workingSetBytes = 64 * 48 * 8 } }
    }

    @Test("what is kept is written again with 16 bits")
    func roundTrip() throws {
        let image = try deep(PNGFile(SamplePicture(colorType: 2, depth: 16)).data)
        let written = try #require(ImageFormat.png.makeEncoder?(ImageEncodingOptions())?.encode(image))
        #expect(try Decoding.properties(written)?.bitDepth == 16)
        #expect(try deep(written).byteArray == image.byteArray)
    }
}
