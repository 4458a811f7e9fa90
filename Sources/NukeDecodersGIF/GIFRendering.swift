internal import NukeCore

/// How the first frame becomes pixels: on a canvas of nothing, whole or reduced.
struct GIFRendering {
    private let header: GIFHeader
    private let painting: GIFPainting
    /// The size to reduce to; nil to keep every pixel.
    private let reduced: (width: Int, height: Int)?

    /// What came of the frame.
    struct Picture: ~Copyable {
        var pixels: PixelBuffer
        /// Whether there is no pixel that the frame left out.
        var isOpaque: Bool
        /// Rows that came, of those that are needed.
        var rowCount: Int
        /// Why rows are lacking; nil if none is.
        var error: ImageDecodingError?
    }

    init(_ header: GIFHeader, _ frame: GIFFrame, hint: ImageSize?) {
        self.header = header
        painting = GIFPainting(header: header, frame: frame)
        reduced = hint.flatMap {
            RowShrinker.reducedSize(of: ImageSize(width: header.width, height: header.height), for: $0)
        }
    }

    private var frame: GIFFrame { painting.frame }

    /// Rows of the frame that have to be unpacked.
    var neededRowCount: Int { painting.neededRowCount }

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

    /// Unpacks and paints the frame; throws if there is no row of it.
    func picture(from bytes: RawSpan, watch: DecodingWatch) throws(ImageDecodingError) -> Picture {
        guard frame.width > 0, frame.height > 0 else {
            throw .corruptData(
                "the first frame has \(frame.width)x\(frame.height) pixels", codec: ImageDecoders.GIF.codec)
        }
        guard let reduced else {
            var canvas = try buffer(header.width, header.height)
            let outcome = try painting.paint(onto: &canvas, from: bytes, watch: watch)
            return try picture(outcome, canvas)
        }
        guard var shrinker = shrinker(reduced.width, reduced.height) else { throw outOfMemory }
        let outcome: GIFPainting.Outcome
        if frame.isInterlaced {
            var canvas = try buffer(header.width, header.height)
            outcome = try painting.paint(onto: &canvas, from: bytes, watch: watch)
            for y in 0..<header.height {
                try watch.check(row: y)
                canvas.withRow(y) { row in shrinker.append(row.bytes) }
            }
        } else {
            outcome = try stream(bytes, into: &shrinker, watch)
        }
        return try picture(outcome, shrinker.finish())
    }

    /// Reduces rows as they come, so that the canvas is never held.
    private func stream(
        _ bytes: RawSpan, into shrinker: inout RowShrinker, _ watch: DecodingWatch
    ) throws(ImageDecodingError) -> GIFPainting.Outcome {
        var scratch = try buffer(header.width, 1)
        for _ in 0..<min(frame.top, header.height) {
            scratch.withRow(0) { row in shrinker.append(row.bytes) }
        }
        let (columns, skipped) = (frame.columns(on: header), frame.control.transparentIndex)
        return try painting.forEachRow(of: bytes, watch: watch) { reader, _, colors in
            scratch.withRow(0) { row in
                if skipped != nil { Self.clear(&row) }
                let isOpaque = reader.paint(
                    columns.count, into: &row, at: columns.lowerBound, colors: colors, skipping: skipped)
                shrinker.append(row.bytes)
                return isOpaque
            }
        }
    }

    private static func clear(_ row: inout MutableRawSpan) {
        // SAFETY: zero bytes are pixels.
        _ = unsafe row.withUnsafeMutableBytes { unsafe $0.initializeMemory(as: UInt8.self, repeating: 0) }
    }

    private func picture(
        _ outcome: GIFPainting.Outcome, _ pixels: consuming PixelBuffer
    ) throws(ImageDecodingError) -> Picture {
        if let error = outcome.error, outcome.rowCount == 0 { throw error }
        return Picture(
            pixels: pixels, isOpaque: painting.isOpaque(outcome), rowCount: outcome.rowCount, error: outcome.error)
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
