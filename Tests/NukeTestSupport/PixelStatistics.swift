public import NukeCore

/// Means of a picture's pixels, as `Tests/Fixtures/README.md` defines them.
public struct PixelStatistics: Sendable {
    /// Red, green, blue composited on white, and alpha; 0…255.
    public let mean: [Double]
    /// Red, green and blue of the quarters: top left, top right, bottom left, bottom right; halves rounded up.
    public let quadrantMeans: [[Double]]

    /// Computes the means of an RGBA8 or gray picture.
    public init(_ image: Bitmap) {
        var sums = [[Double]](repeating: [0, 0, 0, 0], count: 4)
        var counts = [Double](repeating: 0, count: 4)
        let (middleX, middleY) = ((image.width + 1) / 2, (image.height + 1) / 2)
        for y in 0..<image.height {
            for x in 0..<image.width {
                let pixel = image.pixel(x, y)
                let quadrant = (y < middleY ? 0 : 2) + (x < middleX ? 0 : 1)
                let white = 255 - Double(pixel[3])
                for channel in 0..<3 { sums[quadrant][channel] += Double(pixel[channel]) + white }
                sums[quadrant][3] += Double(pixel[3])
                counts[quadrant] += 1
            }
        }
        let total = Double(image.width * image.height)
        mean = (0..<4).map { channel in sums.reduce(0) { $0 + $1[channel] } / total }
        quadrantMeans = (0..<4).map { quadrant in
            (0..<3).map { counts[quadrant] > 0 ? sums[quadrant][$0] / counts[quadrant] : 0 }
        }
    }
}

extension Bitmap {
    /// The premultiplied 8-bit samples of a pixel: red, green, blue, alpha.
    public func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let row = row(y)
        switch format {
        case .rgba8: return (0..<4).map { row.unsafeLoad(fromByteOffset: x * 4 + $0, as: UInt8.self) }
        case .rgba16:
            return (0..<4).map { UInt8(row.unsafeLoad(fromByteOffset: x * 8 + $0 * 2, as: UInt16.self) >> 8) }
        case .gray8:
            let value = row.unsafeLoad(fromByteOffset: x, as: UInt8.self)
            return [value, value, value, 255]
        }
    }

    /// The bytes of all rows.
    public var byteArray: [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}
