internal import NukeCore

/// Reads the rows of one pass into pixels, in steps between which cancellation and time are looked at.
struct JPEGPixelReader {
    /// Rows read before looking up.
    private static let rowsAtOnce = 64
    /// Rows read before they are turned: few enough to stay in the processor's cache.
    private static let turnedRowsAtOnce = 16

    /// The size of a row and of the whole, as stored and reduced.
    let width: Int
    let height: Int
    /// What the rows are to be turned by.
    let orientation: ImageOrientation
    /// What makes RGBA of rows of CMYK; nil where the session does.
    var colors: (any ColorTransforming)?

    /// The pixels of the pass; `lookUp` is called with the rows read so far, before the first and then at least every 64.
    func pixels(
        from session: borrowing JPEGSession, lookUp: (_ rowCount: Int) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) -> PixelBuffer {
        let isTurned = orientation.swapsSides
        guard var pixels = PixelBuffer(width: isTurned ? height : width, height: isTurned ? width : height) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: JPEGSession.codec)
        }
        if orientation == .up {
            try readUpright(from: session, into: &pixels, lookUp)
        } else {
            try readTurned(from: session, into: &pixels, lookUp)
        }
        return pixels
    }

    private func readUpright(
        from session: borrowing JPEGSession, into pixels: inout PixelBuffer,
        _ lookUp: (_ rowCount: Int) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        let bytesPerRow = pixels.bytesPerRow
        var y = 0
        while y < height {
            try lookUp(y)
            let count = min(Self.rowsAtOnce, height - y)
            let read = try pixels.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
                try session.readRows(into: &bytes, at: y * bytesPerRow, bytesPerRow: bytesPerRow, count: count)
            }
            if let colors {
                for row in y..<y + read { pixels.withRow(row) { colors.convert(&$0) } }
            }
            y += read
        }
    }

    private func readTurned(
        from session: borrowing JPEGSession, into pixels: inout PixelBuffer,
        _ lookUp: (_ rowCount: Int) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        // SAFETY: the bytes of integers of one byte; both spans end before the next is made.
        let bytesPerRow = width * pixels.format.bytesPerPixel
        var strip = [UInt8](repeating: 0, count: bytesPerRow * min(Self.turnedRowsAtOnce, height))
        var y = 0
        while y < height {
            try lookUp(y)
            let count = min(Self.turnedRowsAtOnce, height - y)
            var target = strip.mutableSpan
            var bytes = unsafe target.mutableBytes
            let read = try session.readRows(into: &bytes, at: 0, bytesPerRow: bytesPerRow, count: count)
            colors?.convert(&bytes)
            for row in 0..<read {
                let stored = unsafe strip.span.bytes.extracting(row * bytesPerRow..<(row + 1) * bytesPerRow)
                pixels.writeStoredRow(stored, at: y + row, orientation: orientation)
            }
            y += read
        }
    }
}
