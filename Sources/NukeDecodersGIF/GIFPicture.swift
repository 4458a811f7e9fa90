internal import NukeCore

/// A frame's pixels as a GIF can hold them: opaque colours, or nothing.
struct GIFPicture {
    /// Columns.
    let width: Int
    /// Rows.
    let height: Int
    /// Row by row: red in the lowest 8 bits, green, blue, and 255 in the highest; 0 where there is nothing.
    var pixels: [UInt32]

    /// Makes nothing of alphas below this, and opaque colours of all others.
    static let leastAlpha: UInt32 = 128

    /// A canvas with nothing on it.
    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        pixels = [UInt32](repeating: 0, count: width * height)
    }

    /// The pixels of an RGBA8 bitmap, the alpha divided out.
    init(_ bitmap: Bitmap) {
        (width, height) = (bitmap.width, bitmap.height)
        let (count, isOpaque, bytes) = (width * height, bitmap.isOpaque, bitmap.bytes)
        // SAFETY: the bitmap has four bytes for each of `count` pixels, and so has the array; both are whole integers.
        pixels = unsafe [UInt32](unsafeUninitializedCapacity: count) { target, filled in
            unsafe bytes.withUnsafeBytes { source in
                for index in 0..<count {
                    let pixel = unsafe source.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
                    unsafe target[index] =
                        isOpaque ? pixel.littleEndian | 0xFF00_0000 : Self.opaque(pixel.littleEndian)
                }
            }
            filled = count
        }
    }

    private static func opaque(_ pixel: UInt32) -> UInt32 {
        let alpha = pixel >> 24
        if alpha == 255 { return pixel }
        if alpha < leastAlpha { return 0 }
        func straight(_ sample: UInt32) -> UInt32 { min(255, (sample * 255 + alpha / 2) / alpha) }
        return straight(pixel & 255) | straight(pixel >> 8 & 255) << 8 | straight(pixel >> 16 & 255) << 16
            | 0xFF00_0000
    }

    /// Makes a place empty.
    mutating func clear(_ area: GIFArea) {
        for y in area.rows {
            for index in y * width + area.columns.lowerBound..<y * width + area.columns.upperBound { pixels[index] = 0 }
        }
    }
}

/// A rectangle on the canvas; empty if either range is.
struct GIFArea: Equatable {
    var columns = 0..<0
    var rows = 0..<0

    /// Whether no pixel is in it.
    var isEmpty: Bool { columns.isEmpty || rows.isEmpty }

    /// How many pixels are in it.
    var count: Int { columns.count * rows.count }

    /// Extends it to a pixel, which must not be above its last row.
    mutating func add(x: Int, y: Int) {
        guard !isEmpty else {
            self = GIFArea(columns: x..<x + 1, rows: y..<y + 1)
            return
        }
        columns = min(columns.lowerBound, x)..<max(columns.upperBound, x + 1)
        rows = rows.lowerBound..<max(rows.upperBound, y + 1)
    }

    /// Extends it to another one.
    mutating func add(_ other: GIFArea) {
        if isEmpty || other.isEmpty {
            self = isEmpty ? other : self
            return
        }
        columns =
            min(columns.lowerBound, other.columns.lowerBound)..<max(columns.upperBound, other.columns.upperBound)
        rows = min(rows.lowerBound, other.rows.lowerBound)..<max(rows.upperBound, other.rows.upperBound)
    }
}
