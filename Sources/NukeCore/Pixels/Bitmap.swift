internal import Synchronization

/// The image type of this platform.
public typealias PlatformImage = Bitmap

/// An immutable picture in memory: pixels, upright, with their format and colour space.
///
/// A small object over shared storage: equality and hash are by identity, as with image classes of other platforms.
@safe
public final class Bitmap: Sendable {
    /// Columns, in pixels.
    public let width: Int
    /// Rows, in pixels.
    public let height: Int
    /// How a pixel is stored.
    public let format: PixelFormat
    /// Whether every pixel is known to be opaque.
    public let isOpaque: Bool
    /// The colour space of the pixels.
    public let colorSpace: ColorSpace
    /// Pixels a point: 1 unless the request said otherwise.
    public let scale: Double

    private let storage: MemoryBlock

    init(
        storage: MemoryBlock, width: Int, height: Int, format: PixelFormat, isOpaque: Bool, colorSpace: ColorSpace,
        scale: Double
    ) {
        self.storage = storage
        self.width = width
        self.height = height
        self.format = format
        self.isOpaque = isOpaque
        self.colorSpace = colorSpace
        self.scale = scale
    }

    /// Bytes from the start of one row to the start of the next.
    public var bytesPerRow: Int { width * format.bytesPerPixel }

    /// Bytes of all rows.
    public var byteCount: Int { storage.byteCount }

    /// Width and height in pixels.
    public var size: ImageSize { ImageSize(width: width, height: height) }

    /// The bytes of all rows, top to bottom.
    public var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            // SAFETY: the storage is immutable from here on and lives as long as self.
            let start = unsafe storage.base
            let count = storage.byteCount
            let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The bytes of row `y`, which counts from the top.
    @_lifetime(borrow self)
    public func row(_ y: Int) -> RawSpan {
        precondition(y >= 0 && y < height, "row out of bounds")
        // SAFETY: the row lies within the storage, which is immutable and lives as long as self.
        let start = unsafe storage.base + y * bytesPerRow
        let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: bytesPerRow)
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// One transparent pixel, where an image is demanded and there is none to show.
    static let blank: Bitmap = {
        guard let buffer = PixelBuffer(width: 1, height: 1) else { preconditionFailure("no memory for one pixel") }
        return buffer.freeze()
    }()

    /// The same pixels, unshared as an object but not copied, said to be of another scale.
    public func withScale(_ scale: Double) -> Bitmap { sharing(colorSpace: colorSpace, scale: scale) }

    /// The same pixels, unshared as an object but not copied, said to be in another colour space.
    func withColorSpace(_ colorSpace: ColorSpace) -> Bitmap { sharing(colorSpace: colorSpace, scale: scale) }

    private func sharing(colorSpace: ColorSpace, scale: Double) -> Bitmap {
        storage.isShared.store(true, ordering: .relaxed)
        return Bitmap(
            storage: storage, width: width, height: height, format: format, isOpaque: isOpaque,
            colorSpace: colorSpace, scale: scale)
    }

    /// The storage, if this is the one reference to the one bitmap that has it.
    static func uniqueStorage(of bitmap: inout Bitmap) -> MemoryBlock? {
        guard isKnownUniquelyReferenced(&bitmap), !bitmap.storage.isShared.load(ordering: .relaxed) else { return nil }
        return bitmap.storage
    }
}

extension Bitmap: Hashable {
    /// Whether both are the same object.
    public static func == (a: Bitmap, b: Bitmap) -> Bool { a === b }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Bitmap: CustomStringConvertible {
    /// Size, format and opacity, for people.
    public var description: String {
        "Bitmap(\(width)x\(height), \(format)\(isOpaque ? ", opaque" : "")\(scale == 1 ? "" : ", scale: \(scale)"))"
    }
}
