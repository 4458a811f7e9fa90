internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The part of a frame that has to be stored.
struct WebPPart {
    /// Its columns; they begin at an even one (RFC 9649, 2.7.1.2).
    let columns: Range<Int>
    /// Its rows; they begin at an even one.
    let rows: Range<Int>
    /// The frame before, if pixels equal to its are left out; nil to store every pixel.
    let background: Bitmap?
    /// Whether the frame is the one before.
    let isSame: Bool

    private let frame: Bitmap

    /// All of a frame.
    init(_ frame: Bitmap) {
        (columns, rows, background, isSame) = (0..<frame.width, 0..<frame.height, nil, false)
        self.frame = frame
    }

    /// What changed since the frame before; a pixel, if nothing did.
    ///
    /// Without loss, pixels that stay are left out if they are many. What is lossy would bleed into them.
    init(_ frame: Bitmap, after last: Bitmap, isLossless: Bool) {
        let difference = FrameDifference(from: last, to: frame)
        isSame = difference.changedCount == 0
        columns = isSame ? 0..<1 : difference.columns.lowerBound & ~1..<difference.columns.upperBound
        rows = isSame ? 0..<1 : difference.rows.lowerBound & ~1..<difference.rows.upperBound
        let isSparse = difference.changedCount * 2 < columns.count * rows.count
        background = isLossless && isSparse && difference.isOverlay && !isSame ? last : nil
        self.frame = frame
    }

    /// The part as a file of its own.
    func file(_ method: WebPCompressor.Method) throws(ImageEncodingError) -> Data {
        let compressor = try WebPCompressor(width: columns.count, height: rows.count)
        let bytes = columns.lowerBound * 4..<columns.upperBound * 4
        var changes = [UInt8](repeating: 0, count: background == nil ? 0 : bytes.count)
        for (y, row) in rows.enumerated() {
            let pixels = frame.row(row).extracting(bytes)
            if let background {
                FrameDifference.copyChanges(
                    in: pixels, since: background.row(row).extracting(bytes), to: &changes)
                let span = changes.span
                // SAFETY: the bytes are those of an array, and read only.
                unsafe compressor.setRow(y, span.bytes, isOpaque: false)
            } else {
                compressor.setRow(y, pixels, isOpaque: frame.isOpaque)
            }
        }
        return try compressor.encode(method)
    }
}
