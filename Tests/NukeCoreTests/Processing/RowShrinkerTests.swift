import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct RowShrinkerTests {
    private func shrink(_ image: Bitmap, _ width: Int, _ height: Int, rows: Int? = nil) -> Bitmap? {
        guard
            var shrinker = RowShrinker(
                sourceWidth: image.width, sourceHeight: image.height, width: width, height: height, format: image.format
            )
        else { return nil }
        for y in 0..<(rows ?? image.height) { shrinker.append(image.row(y)) }
        return shrinker.finish().freeze()
    }

    /// The mean of the area that each output pixel covers, computed the plain way.
    private func reference(_ image: Bitmap, _ width: Int, _ height: Int, _ x: Int, _ y: Int, _ channel: Int) -> Double {
        let (scaleX, scaleY) = (Double(image.width) / Double(width), Double(image.height) / Double(height))
        var sum = 0.0
        for sourceY in 0..<image.height {
            let coveredY = min(Double(sourceY + 1), Double(y + 1) * scaleY) - max(Double(sourceY), Double(y) * scaleY)
            if coveredY <= 0 { continue }
            for sourceX in 0..<image.width {
                let coveredX =
                    min(Double(sourceX + 1), Double(x + 1) * scaleX) - max(Double(sourceX), Double(x) * scaleX)
                if coveredX > 0 { sum += coveredX * coveredY * Double(image.pixel(sourceX, sourceY)[channel]) }
            }
        }
        return sum / (scaleX * scaleY)
    }

    @Test(
        "every output pixel is the mean of its area, at any ratio",
        arguments: [(30, 20), (15, 10), (7, 3), (29, 1), (1, 19), (11, 20)])
    func areas(width: Int, height: Int) {
        let image = Bitmap.make(width: 30, height: 20) { x, y in
            [UInt8(x * 8), UInt8(y * 12), UInt8((x * y) % 200), UInt8(200 + (x + y) % 50)]
        }
        guard let output = shrink(image, width, height) else {
            Issue.record("no shrinker")
            return
        }
        for y in 0..<height {
            for x in 0..<width {
                for channel in 0..<4 {
                    let expected = reference(image, width, height, x, y, channel)
                    #expect(abs(Double(output.pixel(x, y)[channel]) - expected) <= 0.51)
                }
            }
        }
    }

    @Test("16-bit and gray rows are averaged alike")
    func formats() {
        for format in PixelFormat.allCases {
            guard var buffer = PixelBuffer(width: 9, height: 9, format: format) else { return }
            buffer.withBytes { bytes in
                for index in 0..<bytes.byteCount { bytes.storeBytes(of: 77, toByteOffset: index, as: UInt8.self) }
            }
            let output = shrink(buffer.freeze(), 4, 2)
            #expect(output?.byteArray.allSatisfy { $0 == 77 } == true && output?.format == format)
        }
    }

    @Test("rows that never come leave zeros; rows too many are ignored")
    func missingRows() {
        let image = Bitmap.mock(width: 8, height: 8, gray: 255)
        let half = shrink(image, 4, 4, rows: 4)
        #expect(half?.pixel(0, 1) == [255, 255, 255, 255] && half?.pixel(0, 2) == [0, 0, 0, 0])
        guard var shrinker = RowShrinker(sourceWidth: 8, sourceHeight: 2, width: 4, height: 1) else { return }
        for y in 0..<8 { shrinker.append(image.row(y)) }
        #expect(shrinker.finish().freeze().pixel(3, 0) == [255, 255, 255, 255])
    }

    @Test("nothing is enlarged")
    func noEnlargement() {
        func isRefused(_ width: Int, _ height: Int) -> Bool {
            guard let shrinker = RowShrinker(sourceWidth: 4, sourceHeight: 4, width: width, height: height) else {
                return true
            }
            _ = shrinker.sourceWidth
            return false
        }
        #expect(isRefused(5, 4) && isRefused(4, 5) && !isRefused(4, 4))
    }

    @Test("the reduced size is at least twice the hint, and at most half the source")
    func reducedSize() {
        let source = ImageSize(width: 4000, height: 3000)
        let reduced = RowShrinker.reducedSize(of: source, for: ImageSize(width: 320, height: 240))
        #expect(reduced?.width == 640 && reduced?.height == 480)
        #expect(RowShrinker.reducedSize(of: source, for: ImageSize(width: 1001, height: 750)) == nil)
    }
}
