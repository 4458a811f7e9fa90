internal import NukeCore

extension PixelBuffer {
    /// A copy, turned by an orientation; nil if there is no memory for it.
    mutating func copy(turnedBy orientation: ImageOrientation) -> PixelBuffer? {
        guard orientation != .up else { return PixelBuffer(copying: self) }
        let (newWidth, newHeight) = orientation.swapsSides ? (height, width) : (width, height)
        guard var copy = PixelBuffer(width: newWidth, height: newHeight, format: format) else { return nil }
        for y in 0..<height {
            withRow(y) { row in copy.writeStoredRow(row.bytes, at: y, orientation: orientation) }
        }
        return copy
    }
}
