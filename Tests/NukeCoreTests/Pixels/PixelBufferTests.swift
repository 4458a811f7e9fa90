import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct PixelBufferTests {
    @Test("new pixels are zeros, in small and in mapped memory", arguments: [16, 1500])
    func zeros(side: Int) {
        for _ in 0..<2 {
            guard var buffer = PixelBuffer(width: side, height: side) else { return }
            buffer.withBytes { bytes in
                for offset in stride(from: 0, to: bytes.byteCount, by: 997) {
                    #expect(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0)
                    bytes.storeBytes(of: 255, toByteOffset: offset, as: UInt8.self)
                }
            }
        }
    }

    @Test("impossible sizes give no buffer, without a trap")
    func impossible() {
        for (width, height) in [(0, 1), (1, 0), (-1, 5), (.max, 1), (1 << 32, 1 << 32), (1 << 40, 1 << 20)] {
            guard let buffer = PixelBuffer(width: width, height: height) else { continue }
            Issue.record("a buffer of \(buffer.width)x\(buffer.height)")
        }
    }

    @Test("rows are written where they belong, and freezing copies nothing")
    func rows() {
        guard var buffer = PixelBuffer(width: 3, height: 2) else { return }
        buffer.withRow(1) { $0.storeBytes(of: 7, toByteOffset: 8, as: UInt8.self) }
        let address = buffer.withBytes { bytes in bytes.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } }
        let image = buffer.freeze(isOpaque: false)
        #expect(image.pixel(2, 1) == [7, 0, 0, 0] && image.bytesPerRow == 12 && image.byteCount == 24)
        #expect(image.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } == address)
        let scaled = image.withScale(2)
        #expect(scaled !== image && scaled != image && scaled.scale == 2)
        #expect(scaled.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } == address)
    }

    @Test(
        "stored rows land upright, for all eight orientations and every format [PITFALLS 127]",
        arguments: ImageOrientation.allCases)
    func orientations(orientation: ImageOrientation) {
        // What EXIF says of a stored picture's row 0 and column 0: the side of the upright picture where each lies.
        let (width, height) = (3, 2)
        let upright = orientation.applied(to: ImageSize(width: width, height: height))
        for format in PixelFormat.allCases {
            let size = format.bytesPerPixel
            guard var buffer = PixelBuffer(width: Int(upright.width), height: Int(upright.height), format: format)
            else { return }
            for y in 0..<height {
                let row = (0..<width).flatMap { x in [UInt8](repeating: UInt8(y * width + x + 1), count: size) }
                buffer.writeStoredRow(row.span.bytes, at: y, orientation: orientation)
            }
            let bytes = buffer.freeze().byteArray
            let values = stride(from: 0, to: bytes.count, by: size).map { Int(bytes[$0]) }
            // Stored: 1 2 3 / 4 5 6.
            let expected: [ImageOrientation: [Int]] = [
                .up: [1, 2, 3, 4, 5, 6], .upMirrored: [3, 2, 1, 6, 5, 4], .down: [6, 5, 4, 3, 2, 1],
                .downMirrored: [4, 5, 6, 1, 2, 3], .leftMirrored: [1, 4, 2, 5, 3, 6], .right: [4, 1, 5, 2, 6, 3],
                .rightMirrored: [6, 3, 5, 2, 4, 1], .left: [3, 6, 2, 5, 1, 4],
            ]
            #expect(values == expected[orientation])
        }
    }

    @Test("limits hold before any pixel, without overflow")
    func limits() {
        let limits = ImageLimits()
        func code(_ width: Int, _ height: Int, decoded: Int? = nil, codec: Int = 0) -> ImageDecodingError.Code? {
            do throws(ImageDecodingError) {
                try limits.check(width: width, height: height, decodedBytes: decoded, codecBytes: codec, codec: "X")
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(10_000, 10_000) == nil && code(10_001, 10_000) == .limitExceeded)
        #expect(code(65_535, 1) == nil && code(65_536, 1) == .limitExceeded && code(1, 65_536) == .limitExceeded)
        #expect(code(0, 1) == .corruptData && code(-1, 1) == .corruptData && code(.max, .max) == .limitExceeded)
        #expect(code(1, 1, decoded: 1 << 30) == .limitExceeded && code(1, 1, codec: .max) == .limitExceeded)
        #expect(code(10_000, 10_000, decoded: 1000, codec: 1 << 28) == nil)
    }
}
