extension RowConversion {
    /// Makes pixels of 8 bits a sample transparent, which must lie in the row.
    static func clear(_ row: inout MutableRawSpan, from left: Int, count: Int) {
        precondition(left >= 0 && count >= 0 && (left + count) * 4 <= row.byteCount, "pixels beyond the row")
        // SAFETY: the pixels are within the row, as is checked; zero bytes are pixels.
        unsafe row.withUnsafeMutableBytes { bytes in
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[left * 4..<(left + count) * 4])
            _ = unsafe place.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }

    /// Puts every so many pixels' first also in the place of those behind it.
    static func repeatPixels(_ row: inout MutableRawSpan, every step: Int, size: Int) {
        guard step > 1 else { return }
        // SAFETY: both offsets are below the count, and whole pixels lie there.
        unsafe row.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for x in 0..<bytes.count / size where x % step != 0 {
                unsafe (base + x * size).copyMemory(from: base + (x - x % step) * size, byteCount: size)
            }
        }
    }

    /// Puts premultiplied pixels of 8 bits a sample into a row, or draws them over what is there: s + d × (255 − a) ÷ 255.
    ///
    /// All of `source` must lie in the row.
    static func draw(_ source: RawSpan, on row: inout MutableRawSpan, at left: Int, isOver: Bool) {
        precondition(left >= 0 && left * 4 + source.byteCount <= row.byteCount, "pixels beyond the row")
        // SAFETY: the pixels are within both rows, as is checked; both are aligned to them.
        unsafe row.withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                guard let from = source.baseAddress, let row = target.baseAddress else { return }
                let to = unsafe row + left * 4
                if !isOver { return unsafe to.copyMemory(from: from, byteCount: source.count) }
                for offset in stride(from: 0, to: source.count, by: 4) {
                    let above = unsafe UInt32(littleEndian: from.load(fromByteOffset: offset, as: UInt32.self))
                    if above >> 24 == 0 { continue }
                    var pixel = above
                    if above >> 24 < 255 {
                        let below = unsafe UInt32(littleEndian: to.load(fromByteOffset: offset, as: UInt32.self))
                        pixel &+= scaled(below, by: 255 - above >> 24)
                    }
                    unsafe to.storeBytes(of: pixel.littleEndian, toByteOffset: offset, as: UInt32.self)
                }
            }
        }
    }

    /// All samples of a pixel multiplied by a factor and divided by 255, rounded to the nearest; two at a time.
    private static func scaled(_ pixel: UInt32, by factor: UInt32) -> UInt32 {
        let even = (pixel & 0xFF_00FF) &* factor &+ 0x80_0080
        let odd = (pixel >> 8 & 0xFF_00FF) &* factor &+ 0x80_0080
        let high = (even &+ (even >> 8 & 0xFF_00FF)) >> 8 & 0xFF_00FF
        return high | (odd &+ (odd >> 8 & 0xFF_00FF)) & 0xFF00_FF00
    }
}
