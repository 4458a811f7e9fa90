import NukeCore
import NukeTestSupport
import Testing

@Suite("What encoders of animations ask for", .timeLimit(.minutes(5)))
struct FrameDifferenceTests {
    private func picture(_ changes: [(x: Int, y: Int, pixel: UInt32)] = []) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: 9, height: 5) else { throw ImageProcessingError.outOfMemory }
        buffer.withBytes { bytes in
            for (x, y, pixel) in changes {
                bytes.storeBytes(of: pixel.littleEndian, toByteOffset: (y * 9 + x) * 4, as: UInt32.self)
            }
        }
        return buffer.freeze()
    }

    @Test("a difference has the smallest rectangle of changed pixels, how many there are, and whether all are opaque")
    func difference() throws {
        let none = FrameDifference(from: try picture(), to: try picture())
        #expect(none.columns.isEmpty && none.rows.isEmpty && none.changedCount == 0 && none.isOverlay)
        let opaque = FrameDifference(from: try picture(), to: try picture([(3, 1, 0xFF00_0001), (6, 3, 0xFF00_0000)]))
        #expect(opaque.columns == 3..<7 && opaque.rows == 1..<4 && opaque.changedCount == 2 && opaque.isOverlay)
        let clear = FrameDifference(from: try picture([(8, 4, 0xFF00_0001), (0, 4, 0xFF00_0001)]), to: try picture())
        #expect(clear.columns == 0..<9 && clear.rows == 4..<5 && clear.changedCount == 2 && !clear.isOverlay)
        let faint = FrameDifference(from: try picture(), to: try picture([(0, 0, 0xFE00_0001)]))
        #expect(faint.columns == 0..<1 && faint.rows == 0..<1 && !faint.isOverlay)
    }

    @Test("a row's changes are its changed pixels and nothing else")
    func changes() throws {
        let (before, after) = (
            try picture([(1, 0, 0xFF00_0001), (2, 0, 0xFF00_0002)]),
            try picture([(1, 0, 0xFF00_0001), (2, 0, 0xFF03_0000), (8, 0, 0xFF00_0004)])
        )
        var changes = [UInt8](repeating: 9, count: 36)
        FrameDifference.copyChanges(in: after.row(0), since: before.row(0), to: &changes)
        var expected = [UInt8](repeating: 0, count: 36)
        expected.replaceSubrange(8..<12, with: [0, 0, 3, 255])
        expected.replaceSubrange(32..<36, with: [4, 0, 0, 255])
        #expect(changes == expected)
    }

    @Test("16 bits become the nearest of 8, gray three equal colours, and RGBA8 stays what it is")
    func conversion() throws {
        let image = try picture()
        #expect(image.convertedToRGBA8() === image)
        guard var deep = PixelBuffer(width: 2, height: 1, format: .rgba16),
            var gray = PixelBuffer(width: 1, height: 2, format: .gray8)
        else { throw ImageProcessingError.outOfMemory }
        deep.withBytes { bytes in
            for (index, sample) in [0x0081, 0x1234, 0x80FF, 0xFFFF, 0, 0x7F80, 0x8080, 0x8100].enumerated() {
                bytes.storeBytes(of: UInt16(sample), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        #expect(deep.freeze().convertedToRGBA8()?.byteArray == [1, 18, 128, 255, 0, 127, 128, 128])
        gray.withRow(1) { $0.storeBytes(of: 9, toByteOffset: 0, as: UInt8.self) }
        let result = try #require(gray.freeze().convertedToRGBA8())
        #expect(result.byteArray == [0, 0, 0, 255, 9, 9, 9, 255] && result.isOpaque && result.height == 2)
    }
}
