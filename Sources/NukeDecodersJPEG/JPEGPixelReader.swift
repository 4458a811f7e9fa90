internal import NukeCore

/// Reads the picture of one file into upright pixels, in steps between which cancellation and time are looked at.
struct JPEGPixelReader {
    /// Rows read before looking up.
    private static let rowsAtOnce = 64
    /// Rows read before they are turned: few enough to stay in the processor's cache.
    private static let turnedRowsAtOnce = 16
    /// Rows of blocks, of 8 to 32 rows of pixels, taken in before looking up.
    private static let stepsAtOnce = 2

    private let header: JPEGHeader
    private let denominator: Int
    private let cancellation: CancellationFlag
    private let clock = SuspendingClock()
    private let deadline: SuspendingClock.Instant
    private let seconds: Double

    init(header: JPEGHeader, denominator: Int, context: ImageDecodingContext) {
        self.header = header
        self.denominator = denominator
        cancellation = context.cancellation
        seconds = context.limits.seconds
        // A duration holds about 10¹¹ years in seconds; this is what "no limit" comes to.
        deadline = clock.now + .seconds(seconds < 1e9 ? max(0, seconds) : 1e9)
    }

    func pixels(from session: borrowing JPEGSession) throws(ImageDecodingError) -> PixelBuffer {
        let (width, height) = try session.start(denominator: denominator)
        let isTurned = header.orientation.swapsSides
        guard var pixels = PixelBuffer(width: isTurned ? height : width, height: isTurned ? width : height) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: JPEGSession.codec)
        }
        if header.hasMultipleScans {
            repeat { try checkpoint() } while try !session.consume(steps: Self.stepsAtOnce)
            try session.startPass()
        }
        if header.orientation == .up {
            try readUpright(from: session, into: &pixels)
        } else {
            try readTurned(from: session, width: width, height: height, into: &pixels)
        }
        return pixels
    }

    private func readUpright(
        from session: borrowing JPEGSession, into pixels: inout PixelBuffer
    ) throws(ImageDecodingError) {
        let (height, bytesPerRow) = (pixels.height, pixels.bytesPerRow)
        var y = 0
        while y < height {
            try checkpoint()
            let count = min(Self.rowsAtOnce, height - y)
            y += try pixels.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
                try session.readRows(into: &bytes, at: y * bytesPerRow, bytesPerRow: bytesPerRow, count: count)
            }
        }
    }

    private func readTurned(
        from session: borrowing JPEGSession, width: Int, height: Int, into pixels: inout PixelBuffer
    ) throws(ImageDecodingError) {
        // SAFETY: the bytes of integers of one byte; both spans end before the next is made.
        let bytesPerRow = width * pixels.format.bytesPerPixel
        var strip = [UInt8](repeating: 0, count: bytesPerRow * min(Self.turnedRowsAtOnce, height))
        var y = 0
        while y < height {
            try checkpoint()
            let count = min(Self.turnedRowsAtOnce, height - y)
            var target = strip.mutableSpan
            var bytes = unsafe target.mutableBytes
            let read = try session.readRows(into: &bytes, at: 0, bytesPerRow: bytesPerRow, count: count)
            for row in 0..<read {
                let stored = unsafe strip.span.bytes.extracting(row * bytesPerRow..<(row + 1) * bytesPerRow)
                pixels.writeStoredRow(stored, at: y + row, orientation: header.orientation)
            }
            y += read
        }
    }

    private func checkpoint() throws(ImageDecodingError) {
        try cancellation.check()
        if clock.now > deadline {
            throw .limitExceeded("decoding takes more than \(seconds) seconds", codec: JPEGSession.codec)
        }
    }
}
