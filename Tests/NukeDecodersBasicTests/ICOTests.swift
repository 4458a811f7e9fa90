import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersBasic

@Suite("ICO", .timeLimit(.minutes(5)))
struct ICOTests {
    private func decode(_ data: Data, _ registry: ImageDecoderRegistry = ImageDecoderRegistry()) throws
        -> ImageContainer
    {
        try ImageDecoders.ICO(context: BMPTests.context(data), registry: registry).decode(data)
    }

    private func deep(_ rows: [[UInt8]], mask: [UInt8]) -> Data {
        var file = BMPFile(width: rows[0].count / 4, height: rows.count, bitCount: 32, isIcon: true)
        file.setRows(rows)
        return file.header + file.body + mask.reversed().reduce(Data()) { $0 + Data([$1, 0, 0, 0]) }
    }

    @Test("the largest picture counts, and what its mask covers is transparent", arguments: [false, true])
    func largest(isCursor: Bool) throws {
        let pictures = [(8, [10, 20, 30]), (16, [40, 50, 60]), (4, [70, 80, 90])] as [(Int, [UInt8])]
        let data = BMPFile.icon(pictures.map { ($0.0, $0.0, BMPFile.masked($0.0, $0.1)) }, isCursor: isCursor)
        let container = try decode(data)
        #expect(container.type == .ico && container.image.width == 16 && container.image.height == 16)
        #expect(container.image.pixel(0, 3) == [0, 0, 0, 0] && container.image.pixel(1, 3) == [40, 50, 60, 255])
        #expect(!container.image.isOpaque)
        let properties = try ImageDecoders.ICO(context: BMPTests.context(data)).properties(of: data)
        #expect(properties?.width == 16 && properties?.hasAlpha == true)
    }

    @Test("of equal size the one with most bits; alpha counts there, the mask does not, unless all alpha is nothing")
    func alpha() throws {
        let rows: [[UInt8]] = [[10, 20, 30, 128, 1, 2, 3, 255], [0, 0, 0, 0, 5, 6, 7, 255]]
        let picture = deep(rows, mask: [0xC0, 0])
        let image = try decode(BMPFile.icon([(2, 2, BMPFile.masked(2, [1, 1, 1])), (2, 2, picture)])).image
        #expect(BMPTests.pixels(image) == [[[15, 10, 5, 128], [3, 2, 1, 255]], [[0, 0, 0, 0], [7, 6, 5, 255]]])
        let empty = deep([[10, 20, 30, 0, 1, 2, 3, 0], [9, 8, 7, 0, 5, 6, 7, 0]], mask: [0x40, 0x80])
        let masked = try decode(BMPFile.icon([(2, 2, empty)])).image
        #expect(BMPTests.pixels(masked) == [[[30, 20, 10, 255], [0, 0, 0, 0]], [[0, 0, 0, 0], [7, 6, 5, 255]]])
    }

    @Test("a picture that is PNG goes to the registered decoder, and is unsupported without one")
    func png() throws {
        struct Fake: ImageDecoding {
            let context: ImageDecodingContext
            func decode(_ data: Data) throws -> ImageContainer {
                guard data.count == 40 else { throw ImageDecodingError.corruptData("", codec: "PNG") }
                return ImageContainer(image: try #require(BMPTests.gray), type: .png)
            }
        }
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        let file = Data(start) + Data([0, 0, 1, 0, 0, 0, 0, 64, 8, 6, 0, 0, 0]) + Data(count: 11)
        let data = BMPFile.icon([(0, 0, file), (16, 16, BMPFile.masked(16, [1, 2, 3]))])
        let properties = try ImageDecoders.ICO(context: BMPTests.context(data)).properties(of: data)
        #expect(properties?.width == 256 && properties?.height == 64)
        #expect(throws: ImageDecodingError.unsupported("", codec: "ICO")) { try decode(data) }
        let registry = ImageDecoderRegistry()
        registry.register(
            ImageFormat(
                name: "PNG", type: .png, mimeTypes: [], fileExtensions: [], capabilities: [.decode],
                sniff: { _ in .yes }, makeDecoder: { Fake(context: $0) }))
        #expect(try decode(data, registry).type == .ico)
    }

    @Test("a directory that makes no sense, and pictures that are cut off, are errors")
    func damaged() throws {
        let whole = BMPFile.icon([(8, 8, BMPFile.masked(8, [1, 2, 3]))])
        func code(_ data: Data) -> ImageDecodingError.Code? {
            #expect(throws: ImageDecodingError.self) { try decode(data) }?.code
        }
        for count in [0, 3, 10, 21, whole.count - 1] { #expect(code(whole.prefix(count)) == .truncated) }
        #expect(code(BMPFile.icon([])) == .corruptData && code(Data([0, 0, 3, 0, 1, 0])) == .corruptData)
        var empty = whole
        empty.replaceSubrange(14..<18, with: [0, 0, 0, 0])
        #expect(code(empty) == .corruptData)
        var inside = whole
        inside.replaceSubrange(18..<22, with: [4, 0, 0, 0])
        #expect(code(inside) == .corruptData)
    }
}

extension BMPTests {
    /// A picture of one pixel.
    static var gray: Bitmap? {
        guard var pixels = PixelBuffer(width: 1, height: 1) else { return nil }
        pixels.withRow(0) { $0.storeBytes(of: 0xFF80_8080, as: UInt32.self) }
        return pixels.freeze(isOpaque: true)
    }
}
