extension PixelBuffer {
    /// Writes a row of the stored picture to where it belongs in this upright one.
    ///
    /// - Parameters:
    ///   - row: The pixels of the stored row, in this buffer's format.
    ///   - y: Which stored row it is, from the top.
    ///   - orientation: The stored orientation; the buffer's sides are swapped where it says so.
    public mutating func writeStoredRow(_ row: RawSpan, at y: Int, orientation: ImageOrientation) {
        let storedHeight = orientation.swapsSides ? width : height
        precondition(y >= 0 && y < storedHeight, "row out of bounds")
        switch format {
        case .rgba8: write(row, y, orientation, as: UInt32.self)
        case .rgba16: write(row, y, orientation, as: UInt64.self)
        case .gray8: write(row, y, orientation, as: UInt8.self)
        }
    }

    /// Copies pixels as integers of their size, `stride` pixels apart from `start` on.
    private mutating func write<Pixel: BitwiseCopyable>(
        _ row: RawSpan, _ y: Int, _ orientation: ImageOrientation, as type: Pixel.Type
    ) {
        let (width, height) = (width, height)
        let count = orientation.swapsSides ? height : width
        precondition(row.byteCount >= count * MemoryLayout<Pixel>.size, "the row is too short")
        let (start, stride): (Int, Int) =
            switch orientation {
            case .up: (y * width, 1)
            case .upMirrored: (y * width + width - 1, -1)
            case .down: ((height - 1 - y) * width + width - 1, -1)
            case .downMirrored: ((height - 1 - y) * width, 1)
            case .leftMirrored: (y, width)
            case .right: (width - 1 - y, width)
            case .rightMirrored: ((height - 1) * width + width - 1 - y, -width)
            case .left: ((height - 1) * width + y, -width)
            }
        withBytes { bytes in
            // SAFETY: y is within the stored height and x within the stored width, so start + x * stride is a pixel of
            // this buffer; rows are packed and aligned to their pixels.
            unsafe bytes.withUnsafeMutableBytes { target in
                unsafe row.withUnsafeBytes { source in
                    guard let target = target.baseAddress, let source = source.baseAddress else { return }
                    let size = MemoryLayout<Pixel>.size
                    for x in 0..<count {
                        let pixel = unsafe source.loadUnaligned(fromByteOffset: x * size, as: Pixel.self)
                        unsafe target.storeBytes(of: pixel, toByteOffset: (start + x * stride) * size, as: Pixel.self)
                    }
                }
            }
        }
    }
}
