internal import NukeCore

extension PixelBuffer {
    /// A copy, turned by an orientation; nil if there is no memory for it.
    mutating func copy(turnedBy orientation: ImageOrientation) -> PixelBuffer? {
        let (newWidth, newHeight) = orientation.swapsSides ? (height, width) : (width, height)
        guard var copy = PixelBuffer(width: newWidth, height: newHeight, format: format) else { return nil }
        guard orientation == .up else {
            for y in 0..<height {
                withRow(y) { row in copy.writeStoredRow(row.bytes, at: y, orientation: orientation) }
            }
            return copy
        }
        withBytes { source in
            copy.withBytes { target in
                // SAFETY: both hold as many bytes, as sizes and formats are equal.
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe source.bytes.withUnsafeBytes { source in unsafe target.copyMemory(from: source) }
                }
            }
        }
        return copy
    }
}
