/// Changes how the pixels of a row hold their alpha: loops over whole rows, exact to the nearest value.
enum RowConversion {
    /// Multiplies colour by alpha in a row of RGBA, 8 bits a sample: c × a ÷ 255, rounded to the nearest.
    static func premultiply(_ row: inout MutableRawSpan) {
        // SAFETY: every offset is within the row; pixels of four bytes are loaded and stored whole.
        unsafe row.withUnsafeMutableBytes { bytes in
            var offset = 0
            while offset + 4 <= bytes.count {
                let stored = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let pixel = UInt64(UInt32(littleEndian: stored))
                let alpha = pixel >> 24
                if alpha != 255 {
                    // The three colours in lanes of 16 bits, where a product with alpha fits: n = c × a + 128, and
                    // (n + n ÷ 256) ÷ 256 is c × a ÷ 255 rounded for every c and a up to 255.
                    let lanes = (pixel & 0xFF) | (pixel & 0xFF00) << 8 | (pixel & 0xFF_0000) << 16
                    let products = lanes &* alpha &+ 0x80_0080_0080
                    let colors = (products &+ (products >> 8 & 0xFF_00FF_00FF)) >> 8 & 0xFF_00FF_00FF
                    let result = colors & 0xFF | colors >> 8 & 0xFF00 | colors >> 16 & 0xFF_0000 | alpha << 24
                    unsafe bytes.storeBytes(
                        of: UInt32(truncatingIfNeeded: result).littleEndian, toByteOffset: offset, as: UInt32.self)
                }
                offset += 4
            }
        }
    }

    /// Divides colour by alpha: RGBA of `Sample`, premultiplied, to the same in the byte order of PNG.
    ///
    /// Rounded to the nearest; at most full; where alpha is 0 all is 0. Premultiplying gives the row back.
    static func unpremultiply<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: RawSpan, into target: inout MutableRawSpan, as type: Sample.Type
    ) {
        let full = UInt64(Sample.max)
        convert(row, into: &target, channels: 4, as: type) { color, alpha in
            if alpha == full || color == 0 { return color }
            return alpha == 0 ? 0 : min((color * full + alpha / 2) / alpha, full)
        }
    }

    /// Leaves the alpha out: RGBA of `Sample` to RGB in the byte order of PNG.
    static func dropAlpha<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: RawSpan, into target: inout MutableRawSpan, as type: Sample.Type
    ) {
        convert(row, into: &target, channels: 3, as: type) { color, _ in color }
    }

    @inline(__always)
    private static func convert<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: RawSpan, into target: inout MutableRawSpan, channels: Int, as type: Sample.Type,
        _ color: (UInt64, UInt64) -> UInt64
    ) {
        let size = MemoryLayout<Sample>.size
        // SAFETY: count is the smaller of the pixels in both rows, so every offset is within its row.
        unsafe row.withUnsafeBytes { source in
            unsafe target.withUnsafeMutableBytes { target in
                let count = min(source.count / (4 * size), target.count / (channels * size))
                for x in 0..<count {
                    let (from, to) = (x * 4 * size, x * channels * size)
                    let alpha = unsafe source.loadUnaligned(fromByteOffset: from + 3 * size, as: Sample.self)
                    for channel in 0..<channels {
                        let sample = unsafe source.loadUnaligned(fromByteOffset: from + channel * size, as: Sample.self)
                        let value = channel == 3 ? UInt64(alpha) : color(UInt64(sample), UInt64(alpha))
                        unsafe target.storeBytes(
                            of: Sample(truncatingIfNeeded: value).bigEndian, toByteOffset: to + channel * size,
                            as: Sample.self)
                    }
                }
            }
        }
    }
}
