/// What of a frame differs from the one before it, which is all that encoders of animations need to store.
public struct FrameDifference: Sendable, Hashable {
    /// Columns of the smallest rectangle with every changed pixel; empty if there is none.
    public let columns: Range<Int>
    /// Rows of that rectangle; empty if no pixel changed.
    public let rows: Range<Int>
    /// How many pixels changed.
    public let changedCount: Int
    /// Whether every changed pixel is opaque, so that drawing them over the frame before gives this one.
    public let isOverlay: Bool

    /// Compares two frames of RGBA8 with the same size, pixel by pixel.
    public init(from previous: Bitmap, to next: Bitmap) {
        precondition(previous.format == .rgba8 && next.format == .rgba8, "frames are RGBA8")
        precondition(previous.width == next.width && previous.height == next.height, "frames have one size")
        let width = next.width
        var (left, right, top, bottom, count, isOverlay) = (width, -1, -1, -1, 0, true)
        for y in 0..<next.height {
            // SAFETY: both rows have `width` pixels of four bytes, aligned to them.
            unsafe previous.row(y).withUnsafeBytes { before in
                unsafe next.row(y).withUnsafeBytes { after in
                    let old = unsafe before.assumingMemoryBound(to: UInt32.self)
                    let new = unsafe after.assumingMemoryBound(to: UInt32.self)
                    var (first, last) = (-1, -1)
                    for x in 0..<width where unsafe old[x] != new[x] {
                        if first < 0 { first = x }
                        last = x
                        count &+= 1
                        if unsafe UInt32(littleEndian: new[x]) < 0xFF00_0000 { isOverlay = false }
                    }
                    guard first >= 0 else { return }
                    (left, right) = (min(left, first), max(right, last))
                    if top < 0 { top = y }
                    bottom = y
                }
            }
        }
        columns = count > 0 ? left..<right + 1 : 0..<0
        rows = count > 0 ? top..<bottom + 1 : 0..<0
        changedCount = count
        self.isOverlay = isOverlay
    }

    /// Copies a row of RGBA8, but makes the pixels transparent that are equal to those of the frame before.
    ///
    /// Drawn over that frame, the copy gives the row, if every changed pixel is opaque.
    public static func copyChanges(in row: RawSpan, since background: RawSpan, to target: inout [UInt8]) {
        precondition(row.byteCount == target.count && background.byteCount == target.count, "rows have one length")
        var span = target.mutableSpan
        // SAFETY: the loads check their bounds; any four bytes are a pixel, and any pixel four bytes.
        var bytes = unsafe span.mutableBytes
        for place in stride(from: 0, to: row.byteCount & ~3, by: 4) {
            let pixel = unsafe row.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)
            let isSame = unsafe pixel == background.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self)
            bytes.storeBytes(of: isSame ? 0 : pixel, toByteOffset: place, as: UInt32.self)
        }
    }
}
