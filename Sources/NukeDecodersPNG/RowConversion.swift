/// Brings rows of bitmaps to the form in which PNG stores them, and back.
enum RowConversion {
    /// Multiplies colour by alpha: RGBA of 16 bits a sample, rounded to the nearest.
    static func premultiply(_ row: inout MutableRawSpan) {
        // SAFETY: whole pixels of 8 bytes within the row; its memory is aligned to its pixels.
        unsafe row.withUnsafeMutableBytes { bytes in
            let samples = unsafe bytes.bindMemory(to: UInt16.self)
            for pixel in stride(from: 0, to: samples.count & ~3, by: 4) {
                let alpha = unsafe UInt32(samples[pixel + 3])
                if alpha == 0xFFFF { continue }
                for place in pixel..<pixel + 3 {
                    unsafe samples[place] = UInt16((UInt32(samples[place]) * alpha + 0x7FFF) / 0xFFFF)
                }
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
