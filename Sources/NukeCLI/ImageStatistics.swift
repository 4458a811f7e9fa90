import NukeCore

/// Mean code values of a picture's pixels, 0…255.
struct ImageStatistics: Sendable {
    /// Red, green and blue composited on white, and alpha.
    let mean: [Double]
    /// Red, green and blue of the quarters: top left, top right, bottom left, bottom right.
    ///
    /// Halves are rounded up: the quarters of odd sides share the middle.
    let quadrantMeans: [[Double]]

    init(_ image: Bitmap) {
        let (halfWidth, halfHeight) = ((image.width + 1) / 2, (image.height + 1) / 2)
        var quadrants = [SIMD4<Double>](repeating: .zero, count: 4)
        var whole = SIMD4<Double>.zero
        for y in 0..<image.height {
            let row = image.row(y)
            let left = Self.sum(row, 0..<halfWidth, image.format)
            let rest = Self.sum(row, halfWidth..<image.width, image.format)
            let isMiddleShared = image.width % 2 == 1
            let right = isMiddleShared ? rest + Self.sum(row, halfWidth - 1..<halfWidth, image.format) : rest
            if y < halfHeight {
                quadrants[0] += left
                quadrants[1] += right
            }
            if y >= image.height - halfHeight {
                quadrants[2] += left
                quadrants[3] += right
            }
            whole += left + rest
        }
        mean = Self.mean(whole, image.width * image.height)
        quadrantMeans = quadrants.map { Array(Self.mean($0, halfWidth * halfHeight).prefix(3)) }
    }

    /// Premultiplied colour over white is colour + (255 − alpha).
    private static func mean(_ sum: SIMD4<Double>, _ count: Int) -> [Double] {
        let mean = sum / Double(count)
        return (0..<3).map { mean[$0] + 255 - mean[3] } + [mean[3]]
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
