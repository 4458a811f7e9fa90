extension Bitmap {
    /// The picture as premultiplied RGBA of 8 bits a sample: itself, if it is that.
    ///
    /// Of 16 bits the nearest of 8 are taken; gray becomes three equal colours and counts as sRGB. Nil if there is no memory
    /// for a copy.
    public func convertedToRGBA8() -> Bitmap? {
        if format == .rgba8 { return self }
        guard var buffer = PixelBuffer(width: width, height: height) else { return nil }
        for y in 0..<height {
            let row = row(y)
            buffer.withRow(y) { target in
                // SAFETY: every offset is within a row of `width` pixels of its format; any bytes are integers.
                for x in 0..<width {
                    let pixel =
                        format == .gray8
                        ? 0xFF00_0000 | 0x0001_0101 * UInt32(unsafe row.unsafeLoad(fromByteOffset: x, as: UInt8.self))
                        : Self.narrow(unsafe row.unsafeLoad(fromByteOffset: x * 8, as: SIMD4<UInt16>.self))
                    target.storeBytes(of: pixel.littleEndian, toByteOffset: x * 4, as: UInt32.self)
                }
            }
        }
        return buffer.freeze(
            isOpaque: isOpaque, colorSpace: format == .gray8 ? .sRGB : colorSpace, scale: scale)
    }

    private static func narrow(_ samples: SIMD4<UInt16>) -> UInt32 {
        var pixel: UInt32 = 0
        for channel in 0..<4 {
            let sample = (UInt32(samples[channel]) * 255 + 32_767) / 65_535
            pixel |= sample << UInt32(8 * channel)
        }
        return pixel
    }
}
