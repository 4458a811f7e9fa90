import NukeCore

/// Mean code values of a picture's pixels, 0…255.
struct ImageStatistics: Sendable {
    /// Red, green and blue composited on white, and alpha.
    let mean: [Double]
    /// Red, green and blue of the quarters: top left, top right, bottom left, bottom right; halves rounded up.
    let quadrantMeans: [[Double]]

    init(_ image: Bitmap) {
        let (middleX, middleY) = ((image.width + 1) / 2, (image.height + 1) / 2)
        var sums = [SIMD4<Double>](repeating: .zero, count: 4)
        for y in 0..<image.height {
            let row = image.row(y)
            let left = Self.sum(row, 0..<middleX, image.format)
            let right = Self.sum(row, middleX..<image.width, image.format)
            let first = y < middleY ? 0 : 2
            sums[first] += left
            sums[first + 1] += right
        }
        let counts = [middleY, image.height - middleY].flatMap { rows in
            [rows * middleX, rows * (image.width - middleX)]
        }
        func means(_ sum: SIMD4<Double>, _ count: Int) -> [Double] {
            // Premultiplied colour over white is colour + (255 − alpha).
            let mean = count > 0 ? sum / Double(count) : .zero
            return (0..<3).map { mean[$0] + (count > 0 ? 255 - mean[3] : 0) } + [mean[3]]
        }
        quadrantMeans = (0..<4).map { Array(means(sums[$0], counts[$0]).prefix(3)) }
        mean = means(sums.reduce(.zero, +), image.width * image.height)
    }

    private static func sum(_ row: RawSpan, _ columns: Range<Int>, _ format: PixelFormat) -> SIMD4<Double> {
        var sum = SIMD4<UInt64>.zero
        // SAFETY: unsafeLoad checks the bounds; any bytes are integers.
        for x in columns {
            switch format {
            case .rgba8:
                let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 4, as: SIMD4<UInt8>.self)
                sum &+= SIMD4<UInt64>(truncatingIfNeeded: pixel)
            case .rgba16:
                let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 8, as: SIMD4<UInt16>.self)
                sum &+= SIMD4<UInt64>(truncatingIfNeeded: pixel)
            case .gray8:
                let value = UInt64(unsafe row.unsafeLoad(fromByteOffset: x, as: UInt8.self))
                sum &+= SIMD4(value, value, value, 255)
            }
        }
        let scale = format == .rgba16 ? 257.0 : 1
        return SIMD4<Double>(sum) / scale
    }
}
