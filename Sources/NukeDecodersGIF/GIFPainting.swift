internal import NukeCore

/// How one frame's rows become pixels of the canvas.
struct GIFPainting {
    let header: GIFHeader
    let frame: GIFFrame

    /// What came of a frame.
    struct Outcome {
        /// Rows that came, of those that are needed.
        var rowCount: Int
        /// Whether there are no more than these.
        var isLacking: Bool
        /// Whether none of their pixels on the canvas was left as it was.
        var isOpaque = true
        /// Why rows are lacking; nil if none is.
        var error: ImageDecodingError?
    }

    /// Rows of the frame that have to be unpacked.
    var neededRowCount: Int { frame.isInterlaced ? frame.height : frame.rows(on: header).count }

    /// Paints the frame on what is on the canvas; where passes of rows are lacking, rows that came stand for them.
    func paint(
        onto canvas: inout PixelBuffer, from bytes: RawSpan, watch: DecodingWatch
    ) throws(ImageDecodingError) -> Outcome {
        let (columns, skipped) = (frame.columns(on: header), frame.control.transparentIndex)
        let outcome = try forEachRow(of: bytes, watch: watch) { reader, y, colors in
            canvas.withRow(y) { row in
                reader.paint(columns.count, into: &row, at: columns.lowerBound, colors: colors, skipping: skipped)
            }
        }
        if frame.isInterlaced, outcome.isLacking { fillGaps(in: &canvas, rowCount: outcome.rowCount) }
        return outcome
    }

    /// Unpacks the rows that are there, and calls `body` with those on the canvas: with their place, and all colours.
    func forEachRow(
        of bytes: RawSpan, watch: DecodingWatch, _ body: (borrowing GIFRowReader, Int, [UInt32]) -> Bool
    ) throws(ImageDecodingError) -> Outcome {
        let codec = ImageDecoders.GIF.codec
        guard frame.width > 0, frame.height > 0 else {
            return Outcome(rowCount: 0, isLacking: false)
        }
        guard var reader = GIFRowReader(frame, in: bytes) else {
            let error = ImageDecodingError.corruptData("a frame has a code size that none may have", codec: codec)
            return Outcome(rowCount: 0, isLacking: true, error: error)
        }
        let (colors, rows) = (colors(in: bytes), frame.rows(on: header))
        var outcome = Outcome(rowCount: 0, isLacking: false)
        while outcome.rowCount < neededRowCount {
            try watch.check(row: outcome.rowCount)
            guard try reader.advance(in: bytes, watch: watch) else { break }
            let y = frame.top + frame.row(ofArrival: outcome.rowCount)
            if rows.contains(y), !body(reader, y, colors) { outcome.isOpaque = false }
            outcome.rowCount += 1
        }
        guard outcome.rowCount < neededRowCount else { return outcome }
        outcome.isLacking = true
        let found = "of a frame's \(frame.height) rows \(outcome.rowCount) are there"
        outcome.error =
            reader.end == .damage
            ? .corruptData("\(found), then a code that can't be", codec: codec) : .truncated(found, codec: codec)
        return outcome
    }

    /// Whether the frame leaves no pixel of the canvas as it was, given what came of it.
    func isOpaque(_ outcome: Outcome) -> Bool {
        // Gaps between rows of passes are filled.
        let isFull = frame.covers(header) && (outcome.rowCount > 0 && frame.isInterlaced || !outcome.isLacking)
        return isFull && outcome.isOpaque
    }

    /// Repeats rows that came where those below them did not.
    private func fillGaps(in canvas: inout PixelBuffer, rowCount: Int) {
        let rowBytes = canvas.bytesPerRow
        let (rows, columns) = (frame.rows(on: header), frame.columns(on: header))
        guard rowCount > 0, !columns.isEmpty else { return }
        for y in rows.dropFirst() where frame.arrival(ofRow: y - frame.top) >= rowCount {
            canvas.withBytes { bytes in
                // SAFETY: both rows and all columns are on the canvas.
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    let target = unsafe base + y * rowBytes + columns.lowerBound * 4
                    unsafe target.copyMemory(from: target - rowBytes, byteCount: columns.count * 4)
                }
            }
        }
    }

    /// The pixels of all indices; those beyond the palette are black, and without any palette all but black are white.
    private func colors(in bytes: RawSpan) -> [UInt32] {
        var colors = [UInt32](repeating: 0xFF00_0000, count: 256)
        if let palette = frame.palette {
            for index in 0..<palette.count / 3 {
                let place = palette.lowerBound + index * 3
                let (red, green, blue) = (bytes.byte(at: place), bytes.byte(at: place + 1), bytes.byte(at: place + 2))
                colors[index] |= UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16
            }
        } else {
            for index in 1..<256 { colors[index] = .max }
        }
        return colors.map(\.littleEndian)
    }
}
