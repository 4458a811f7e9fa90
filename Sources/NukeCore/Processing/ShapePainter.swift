/// Cuts a picture to a rectangle with round corners and draws a line along its edge, inside.
///
/// Edges are antialiased with exact areas. Gray pictures become RGBA; 16-bit ones stay so.
struct ShapePainter {
    private let image: Bitmap
    private let (left, top): (Int, Int)
    private let (width, height): (Int, Int)
    private let radius: Double
    private let borderWidth: Double
    /// Red, green, blue, alpha, premultiplied, 0…1; transparent without a border.
    private let borderColor: SIMD4<Float>
    private let outer: RoundedRectangle
    private let inner: RoundedRectangle

    /// Prepares to cut out the part of the picture that begins at (left, top), or the whole.
    init(
        _ image: Bitmap, left: Int = 0, top: Int = 0, width: Int? = nil, height: Int? = nil, radius: Double,
        border: ImageProcessingOptions.Border?, scale: Double
    ) throws(ImageProcessingError) {
        self.image = try image.withColorChannels()
        (self.left, self.top) = (left, top)
        (self.width, self.height) = (width ?? image.width, height ?? image.height)
        self.radius = radius
        borderWidth = border?.width(scale: scale) ?? 0
        var color = SIMD4<Float>(samples: border?.color.samples ?? SIMD4(repeating: 0)) / 255
        color *= SIMD4(color[3], color[3], color[3], 1)
        borderColor = color
        outer = RoundedRectangle(width: self.width, height: self.height, radius: radius)
        // The width is at most what fills the shape.
        inner = RoundedRectangle(
            width: self.width, height: self.height,
            inset: min(borderWidth, Double(min(self.width, self.height)) / 2), radius: radius - borderWidth)
    }

    /// The picture cut out; transparent outside.
    func paint() throws(ImageProcessingError) -> Bitmap {
        guard var output = PixelBuffer(width: width, height: height, format: image.format) else {
            throw .outOfMemory
        }
        for y in 0..<height {
            let source = image.row(top + y)
            output.withRow(y) { target in
                if image.format == .rgba16 {
                    paintRow(y, source, &target, UInt16.self)
                } else {
                    paintRow(y, source, &target, UInt8.self)
                }
            }
        }
        return output.freeze(
            isOpaque: image.isOpaque && radius <= 0, colorSpace: image.colorSpace, scale: image.scale)
    }

    private func paintRow<Sample: PixelSample>(
        _ y: Int, _ source: RawSpan, _ target: inout MutableRawSpan, _ type: Sample.Type
    ) {
        let size = MemoryLayout<SIMD4<Sample>>.size
        let (outerRow, innerRow) = (outer.row(y), inner.row(y))
        let edge = max(outerRow.partial.upperBound, borderWidth > 0 ? innerRow.partial.upperBound : 0)
        // SAFETY: columns are less than `width`; the target row has as many, the source row `left` more in front.
        unsafe source.withUnsafeBytes { source in
            unsafe target.withUnsafeMutableBytes { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                let start = unsafe from + left * size
                for x in outerRow.partial.lowerBound..<edge {
                    let covered = outer.coverage(x, y)
                    let filled = borderWidth > 0 ? inner.coverage(x, y) : covered
                    for column in [x, width - 1 - x] {
                        unsafe blend(start + column * size, to + column * size, covered, filled, type)
                    }
                }
                guard edge < width - edge else { return }
                let filled = borderWidth > 0 ? innerRow.middle : outerRow.middle
                if filled == 1 {
                    unsafe (to + edge * size).copyMemory(
                        from: start + edge * size, byteCount: (width - 2 * edge) * size)
                } else {
                    for x in edge..<width - edge {
                        unsafe blend(start + x * size, to + x * size, outerRow.middle, filled, type)
                    }
                }
            }
        }
    }

    /// The pixel where `filled` of it is picture and the rest of `covered` border over picture.
    @inline(__always)
    private func blend<Sample: PixelSample>(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ covered: Double, _ filled: Double,
        _ type: Sample.Type
    ) {
        // SAFETY: both point at a whole pixel, as paintRow sees to.
        let line = Float(max(0, covered - filled))
        let pixel = SIMD4<Float>(samples: unsafe source.loadUnaligned(as: SIMD4<Sample>.self))
        let limit = Float(Int32(truncatingIfNeeded: Sample.max))
        let result = pixel * (Float(covered) - line * borderColor[3]) + borderColor * (line * limit)
        let clamped = result.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: limit))
        unsafe target.storeBytes(of: clamped.samples(type), as: SIMD4<Sample>.self)
    }
}
