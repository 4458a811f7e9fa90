public import NukeCore

/// Means of a picture's pixels, as `Tests/Fixtures/README.md` defines them.
public struct PixelStatistics: Sendable {
    /// Red, green, blue composited on white, and alpha; 0…255.
    public let mean: [Double]
    /// Red, green and blue of the quarters: top left, top right, bottom left, bottom right.
    ///
    /// Halves are rounded up: of an odd number of columns or rows the middle one counts to both sides.
    public let quadrantMeans: [[Double]]

    /// Computes the means of a picture; of 16-bit samples the high bytes count.
    public init(_ image: Bitmap) {
        let (width, height) = (image.width, image.height)
        // Thirds of a row: left half, middle column of an odd number, right half; likewise for rows.
        let columns = [0..<width / 2, width / 2..<(width + 1) / 2, (width + 1) / 2..<width]
        let rows = [0..<height / 2, height / 2..<(height + 1) / 2, (height + 1) / 2..<height]
        let sums = rows.map { rows in
            columns.map { columns in
                rows.reduce(SIMD4<Int>.zero) { $0 &+ Self.sum(of: image.row($1), columns, image.format) }
            }
        }
        func means(_ downs: Range<Int>, _ acrosses: Range<Int>) -> [Double] {
            let sum = downs.reduce(SIMD4<Int>.zero) { sum, down in
                acrosses.reduce(sum) { $0 &+ sums[down][$1] }
            }
            let count = downs.reduce(0) { $0 + rows[$1].count } * acrosses.reduce(0) { $0 + columns[$1].count }
            let alpha = Double(sum[3]) / Double(count)
            return (0..<3).map { Double(sum[$0]) / Double(count) + 255 - alpha } + [alpha]
        }
        mean = means(0..<3, 0..<3)
        quadrantMeans = [0..<2, 1..<3].flatMap { downs in
            [0..<2, 1..<3].map { Array(means(downs, $0).prefix(3)) }
        }
    }

    private static func sum(of row: RawSpan, _ columns: Range<Int>, _ format: PixelFormat) -> SIMD4<Int> {
        let size = format.bitsPerChannel / 8
        let (step, isGray) = (format.bytesPerPixel, format == .gray8)
        var (red, green, blue, alpha) = (0, 0, 0, 0)
        row.withUnsafeBytes { bytes in
            var offset = columns.lowerBound * step + size - 1
            let end = columns.upperBound * step
            while offset < end {
                red += Int(bytes[offset])
                if !isGray {
                    green += Int(bytes[offset + size])
                    blue += Int(bytes[offset + 2 * size])
                    alpha += Int(bytes[offset + 3 * size])
                }
                offset += step
            }
        }
        return isGray ? SIMD4(red, red, red, 255 * columns.count) : SIMD4(red, green, blue, alpha)
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
