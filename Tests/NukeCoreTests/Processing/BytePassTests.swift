import NukeTestSupport
import Testing

@testable import NukeCore

@Suite("Resampling in integers")
struct BytePassTests {
    /// Noise over a gradient, with alpha of its own and colours below it.
    private func picture(_ width: Int, _ height: Int) throws -> Bitmap {
        var pixels = try buffer(width: width, height: height)
        var state: UInt32 = 7
        for y in 0..<height {
            pixels.withRow(y) { row in
                for x in 0..<width {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    let alpha = x * 5 % 7 == 0 ? 0 : 255 - UInt32(y * 100 / height)
                    for channel in 0..<3 {
                        let value = (UInt32(x * 255 / width) + state >> UInt32(20 + channel)) & 255
                        row.storeBytes(
                            of: UInt8(value * alpha / 255), toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                    row.storeBytes(of: UInt8(alpha), toByteOffset: x * 4 + 3, as: UInt8.self)
                }
            }
        }
        return pixels.freeze()
    }

    private func buffer(width: Int, height: Int) throws -> PixelBuffer {
        guard let buffer = PixelBuffer(width: width, height: height) else { throw ImageProcessingError.outOfMemory }
        return buffer
    }

    private func bytes(_ buffer: consuming PixelBuffer) -> [UInt8] {
        let bitmap = buffer.freeze()
        return (0..<bitmap.byteCount).map { bitmap.bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }

    private static let sizes = [
        (101, 67, 40, 30), (101, 67, 101, 67), (64, 64, 7, 64), (33, 9, 70, 31), (1, 1, 5, 3), (3, 200, 1, 1),
        (500, 3, 16, 2), (40, 1, 9, 1), (37, 41, 36, 40),
    ]

    @Test("all ways of vectors give the same bytes, and those of single precision within one", arguments: sizes)
    func sameBytes(sizes: (Int, Int, Int, Int)) throws {
        let (width, height, newWidth, newHeight) = sizes
        let image = try picture(width, height)
        let columns = FilterTaps(source: width, start: 0, extent: Double(width), count: newWidth)
        let rows = FilterTaps(source: height, start: 0, extent: Double(height), count: newHeight)
        var pass = try #require(BytePass(columns: columns, rows: rows))
        var results: [[UInt8]] = []
        for vectors in BytePass.everyVectors {
            pass.vectors = vectors
            var output = try buffer(width: newWidth, height: newHeight)
            pass.run(image, into: &output)
            results.append(bytes(output))
        }
        for result in results { #expect(result == results[0]) }
        var exact = try buffer(width: newWidth, height: newHeight)
        Pass<UInt8>(channels: 4, columns: columns, rows: rows).run(image, into: &exact)
        let differences = zip(results[0], bytes(exact)).map { abs(Int($0) - Int($1)) }
        #expect(differences.allSatisfy { $0 <= 1 }, "\(differences.max() ?? 0)")
    }

    @Test("a region between pixels gives what it does in single precision")
    func region() throws {
        let image = try picture(90, 50)
        let columns = FilterTaps(source: 90, start: 20.5, extent: 41.25, count: 20)
        let rows = FilterTaps(source: 50, start: 3.25, extent: 30, count: 15)
        let pass = try #require(BytePass(columns: columns, rows: rows))
        var output = try buffer(width: 20, height: 15)
        pass.run(image, into: &output)
        var exact = try buffer(width: 20, height: 15)
        Pass<UInt8>(channels: 4, columns: columns, rows: rows).run(image, into: &exact)
        #expect(zip(bytes(output), bytes(exact)).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test("even areas stay as they are, at any ratio and at the edges", arguments: [1, 2, 3, 10, 97, 300])
    func evenAreas(count: Int) throws {
        var pixels = try buffer(width: 300, height: 40)
        for y in 0..<40 {
            pixels.withRow(y) { row in
                for x in 0..<300 { row.storeBytes(of: 0xFF_FE_7D_01, toByteOffset: x * 4, as: UInt32.self) }
            }
        }
        let image = pixels.freeze(isOpaque: true)
        let result = try #require(Resampler.resample(image, width: count, height: 13))
        for y in 0..<13 {
            for x in 0..<count {
                #expect(result.row(y).unsafeLoad(fromByteOffset: x * 4, as: UInt32.self) == 0xFF_FE_7D_01)
            }
        }
    }

    @Test("where integers are too coarse, shrinking to a thousandth, they decline")
    func coarse() {
        let columns = FilterTaps(source: 60_000, start: 0, extent: 60_000, count: 10)
        let rows = FilterTaps(source: 10, start: 0, extent: 10, count: 5)
        #expect(BytePass(columns: columns, rows: rows) == nil)
    }
}
