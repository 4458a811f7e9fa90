import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersBasic

@Suite("BMP", .timeLimit(.minutes(5)))
struct BMPTests {
    static func context(_ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in })
        -> ImageDecodingContext
    {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        configure(&context)
        return context
    }

    private func decode(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws -> ImageContainer {
        try ImageDecoders.BMP(context: Self.context(data, configure)).decode(data)
    }

    private func error(_ file: BMPFile) -> ImageDecodingError.Code? {
        let data = file.data
        return #expect(throws: ImageDecodingError.self) { try decode(data) }?.code
    }

    static func pixels(_ image: Bitmap) -> [[[UInt8]]] {
        (0..<image.height).map { y in (0..<image.width).map { image.pixel($0, y) } }
    }

    /// Red, green, blue; white, black, gray.
    private static let rows: [[UInt8]] = [[0, 0, 255, 0, 255, 0, 255, 0, 0], [255, 255, 255, 0, 0, 0, 128, 128, 128]]
    private static let colors: [[[UInt8]]] = [
        [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]],
        [[255, 255, 255, 255], [0, 0, 0, 255], [128, 128, 128, 255]],
    ]

    @Test(
        "24 bits behind every header, from either end", arguments: [12, 16, 40, 52, 56, 64, 108, 124], [false, true])
    func headers(size: Int, isTopDown: Bool) throws {
        // The oldest header has no sign.
        guard size > 12 || !isTopDown else { return }
        var file = BMPFile(headerSize: size, isTopDown: isTopDown)
        file.setRows(Self.rows)
        let container = try decode(file.data)
        #expect(Self.pixels(container.image) == Self.colors)
        #expect(container.type == .bmp && container.image.isOpaque)
        let properties = try ImageDecoders.BMP(context: Self.context(file.data)).properties(of: file.data)
        #expect(properties?.width == 3 && properties?.height == 2 && properties?.hasAlpha == false)
    }

    @Test("indices of 1, 4 and 8 bits; what is beyond the palette is black", arguments: [12, 40])
    func indices(headerSize: Int) throws {
        var file = BMPFile(
            width: 10, height: 1, bitCount: 1, headerSize: headerSize, palette: [[1, 2, 3], [4, 5, 6]])
        file.setRows([[0b1010_0000, 0b0100_0000]])
        var image = try decode(file.data).image
        #expect((0..<10).map { image.pixel($0, 0)[0] } == [4, 1, 4, 1, 1, 1, 1, 1, 1, 4])
        file = BMPFile(width: 3, height: 1, bitCount: 4, headerSize: headerSize, palette: [[1, 2, 3], [4, 5, 6]])
        file.setRows([[0x01, 0x20]])
        image = try decode(file.data).image
        #expect(Self.pixels(image) == [[[1, 2, 3, 255], [4, 5, 6, 255], [0, 0, 0, 255]]])
        file = BMPFile(width: 2, height: 1, bitCount: 8, headerSize: headerSize, palette: [[1, 2, 3], [4, 5, 6]])
        file.setRows([[1, 200]])
        image = try decode(file.data).image
        #expect(Self.pixels(image) == [[[4, 5, 6, 255], [0, 0, 0, 255]]])
    }

    @Test("16 and 32 bits: plain, by masks in the header and behind it, with alpha, of more than 8 bits a component")
    func fields() throws {
        var file = BMPFile(width: 2, height: 1, bitCount: 16)
        file.setRows([[0x1F, 0x7C, 0xE0, 0x03]])
        #expect(Self.pixels(try decode(file.data).image) == [[[255, 0, 255, 255], [0, 255, 0, 255]]])
        file = BMPFile(width: 1, height: 1, bitCount: 16, compression: 3, masks: [0xF800, 0x7E0, 0x1F])
        file.setRows([[0x00, 0x84]])  // 16 of 31, 32 of 63, 0
        #expect(Self.pixels(try decode(file.data).image) == [[[132, 130, 0, 255]]])
        // The fourth byte of plain pixels means nothing.
        file = BMPFile(width: 1, height: 1, bitCount: 32)
        file.setRows([[10, 20, 30, 7]])
        #expect(Self.pixels(try decode(file.data).image) == [[[30, 20, 10, 255]]])
        for (size, compression) in [(56, 3), (124, 3), (40, 6)] {
            file = BMPFile(
                width: 2, height: 1, bitCount: 32, headerSize: size, compression: compression,
                masks: [0xFF, 0xFF00, 0xFF0000, 0xFF00_0000])
            file.setRows([[200, 100, 50, 128, 1, 2, 3, 0]])
            let image = try decode(file.data).image
            #expect(Self.pixels(image) == [[[100, 50, 25, 128], [0, 0, 0, 0]]] && !image.isOpaque)
        }
        file = BMPFile(
            width: 1, height: 1, bitCount: 32, headerSize: 108, compression: 3, masks: [0x3FF0_0000, 0xFFC00, 0x3FF])
        file.setRows([[0xFF, 0x03, 0x08, 0x00]])  // blue 1023, green 512, red 0
        #expect(Self.pixels(try decode(file.data).image) == [[[0, 128, 255, 255]]])
    }

    @Test("run lengths of 8 bits: runs, pixels as they are, steps, early ends; rows that are too long are cut")
    func runLengths8() throws {
        var file = BMPFile(
            width: 4, height: 4, bitCount: 8, compression: 1, palette: [[9, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]])
        // From below: a run and its end, three pixels as they are, a step by one column and two rows, the end.
        file.body = Data([9, 1, 0, 0, 0, 3, 1, 2, 3, 0, 0, 2, 0, 1, 2, 2, 0, 1])
        let image = try decode(file.data).image
        #expect(
            (0..<4).map { y in (0..<4).map { image.pixel($0, y)[0] } }
                == [[9, 9, 9, 9], [9, 9, 9, 2], [1, 2, 3, 9], [1, 1, 1, 1]])
        file.body = Data([1, 1, 0, 2, 1, 2, 2, 2, 0, 1])
        let stepped = try decode(file.data).image
        #expect(
            (0..<4).map { y in (0..<4).map { stepped.pixel($0, y)[0] } }
                == [[9, 9, 9, 9], [9, 9, 2, 2], [9, 9, 9, 9], [1, 9, 9, 9]])
        // The data ends without saying so.
        file.body = Data([4, 1, 0, 0, 2])
        #expect(error(file) == .truncated)
    }

    @Test("run lengths of 4 bits")
    func runLengths4() throws {
        var file = BMPFile(
            width: 6, height: 2, bitCount: 4, compression: 2, palette: [[9, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]])
        file.body = Data([5, 0x12, 0, 0, 0, 5, 0x12, 0x31, 0x20, 0, 0, 1])
        let image = try decode(file.data).image
        #expect(
            (0..<2).map { y in (0..<6).map { image.pixel($0, y)[0] } } == [[1, 2, 3, 1, 2, 9], [1, 2, 1, 2, 1, 9]])
    }

    @Test("a profile of version 5 is the colour space")
    func profile() throws {
        var profile = Data(count: 200)
        profile.replaceSubrange(16..<20, with: "RGB ".utf8)
        profile.replaceSubrange(36..<40, with: "acsp".utf8)
        var file = BMPFile(headerSize: 124, profile: profile)
        file.setRows(Self.rows)
        #expect(try decode(file.data).image.colorSpace.iccProfile == profile)
        #expect(try decode(file.data) { $0.limits.metadataBytes = 100 }.image.colorSpace == .sRGB)
        #expect(try decode(file.data.dropLast()).image.colorSpace == .sRGB)
    }

    @Test("what is not done is unsupported, what is against the rules corrupt, what is too large a limit")
    func errors() throws {
        #expect(error(BMPFile(bitCount: 24, compression: 5)) == .unsupported)
        #expect(error(BMPFile(bitCount: 24, compression: 4)) == .unsupported)
        #expect(error(BMPFile(bitCount: 1, headerSize: 64, compression: 3)) == .unsupported)
        #expect(error(BMPFile(bitCount: 2)) == .unsupported)
        #expect(error(BMPFile(bitCount: 8, compression: 1, isTopDown: true)) == .corruptData)
        #expect(error(BMPFile(width: 0)) == .corruptData && error(BMPFile(height: 0)) == .corruptData)
        #expect(error(BMPFile(headerSize: 44)) == .corruptData)
        #expect(error(BMPFile(width: 70_000, height: 1)) == .limitExceeded)
        #expect(error(BMPFile(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)) == .limitExceeded)
        #expect(error(BMPFile(width: -5)) == .corruptData)
        #expect(error(BMPFile()) == .truncated)
    }

    @Test("a file that is cut is an error; under the lenient policy its rows are the image")
    func truncated() throws {
        var file = BMPFile()
        file.setRows(Self.rows)
        let cut = file.data.dropLast(5)
        #expect(throws: ImageDecodingError.truncated("", codec: "BMP")) { try decode(cut) }
        let container = try decode(cut) { $0.truncationPolicy = .lenient }
        #expect(container.userInfo[.isTruncatedKey] as? Bool == true && !container.image.isOpaque)
        #expect(Self.pixels(container.image) == [Array(repeating: [0, 0, 0, 0], count: 3), Self.colors[1]])
        #expect(throws: ImageDecodingError.truncated("", codec: "BMP")) {
            try decode(file.data.prefix(60)) { $0.truncationPolicy = .lenient }
        }
    }
}
