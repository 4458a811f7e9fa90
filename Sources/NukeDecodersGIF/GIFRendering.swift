internal import NukeCore

/// How the first frame becomes pixels: on a canvas of nothing, whole or reduced.
struct GIFRendering {
    private let header: GIFHeader
    private let frame: GIFFrame
    /// The size to reduce to; nil to keep every pixel.
    private let reduced: (width: Int, height: Int)?

    /// What came of a frame.
    struct Picture: ~Copyable {
        var pixels: PixelBuffer
        /// Whether there is no pixel that the frame left out.
        var isOpaque: Bool
        /// Rows that came, of those that lie on the canvas.
        var rowCount: Int
        /// Whether rows are lacking because the data ends.
        var isTruncated: Bool
    }

    init(_ header: GIFHeader, _ frame: GIFFrame, hint: ImageSize?) {
        self.header = header
        self.frame = frame
        reduced = hint.flatMap {
            RowShrinker.reducedSize(of: ImageSize(width: header.width, height: header.height), for: $0)
        }
    }

    /// Rows of the frame that have to be unpacked: at least one, as a frame without any is no picture.
    var neededRowCount: Int {
        frame.isInterlaced ? frame.height : max(1, min(frame.height, header.height - frame.top))
    }

    /// Bytes that will be held at once.
    var workingSetBytes: Int { needs.kept + needs.beside }

    /// Throws unless what will be held at once is within the limits.
    func check(_ limits: ImageLimits) throws(ImageDecodingError) {
        try limits.check(
            width: header.width, height: header.height, decodedBytes: needs.kept, codecBytes: needs.beside,
            codec: ImageDecoders.GIF.codec)
    }

    /// Bytes of the pixels that are kept, and of what is held beside them; no side is above 65,535.
    private var needs: (kept: Int, beside: Int) {
        let whole = header.width * header.height * 4
        let reader = GIFRowReader.byteCount(width: frame.width)
        guard let reduced else { return (whole, reader) }
        return (reduced.width * reduced.height * 4, reader + (frame.isInterlaced ? whole : header.width * 4))
    }

    /// Unpacks and paints the frame.
    func picture(from bytes: RawSpan, watch: DecodingWatch) throws(ImageDecodingError) -> Picture {
        let codec = ImageDecoders.GIF.codec
        guard frame.width > 0, frame.height > 0 else {
            throw .corruptData("the first frame has \(frame.width)x\(frame.height) pixels", codec: codec)
        }
        guard var reader = GIFRowReader(frame, in: bytes) else {
            throw .corruptData("the first frame has a code size that none may have", codec: codec)
        }
        let colors = colors(in: bytes)
        if let reduced, !frame.isInterlaced {
            return try streamedPicture(reduced.width, reduced.height, &reader, bytes, colors, watch)
        }
        var canvas = try buffer(header.width, header.height)
        let painted = try paint(&reader, bytes, watch) { reader, y in
            canvas.withRow(y) { row in reader.paint(columnCount, into: &row, at: frame.left, colors: colors) }
        }
        if frame.isInterlaced, painted.rowCount < frame.height { fillGaps(in: &canvas, rowCount: painted.rowCount) }
        guard let reduced else { return finish(painted, canvas, isEnded: reader.end) }
        guard var shrinker = shrinker(reduced.width, reduced.height) else { throw outOfMemory }
        for y in 0..<header.height {
            try watch.check(row: y)
            canvas.withRow(y) { row in shrinker.append(row.bytes) }
        }
        return finish(painted, shrinker.finish(), isEnded: reader.end)
    }

    /// Reduces rows as they come, so that the canvas is never held.
    private func streamedPicture(
        _ width: Int, _ height: Int, _ reader: inout GIFRowReader, _ bytes: RawSpan, _ colors: [UInt32],
        _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> Picture {
        guard var shrinker = shrinker(width, height) else { throw outOfMemory }
        var scratch = try buffer(header.width, 1)
        for _ in 0..<min(frame.top, header.height) {
            scratch.withRow(0) { row in shrinker.append(row.bytes) }
        }
        let painted = try paint(&reader, bytes, watch) { reader, _ in
            scratch.withRow(0) { row in
                let common = reader.paint(columnCount, into: &row, at: frame.left, colors: colors)
                shrinker.append(row.bytes)
                return common
            }
        }
        return finish(painted, shrinker.finish(), isEnded: reader.end)
    }

    /// Unpacks all rows that are there, and has those on the canvas painted; throws if there is none.
    private func paint(
        _ reader: inout GIFRowReader, _ bytes: RawSpan, _ watch: DecodingWatch,
        _ body: (borrowing GIFRowReader, Int) -> UInt32
    ) throws(ImageDecodingError) -> (rowCount: Int, common: UInt32) {
        var (count, common) = (0, UInt32.max)
        while count < neededRowCount {
            try watch.check(row: count)
            guard try reader.advance(in: bytes, watch: watch) else { break }
            let y = frame.top + frame.row(ofArrival: count)
            if y < header.height { common &= body(reader, y) }
            count += 1
        }
        if count == 0 {
            let codec = ImageDecoders.GIF.codec
            guard reader.end == .ofData else { throw .corruptData("the first frame has no sound row", codec: codec) }
            throw .truncated("the data ends within the first row", codec: codec)
        }
        return (count, common)
    }

    private func finish(
        _ painted: (rowCount: Int, common: UInt32), _ pixels: consuming PixelBuffer, isEnded end: GIFRowReader.End?
    ) -> Picture {
        let isLacking = painted.rowCount < neededRowCount
        // Gaps between rows of passes are filled.
        let isFull = frame.covers(header) && (frame.isInterlaced || !isLacking)
        return Picture(
            pixels: pixels, isOpaque: isFull && UInt32(littleEndian: painted.common) >> 24 == 255,
            rowCount: painted.rowCount, isTruncated: isLacking && end == .ofData)
    }

    /// Repeats rows that came where those below them did not.
    private func fillGaps(in canvas: inout PixelBuffer, rowCount: Int) {
        let rowBytes = canvas.bytesPerRow
        for y in 1..<max(1, min(frame.height, header.height - frame.top))
        where frame.arrival(ofRow: y) >= rowCount {
            canvas.withBytes { bytes in
                // SAFETY: both rows are on the canvas.
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    guard let base = bytes.baseAddress else { return }
                    let target = unsafe base + (frame.top + y) * rowBytes
                    unsafe target.copyMemory(from: target - rowBytes, byteCount: rowBytes)
                }
            }
        }
    }

    /// Columns of the frame that lie on the canvas.
    private var columnCount: Int { max(0, min(frame.width, header.width - frame.left)) }

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
        if let index = frame.control.transparentIndex { colors[Int(index)] = 0 }
        return colors.map(\.littleEndian)
    }

    private func shrinker(_ width: Int, _ height: Int) -> RowShrinker? {
        RowShrinker(sourceWidth: header.width, sourceHeight: header.height, width: width, height: height)
    }

    private func buffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        guard let buffer = PixelBuffer(width: width, height: height) else { throw outOfMemory }
        return buffer
    }

    private var outOfMemory: ImageDecodingError {
        .outOfMemory("no memory for \(header.width)x\(header.height) pixels", codec: ImageDecoders.GIF.codec)
    }
}
