internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A bitmap, or a part of one, to be compressed as a file.
struct PNGPicture {
    /// The columns to store.
    var columns: Range<Int>
    /// The rows to store.
    var rows: Range<Int>
    /// A bitmap of the same size and of RGBA8: where both are equal, nothing is stored.
    ///
    /// Nil to store every pixel.
    var background: Bitmap?

    private let image: Bitmap
    private let isInterlaced: Bool
    private let hasAlpha: Bool

    /// All of a bitmap, with alpha unless it is opaque.
    init(_ image: Bitmap, isInterlaced: Bool) {
        self.init(image, isInterlaced: isInterlaced, hasAlpha: !image.isOpaque)
    }

    /// All of a bitmap, with alpha or not, which doesn't count for gray.
    init(_ image: Bitmap, isInterlaced: Bool, hasAlpha: Bool) {
        (self.image, self.isInterlaced, self.hasAlpha) = (image, isInterlaced, hasAlpha)
        (columns, rows) = (0..<image.width, 0..<image.height)
    }

    /// The bytes of the file.
    func file(metadata: ImageMetadata?, hasProfile: Bool = true) throws(ImageEncodingError) -> Data {
        // SAFETY: whatever bytes are written through the span are samples of the row.
        let isGray = image.format == .gray8
        let layout = PNGWriter.Layout(
            width: columns.count, height: rows.count, channels: isGray ? 1 : hasAlpha ? 4 : 3,
            bitDepth: image.format.bitsPerChannel, isInterlaced: isInterlaced)
        let profile = hasProfile ? image.colorSpace.iccProfile : nil
        let writer = try PNGWriter(layout, profile: profile, exif: metadata?.exif)
        let bytes = columns.lowerBound * image.format.bytesPerPixel..<columns.upperBound * image.format.bytesPerPixel
        var scratch = [UInt8](repeating: 0, count: isGray ? 0 : layout.bytesPerRow)
        var changes = [UInt8](repeating: 0, count: background == nil ? 0 : bytes.count)
        for _ in 0..<writer.passCount {
            for y in rows {
                let row = image.row(y).extracting(bytes)
                if isGray {
                    try writer.writeRow(row)
                    continue
                }
                var span = scratch.mutableSpan
                var target = unsafe span.mutableBytes
                if let background {
                    FrameDifference.copyChanges(in: row, since: background.row(y).extracting(bytes), to: &changes)
                    let kept = changes.span
                    unsafe convert(kept.bytes, into: &target)
                } else {
                    convert(row, into: &target)
                }
                try writer.writeRow(target.bytes)
            }
        }
        return try writer.finish()
    }

    private func convert(_ row: RawSpan, into target: inout MutableRawSpan) {
        switch (image.format, hasAlpha) {
        case (.rgba16, false): RowConversion.dropAlpha(row, into: &target, as: UInt16.self)
        case (.rgba16, true): RowConversion.unpremultiply(row, into: &target, as: UInt16.self)
        case (_, false): RowConversion.dropAlpha(row, into: &target, as: UInt8.self)
        case (_, true): RowConversion.unpremultiply(row, into: &target, as: UInt8.self)
        }
    }
}
