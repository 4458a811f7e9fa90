/// Applies a registered converter's transform to pixels as bitmaps have them: premultiplied.
struct ManagedColors {
    private let transform: any ColorTransforming
    private let format: PixelFormat

    /// Nil if nothing is registered that converts from this space.
    init?(_ colorSpace: ColorSpace, _ format: PixelFormat, by converter: (any ColorConverting)?) {
        let samples: ColorSamples =
            switch format {
            case .rgba8: .rgba8
            case .rgba16: .rgba16
            case .gray8: .gray8
            }
        guard let converter, let profile = colorSpace.iccProfile,
            let transform = converter.transform(from: profile, for: samples)
        else { return nil }
        self.transform = transform
        self.format = format
    }

    /// Converts pixels in place; alpha is divided out around it.
    func convert(_ pixels: inout PixelBuffer, isOpaque: Bool) {
        let rowCount = pixels.height
        for y in 0..<rowCount {
            pixels.withRow(y) { row in
                let isStraight = isOpaque || format == .gray8
                if !isStraight { divide(&row) }
                transform.convert(&row)
                if !isStraight { multiply(&row) }
            }
        }
    }

    private func divide(_ row: inout MutableRawSpan) {
        // SAFETY: any bytes are integers; the loops end at the last whole pixel.
        unsafe row.withUnsafeMutableBytes { bytes in
            if format == .rgba16 {
                let pixels = unsafe bytes.bindMemory(to: SIMD4<UInt16>.self)
                for index in pixels.indices {
                    let pixel = unsafe SIMD4<UInt32>(truncatingIfNeeded: pixels[index])
                    guard pixel.w > 0, pixel.w < 65535 else { continue }
                    let values = (pixel &* 65535 &+ pixel.w / 2) / pixel.w
                    let straight = pointwiseMin(values, SIMD4(repeating: 65535))
                    unsafe pixels[index] = SIMD4(
                        UInt16(straight.x), UInt16(straight.y), UInt16(straight.z), UInt16(pixel.w))
                }
            } else {
                let pixels = unsafe bytes.bindMemory(to: UInt32.self)
                for index in pixels.indices {
                    let pixel = unsafe UInt32(littleEndian: pixels[index])
                    guard pixel >> 24 > 0, pixel >> 24 < 255 else { continue }
                    unsafe pixels[index] = ColorTables.straight(pixel, pixel >> 24).littleEndian
                }
            }
        }
    }

    private func multiply(_ row: inout MutableRawSpan) {
        // SAFETY: any bytes are integers; the loops end at the last whole pixel.
        unsafe row.withUnsafeMutableBytes { bytes in
            if format == .rgba16 {
                let pixels = unsafe bytes.bindMemory(to: SIMD4<UInt16>.self)
                for index in pixels.indices {
                    let pixel = unsafe SIMD4<UInt32>(truncatingIfNeeded: pixels[index])
                    guard pixel.w < 65535 else { continue }
                    let values = (pixel &* pixel.w &+ 32767) / 65535
                    unsafe pixels[index] = SIMD4(
                        UInt16(values.x), UInt16(values.y), UInt16(values.z), UInt16(pixel.w))
                }
            } else {
                let pixels = unsafe bytes.bindMemory(to: UInt32.self)
                for index in pixels.indices {
                    let pixel = unsafe UInt32(littleEndian: pixels[index])
                    guard pixel >> 24 < 255 else { continue }
                    unsafe pixels[index] = ColorTables.premultiplied(pixel, pixel >> 24).littleEndian
                }
            }
        }
    }
}
