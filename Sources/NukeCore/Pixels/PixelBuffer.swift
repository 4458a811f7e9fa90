/// Pixels being written: owned by one writer, filled by rows, then frozen into a `Bitmap` without a copy.
///
/// The memory starts as zeros (transparent black), so rows that are never written show nothing.
@safe
public struct PixelBuffer: ~Copyable, Sendable {
    /// Columns.
    public let width: Int
    /// Rows.
    public let height: Int
    /// Bytes from the start of one row to the start of the next: width × bytes a pixel.
    public let bytesPerRow: Int
    /// How a pixel is stored.
    public let format: PixelFormat

    private let storage: MemoryBlock

    /// Creates a buffer of zeros; nil if a side is not positive, the size overflows, or there is no memory for it.
    ///
    /// Checks no limits: decoders call `ImageLimits.check` first.
    public init?(width: Int, height: Int, format: PixelFormat = .rgba8) {
        let (rowBytes, rowOverflow) = width.multipliedReportingOverflow(by: format.bytesPerPixel)
        let (byteCount, overflow) = rowBytes.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !rowOverflow, !overflow, let storage = MemoryBlock(byteCount: byteCount) else {
            return nil
        }
        self.width = width
        self.height = height
        self.bytesPerRow = rowBytes
        self.format = format
        self.storage = storage
    }

    /// Creates a buffer with a copy of a picture's pixels; nil if there is no memory for it.
    public init?(copying bitmap: Bitmap) {
        guard let storage = MemoryBlock(byteCount: bitmap.byteCount, isZeroed: false) else { return nil }
        // SAFETY: the new storage has room for all the bytes of the other.
        unsafe bitmap.bytes.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe storage.base.copyMemory(from: source, byteCount: bytes.count)
        }
        self.init(storage, of: bitmap)
    }

    /// Creates a buffer with a copy of another's pixels; nil if there is no memory for it.
    public init?(copying other: borrowing PixelBuffer) {
        guard let storage = MemoryBlock(byteCount: other.storage.byteCount, isZeroed: false) else { return nil }
        // SAFETY: both have as many bytes.
        unsafe storage.base.copyMemory(from: other.storage.base, byteCount: storage.byteCount)
        self.storage = storage
        width = other.width
        height = other.height
        bytesPerRow = other.bytesPerRow
        format = other.format
    }

    /// Takes a bitmap's pixels over, and leaves a blank one: without a copy if nobody else can see them.
    ///
    /// Nil, and the bitmap stays, if there is no memory for a copy.
    init?(taking bitmap: inout Bitmap) {
        if let storage = Bitmap.uniqueStorage(of: &bitmap) {
            self.init(storage, of: bitmap)
        } else {
            self.init(copying: bitmap)
        }
        bitmap = .blank
    }

    private init(_ storage: MemoryBlock, of bitmap: Bitmap) {
        self.storage = storage
        width = bitmap.width
        height = bitmap.height
        bytesPerRow = bitmap.bytesPerRow
        format = bitmap.format
    }

    /// Calls `body` with the bytes of row `y`, which counts from the top.
    public mutating func withRow<Result, Failure: Error>(
        _ y: Int, _ body: (inout MutableRawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(y >= 0 && y < height, "row out of bounds")
        // SAFETY: the row lies within the storage, which outlives the span; self is held exclusively.
        let start = unsafe storage.base + y * bytesPerRow
        var span = unsafe MutableRawSpan(_unsafeStart: start, byteCount: bytesPerRow)
        return try body(&span)
    }

    /// Calls `body` with the bytes of every row, top to bottom.
    public mutating func withBytes<Result, Failure: Error>(
        _ body: (inout MutableRawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // SAFETY: the span covers the storage, which outlives it; self is held exclusively.
        // The start is copied first: read in the call, it makes the optimiser of Swift 6.3.1 abort.
        let start = unsafe storage.base
        var span = unsafe MutableRawSpan(_unsafeStart: start, byteCount: storage.byteCount)
        return try body(&span)
    }

    /// Makes the pixels immutable and hands them on, without a copy.
    ///
    /// `isOpaque` is the writer's promise that every alpha is full; gray pixels are opaque always.
    public consuming func freeze(
        isOpaque: Bool = false, colorSpace: ColorSpace = .sRGB, scale: Double = 1
    ) -> Bitmap {
        Bitmap(
            storage: storage, width: width, height: height, format: format, isOpaque: isOpaque || format == .gray8,
            colorSpace: colorSpace, scale: scale)
    }
}
