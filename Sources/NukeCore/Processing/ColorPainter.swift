/// Applies changes of colour to a picture, whatever its format.
struct ColorPainter {
    private let image: Bitmap

    init(_ image: Bitmap) { self.image = image }

    /// A matrix works on premultiplied samples as they are, with its constants times alpha.
    func paint(_ matrix: ColorMatrix) throws(ImageProcessingError) -> Bitmap {
        if image.format == .gray8 {
            return try mapGray { value in matrix.apply(SIMD3(repeating: value)).x }
        }
        return try image.format == .rgba16 ? map(matrix, UInt16.self) : map(matrix, UInt8.self)
    }

    /// A curve is looked up; alpha is divided out around it.
    func paint(_ curve: ColorCurve) throws(ImageProcessingError) -> Bitmap {
        switch image.format {
        case .gray8: try mapGray(curve.apply)
        case .rgba8: try look(up: Self.table(curve, UInt8.self))
        case .rgba16: try look(up: Self.table(curve, UInt16.self))
        }
    }

    /// Darkens towards the corners, smoothly from where it begins.
    func paintVignette(intensity: Double, radius: Double) throws(ImageProcessingError) -> Bitmap {
        let (intensity, radius) = (min(max(intensity, 0), 1), min(max(radius, 0.001), 1))
        let center = SIMD2(Double(image.width), Double(image.height)) / 2
        let unit = 1 / (center.x * center.x + center.y * center.y)
        return try mapPixels { x, y in
            let (dx, dy) = (Double(x) + 0.5 - center.x, Double(y) + 0.5 - center.y)
            let depth = max(0, (((dx * dx + dy * dy) * unit).squareRoot() - (1 - radius)) / radius)
            return Float(1 - intensity * depth * depth * (3 - 2 * depth))
        }
    }

    // MARK: Loops

    private func makeOutput(
        _ fill: (_ y: Int, _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) -> Void
    ) throws(ImageProcessingError) -> Bitmap {
        guard var output = PixelBuffer(width: image.width, height: image.height, format: image.format) else {
            throw .outOfMemory
        }
        for y in 0..<image.height {
            let source = image.row(y)
            output.withRow(y) { target in
                // SAFETY: both rows have `image.width` pixels of the image's format; the loops below stay within them.
                unsafe source.withUnsafeBytes { source in
                    unsafe target.withUnsafeMutableBytes { target in
                        guard let from = source.baseAddress, let to = target.baseAddress else { return }
                        unsafe fill(y, from, to)
                    }
                }
            }
        }
        return output.freeze(isOpaque: image.isOpaque, colorSpace: image.colorSpace, scale: image.scale)
    }

    private func mapGray(_ change: (Double) -> Double) throws(ImageProcessingError) -> Bitmap {
        let table = (0...255).map { UInt8(min(max(change(Double($0) / 255), 0), 1) * 255 + 0.5) }
        return try unsafe makeOutput { _, source, target in
            // SAFETY: see makeOutput; the table has 256 entries.
            for x in 0..<image.width {
                let sample = unsafe source.load(fromByteOffset: x, as: UInt8.self)
                unsafe target.storeBytes(of: table[Int(sample)], toByteOffset: x, as: UInt8.self)
            }
        }
    }

    private func map<Sample: PixelSample>(
        _ matrix: ColorMatrix, _ type: Sample.Type
    ) throws(ImageProcessingError) -> Bitmap {
        let size = MemoryLayout<SIMD4<Sample>>.size
        let columns = (matrix.columns + [matrix.bias]).map { SIMD4<Float>(Float($0.x), Float($0.y), Float($0.z), 0) }
        let (red, green, blue) = (columns[0], columns[1], columns[2])
        // Alpha stays: it contributes itself to itself, and the constants to the rest.
        let alpha = columns[3] + SIMD4(0, 0, 0, 1)
        return try unsafe makeOutput { _, source, target in
            // SAFETY: see makeOutput.
            for x in 0..<image.width {
                let samples = unsafe source.loadUnaligned(fromByteOffset: x * size, as: SIMD4<Sample>.self)
                let pixel = SIMD4<Float>(samples: samples)
                var sum = red * pixel[0] + green * pixel[1]
                sum += blue * pixel[2] + alpha * pixel[3]
                let most = SIMD4(repeating: pixel[3])
                sum.replace(with: most, where: sum .> most)
                sum.replace(with: SIMD4<Float>.zero, where: sum .< SIMD4<Float>.zero)
                unsafe target.storeBytes(of: sum.samples(type), toByteOffset: x * size, as: SIMD4<Sample>.self)
            }
        }
    }

    private func mapPixels(_ factor: (_ x: Int, _ y: Int) -> Float) throws(ImageProcessingError) -> Bitmap {
        try unsafe makeOutput { y, source, target in
            // SAFETY: see makeOutput.
            for x in 0..<image.width {
                let factor = factor(x, y)
                switch image.format {
                case .rgba8: unsafe Self.scale(source + x * 4, target + x * 4, by: factor, UInt8.self)
                case .rgba16: unsafe Self.scale(source + x * 8, target + x * 8, by: factor, UInt16.self)
                case .gray8:
                    let sample = unsafe source.load(fromByteOffset: x, as: UInt8.self)
                    let scaled = UInt8(Float(sample) * factor + 0.5)
                    unsafe target.storeBytes(of: scaled, toByteOffset: x, as: UInt8.self)
                }
            }
        }
    }

    @inline(__always)
    private static func scale<Sample: PixelSample>(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, by factor: Float, _ type: Sample.Type
    ) {
        // SAFETY: both point at a whole pixel, as mapPixels sees to.
        let pixel = SIMD4<Float>(samples: unsafe source.loadUnaligned(as: SIMD4<Sample>.self))
        unsafe target.storeBytes(
            of: (pixel * SIMD4(factor, factor, factor, 1)).samples(type), as: SIMD4<Sample>.self)
    }

    private static func table<Sample: PixelSample>(_ curve: ColorCurve, _ type: Sample.Type) -> [Sample] {
        let limit = Double(Int(truncatingIfNeeded: Sample.max))
        return (0...Int(truncatingIfNeeded: Sample.max)).map {
            Sample(truncatingIfNeeded: Int(curve.apply(Double($0) / limit) * limit + 0.5))
        }
    }

    private func look<Sample: PixelSample>(up table: [Sample]) throws(ImageProcessingError) -> Bitmap {
        let limit = table.count - 1
        let size = MemoryLayout<Sample>.size
        return try unsafe makeOutput { _, source, target in
            // SAFETY: see makeOutput; the table has an entry for every sample.
            for x in 0..<image.width {
                let offset = x * 4 * size
                let alphaSample = unsafe source.load(fromByteOffset: offset + 3 * size, as: Sample.self)
                let alpha = Int(truncatingIfNeeded: alphaSample)
                for channel in 0..<3 where alpha > 0 {
                    let sample = unsafe source.load(fromByteOffset: offset + channel * size, as: Sample.self)
                    var value = Int(truncatingIfNeeded: sample)
                    if alpha == limit {
                        value = Int(truncatingIfNeeded: table[value])
                    } else {
                        let straight = min(limit, (value * limit + alpha / 2) / alpha)
                        value = (Int(truncatingIfNeeded: table[straight]) * alpha + limit / 2) / limit
                    }
                    unsafe target.storeBytes(
                        of: Sample(truncatingIfNeeded: value), toByteOffset: offset + channel * size, as: Sample.self)
                }
                unsafe target.storeBytes(of: alphaSample, toByteOffset: offset + 3 * size, as: Sample.self)
            }
        }
    }
}
