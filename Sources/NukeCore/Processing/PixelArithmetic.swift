/// A sample of a pixel, with conversions that become a few vector instructions.
///
/// The standard conversions between vectors of integers and of floats are not: they cost thirty times as much.
typealias PixelSample = FixedWidthInteger & SIMDScalar & UnsignedInteger

extension SIMD4 where Scalar == Float {
    /// The samples as floats.
    ///
    /// An integer below 2²³, put into the mantissa of 2²³, makes the float 2²³ + integer.
    @inline(__always)
    init<Sample: PixelSample>(samples: SIMD4<Sample>) {
        // SAFETY: both vectors have 16 bytes, and every pattern of bits is a value of each.
        let bits = SIMD4<UInt32>(truncatingIfNeeded: samples) | SIMD4<UInt32>(repeating: 0x4B00_0000)
        self = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - SIMD4(repeating: 8_388_608)
    }

    /// The nearest samples; the values must lie within the samples' range.
    ///
    /// Adding 1.5 × 2²³ leaves the rounded integer in the low bits of the mantissa.
    @inline(__always)
    func samples<Sample: PixelSample>(_ type: Sample.Type) -> SIMD4<Sample> {
        // SAFETY: both vectors have 16 bytes, and every pattern of bits is a value of each.
        let bits = unsafe unsafeBitCast(self + SIMD4(repeating: 12_582_912), to: SIMD4<UInt32>.self)
        return SIMD4<Sample>(truncatingIfNeeded: bits)
    }
}

extension Bitmap {
    /// The picture with four channels: itself, unless it is gray.
    ///
    /// Of a gray profile nothing is kept: it says nothing about RGB pixels, which are sRGB then.
    func withColorChannels() throws(ImageProcessingError) -> Bitmap {
        guard format == .gray8 else { return self }
        guard var output = PixelBuffer(width: width, height: height) else { throw .outOfMemory }
        for y in 0..<height {
            let source = row(y)
            output.withRow(y) { target in
                // SAFETY: the source row has `width` bytes, the target row four times as many.
                unsafe source.withUnsafeBytes { source in
                    unsafe target.withUnsafeMutableBytes { target in
                        for x in 0..<width {
                            let pixel = unsafe UInt32(source[x]) * 0x01_0101 | 0xFF00_0000
                            unsafe target.storeBytes(of: pixel.littleEndian, toByteOffset: x * 4, as: UInt32.self)
                        }
                    }
                }
            }
        }
        return output.freeze(isOpaque: true, scale: scale)
    }
}
