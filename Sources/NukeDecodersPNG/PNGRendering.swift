internal import NukeCore

/// How the rows of one picture become pixels: whole or reduced, as stored or turned upright.
struct PNGRendering {
    private let width: Int
    private let height: Int
    private let isInterlaced: Bool
    private let orientation: ImageOrientation
    private let format: PixelFormat
    /// The size to reduce to, as stored; nil to keep every pixel.
    private let reduced: (width: Int, height: Int)?

    /// What came of the picture.
    struct Picture: ~Copyable {
        var pixels: PixelBuffer
        /// How many passes came whole: at most 7; 1 for a picture without passes.
        var passCount: Int
        /// Why rows are lacking; nil if none is.
        var error: ImageDecodingError?
    }

    /// Chooses the size for a hint, which is in pixels of the picture as `orientation` leaves it.
    init(_ header: PNGHeader, orientation: ImageOrientation, hint: ImageSize?, format: PixelFormat = .rgba8) {
        width = header.width
        height = header.height
        isInterlaced = header.isInterlaced
        self.orientation = orientation
        self.format = format
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
        let stored = byteCount(width, height)
        let kept = reduced.map { byteCount($0.width, $0.height) } ?? stored
        // libpng's row, the row before it, and one that is being turned or reduced.
        var beside = byteCount(width, 5)
        if isInterlaced, reduced != nil || orientation != .up { beside = Self.sum(beside, stored) }
        if reduced != nil, orientation != .up { beside = Self.sum(beside, kept) }
        return (kept, beside)
    }

    /// Reads the picture, or as much of it as there is; throws if that is not a row or a pass, or is damaged.
    func picture(
        from reader: borrowing PNGReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> Picture {
        guard reader.width == width, reader.height == height else {
            throw .corruptData("the header tells two sizes", codec: ImageDecoders.PNG.codec)
        }
        if reduced == nil, orientation == .up { return try storedPicture(from: reader, watch: watch) }
        var (passCount, error): (Int, ImageDecodingError?) = (1, nil)
        guard let reduced else {
            var upright = try uprightBuffer(width, height)
            (passCount, error) = try forEachRow(of: reader, watch: watch) { row, y in
                upright.writeStoredRow(row, at: y, orientation: orientation)
            }
            return Picture(pixels: upright, passCount: passCount, error: error)
        }
        let shrinker = RowShrinker(
            sourceWidth: width, sourceHeight: height, width: reduced.width, height: reduced.height, format: format)
        guard var shrinker else { throw Self.outOfMemory(reduced.width, reduced.height) }
        (passCount, error) = try forEachRow(of: reader, watch: watch) { row, _ in shrinker.append(row) }
        var small = shrinker.finish()
        if orientation == .up { return Picture(pixels: small, passCount: passCount, error: error) }
        var upright = try uprightBuffer(reduced.width, reduced.height)
        for y in 0..<reduced.height {
            small.withRow(y) { row in upright.writeStoredRow(row.bytes, at: y, orientation: orientation) }
        }
        return Picture(pixels: upright, passCount: passCount, error: error)
    }

    /// Reads all that there is, premultiplied and as stored.
    private func storedPicture(
        from reader: borrowing PNGReader, watch: DecodingWatch
    ) throws(ImageDecodingError) -> Picture {
        var stored = try buffer(width, height)
        for pass in 1...reader.passCount {
            for y in 0..<height {
                try watch.check(row: y)
                do throws(ImageDecodingError) {
                    try stored.withRow(y) { (row: inout MutableRawSpan) throws(ImageDecodingError) in
                        try reader.readRow(into: &row)
                        if pass == reader.passCount { reader.premultiply(&row) }
                    }
                } catch {
                    // Of passes only whole ones count, of rows those before.
                    guard error.code == .truncated, isInterlaced ? pass > 1 : y > 0 else { throw error }
                    if isInterlaced { fill(&stored, passCount: pass - 1, reader, premultipliedRows: y) }
                    if !isInterlaced { stored.withRow(y) { row in Self.clear(&row) } }
                    return Picture(pixels: stored, passCount: isInterlaced ? pass - 1 : 1, error: error)
                }
            }
        }
        return Picture(pixels: stored, passCount: reader.passCount, error: nil)
    }

    /// Puts the pixels of whole passes where those of the others would be, and premultiplies all.
    private func fill(
        _ stored: inout PixelBuffer, passCount: Int, _ reader: borrowing PNGReader, premultipliedRows: Int
    ) {
        // Of how many columns and rows one has come (PNG, third edition, 8.2).
        let columns = [8, 4, 4, 2, 2, 1][passCount - 1]
        let rows = [8, 8, 4, 4, 2, 2][passCount - 1]
        for y in stride(from: 0, to: height, by: rows) {
            // The last pass changes odd rows alone; it premultiplies the others as it comes to them.
            let isPremultiplied = passCount == 6 && y < premultipliedRows
            stored.withRow(y) { row in
                RowConversion.repeatPixels(&row, every: columns, size: format.bytesPerPixel)
                if !isPremultiplied { reader.premultiply(&row) }
            }
            let rowBytes = stored.bytesPerRow
            for other in y + 1..<max(y + 1, min(y + rows, height)) {
                stored.withBytes { bytes in
                    // SAFETY: both rows are in the buffer, and are not the same.
                    unsafe bytes.withUnsafeMutableBytes { bytes in
                        guard let base = bytes.baseAddress else { return }
                        unsafe (base + other * rowBytes).copyMemory(from: base + y * rowBytes, byteCount: rowBytes)
                    }
                }
            }
        }
    }

    /// Calls `body` with every stored row that there is, premultiplied, from the top; holds one at a time if that can be.
    ///
    /// Returns how many passes came whole, and why rows are lacking.
    private func forEachRow(
        of reader: borrowing PNGReader, watch: DecodingWatch, _ body: (RawSpan, Int) -> Void
    ) throws(ImageDecodingError) -> (passCount: Int, error: ImageDecodingError?) {
        if isInterlaced {
            var stored = try storedPicture(from: reader, watch: watch)
            for y in 0..<height {
                try watch.check(row: y)
                stored.pixels.withRow(y) { row in body(row.bytes, y) }
            }
            return (stored.passCount, stored.error)
        }
        var scratch = try buffer(width, 1)
        for y in 0..<height {
            try watch.check(row: y)
            do throws(ImageDecodingError) {
                try scratch.withRow(0) { (row: inout MutableRawSpan) throws(ImageDecodingError) in
                    try reader.readRow(into: &row)
                    reader.premultiply(&row)
                    body(row.bytes, y)
                }
            } catch {
                guard error.code == .truncated, y > 0 else { throw error }
                return (1, error)
            }
        }
        return (1, nil)
    }

    private static func clear(_ row: inout MutableRawSpan) {
        RowConversion.clear(&row, from: 0, count: row.byteCount / 4)
    }

    private func buffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        guard let buffer = PixelBuffer(width: width, height: height, format: format) else {
            throw Self.outOfMemory(width, height)
        }
        return buffer
    }

    /// A buffer for pixels of this stored size, turned upright.
    private func uprightBuffer(_ width: Int, _ height: Int) throws(ImageDecodingError) -> PixelBuffer {
        orientation.swapsSides ? try buffer(height, width) : try buffer(width, height)
    }

    private static func outOfMemory(_ width: Int, _ height: Int) -> ImageDecodingError {
        .outOfMemory("no memory for \(width)x\(height) pixels", codec: ImageDecoders.PNG.codec)
    }

    /// Bytes of pixels; the largest number if it overflows, which is above any limit.
    private func byteCount(_ width: Int, _ height: Int) -> Int {
        let (row, rowOverflow) = width.multipliedReportingOverflow(by: format.bytesPerPixel)
        let (bytes, overflow) = row.multipliedReportingOverflow(by: height)
        return rowOverflow || overflow ? .max : bytes
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}
