internal import NukeCore

/// Pictures that the suites for processors and encoders work on: colours that run from edge to edge.
enum TestPicture {
    /// How alpha goes.
    enum Alpha: CaseIterable {
        /// Full everywhere.
        case opaque
        /// From none at the left to full at the right.
        case graded
        /// None anywhere.
        case clear
    }

    /// A picture, by default with waves; nil if there is no memory, or a side is not positive.
    ///
    /// Without waves, pictures of one shape are the same at different sizes.
    static func make(
        _ width: Int, _ height: Int, alpha: Alpha = .opaque, format: PixelFormat = .rgba8,
        colorSpace: ColorSpace = .sRGB, hasWaves: Bool = true
    ) -> Bitmap? {
        // SAFETY: the spans are those of arrays of integers, which outlive the calls.
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else { return nil }
        for y in 0..<height {
            var row: [UInt8] = []
            row.reserveCapacity(width * 4)
            for x in 0..<width {
                let pixel = color(x, y, width, height, hasWaves).premultiplied(by: alpha.amount(x, width))
                if format == .gray8 {
                    row.append(pixel.x)
                } else {
                    for channel in 0..<4 { row.append(pixel[channel]) }
                }
            }
            if format == .rgba16 {
                let wide = row.map { UInt16($0) * 257 }
                unsafe buffer.writeStoredRow(wide.span.bytes, at: y, orientation: .up)
            } else {
                unsafe buffer.writeStoredRow(row.span.bytes, at: y, orientation: .up)
            }
        }
        return buffer.freeze(isOpaque: alpha == .opaque || format == .gray8, colorSpace: colorSpace)
    }

    private static func color(_ x: Int, _ y: Int, _ width: Int, _ height: Int, _ hasWaves: Bool) -> SIMD4<UInt8> {
        let across = x * 255 / max(1, width - 1)
        let down = y * 255 / max(1, height - 1)
        // A wave of 32 pixels, up and down.
        let wave = hasWaves ? abs((x + y) % 32 - 16) * 8 + 64 : (across + down) / 2
        return SIMD4(UInt8(across), UInt8(down), UInt8(wave), 255)
    }
}

extension TestPicture.Alpha {
    /// The alpha of a column.
    fileprivate func amount(_ x: Int, _ width: Int) -> Int {
        switch self {
        case .opaque: 255
        case .clear: 0
        case .graded: width == 1 ? 128 : x * 255 / (width - 1)
        }
    }
}

extension SIMD4<UInt8> {
    /// An opaque colour with this alpha, 0…255.
    fileprivate func premultiplied(by alpha: Int) -> SIMD4<UInt8> {
        guard alpha < 255 else { return self }
        func scaled(_ value: UInt8) -> UInt8 { UInt8((Int(value) * alpha + 127) / 255) }
        return SIMD4(scaled(x), scaled(y), scaled(z), UInt8(alpha))
    }
}
