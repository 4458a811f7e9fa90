internal import NukeCore

/// How the rows of one picture become pixels: whole or reduced, as stored or turned upright.
struct PNGRendering {
    private let width: Int
    private let height: Int
    private let isInterlaced: Bool
    private let orientation: ImageOrientation
    /// The size to reduce to, as stored; nil to keep every pixel.
    private let reduced: (width: Int, height: Int)?

    /// Chooses the size for a hint, which is in pixels of the picture as `orientation` leaves it.
    init(_ header: PNGHeader, orientation: ImageOrientation, hint: ImageSize?) {
        width = header.width
        height = header.height
        isInterlaced = header.isInterlaced
        self.orientation = orientation
        reduced = hint.flatMap { hint in
            RowShrinker.reducedSize(
                of: ImageSize(width: header.width, height: header.height), for: orientation.applied(to: hint))
        }
    }

    /// The size of the whole picture as it will stand.
    var originalSize: ImageSize { orientation.applied(to: ImageSize(width: width, height: height)) }

    /// Bytes that will be held at once.
    var workingSetBytes: Int { Self.sum(needs.kept, needs.beside) }

    /// Throws unless what will be held at once is within the limits.
    func check(_ limits: ImageLimits) throws(ImageDecodingError) {
        try limits.check(
            width: width, height: height, decodedBytes: needs.kept, codecBytes: needs.beside,
            codec: ImageDecoders.PNG.codec)
    }

    /// Bytes of the pixels that are kept, and of what is held beside them.
    ///
    /// Adam7 gives no row whole before the last pass, so the stored picture is held beside what is made of it.
    private var needs: (kept: Int, beside: Int) {
        let stored = Self.byteCount(width, height)
        let kept = reduced.map { Self.byteCount($0.width, $0.height) } ?? stored
        // libpng's row, the row before it, and one that is being turned or reduced.
        var beside = Self.byteCount(width, 5)
        if isInterlaced, reduced != nil || orientation != .up { beside = Self.sum(beside, stored) }
        if reduced != nil, orientation != .up { beside = Self.sum(beside, kept) }
        return (kept, beside)
    }

    /// Reads the picture.
    func pixels(
        from reader: borrowing PNGReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> PixelBuffer {
        guard reader.width == width, reader.height == height else {
            throw .corruptData("the header tells two sizes", codec: ImageDecoders.PNG.codec)
        }
        guard let reduced else {
            if orientation == .up { return try storedPixels(from: reader, watch: watch) }
            var upright = try uprightBuffer(width, height)
            try forEachRow(of: reader, watch: watch) { row, y in
                upright.writeStoredRow(row, at: y, orientation: orientation)
            }
            return upright
        }
        let shrinker = RowShrinker(
            sourceWidth: width, sourceHeight: height, width: reduced.width, height: reduced.height)
        guard var shrinker else { throw Self.outOfMemory(reduced.width, reduced.height) }
        try forEachRow(of: reader, watch: watch) { row, _ in shrinker.append(row) }
        var small = shrinker.finish()
        if orientation == .up { return small }
        var upright = try uprightBuffer(reduced.width, reduced.height)
        for y in 0..<reduced.height {
            small.withRow(y) { row in upright.writeStoredRow(row.bytes, at: y, orientation: orientation) }
        }
        return upright
    }

    /// Reads the whole picture, premultiplied and as stored.
    private func storedPixels(
        from reader: borrowing PNGReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> PixelBuffer {
        var stored = try buffer(width, height)
        for pass in 1...reader.passCount {
            for y in 0..<height {
                try watch.check(row: y)
                try stored.withRow(y) { (row: inout MutableRawSpan) throws(ImageDecodingError) in
                    try reader.readRow(into: &row)
                    if pass == reader.passCount { reader.premultiply(&row) }
                }
            }
        }
        return stored
    }

    /// Calls `body` with every stored row, premultiplied, from the top; holds one row at a time where that can be.
    private func forEachRow(
        of reader: borrowing PNGReader, watch: DecodingWatch, _ body: (RawSpan, Int) -> Void
    ) throws(ImageDecodingError) {
        if isInterlaced {
            var stored = try storedPixels(from: reader, watch: watch)
            for y in 0..<height {
                try watch.check(row: y)
                stored.withRow(y) { row in body(row.bytes, y) }
            }
            return
        }
        var scratch = try buffer(width, 1)
        for y in 0..<height {
            try watch.check(row: y)
            try scratch.withRow(0) { (row: inout MutableRawSpan) throws(ImageDecodingError) in
                try reader.readRow(into: &row)
                reader.premultiply(&row)
                body(row.bytes, y)
            }
        }
    }

    private func buffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        guard let buffer = PixelBuffer(width: width, height: height) else { throw Self.outOfMemory(width, height) }
        return buffer
    }

    /// A buffer for pixels of this stored size, turned upright.
    private func uprightBuffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        orientation.swapsSides ? try buffer(height, width) : try buffer(width, height)
    }

    private static func outOfMemory(_ width: Int, _ height: Int) -> ImageDecodingError {
        .outOfMemory("no memory for \(width)x\(height) pixels", codec: ImageDecoders.PNG.codec)
    }

    /// Bytes of RGBA pixels; the largest number if it overflows, which is above any limit.
    private static func byteCount(_ width: Int, _ height: Int) -> Int {
        let (row, rowOverflow) = width.multipliedReportingOverflow(by: 4)
        let (bytes, overflow) = row.multipliedReportingOverflow(by: height)
        return rowOverflow || overflow ? .max : bytes
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}
