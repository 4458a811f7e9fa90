public import FoundationEssentials
public import NukeCore

/// Decodes one Pix file, with previews: the small picture, then the rows from the top down.
public final class PixDecoder: ImageDecoding {
    private let context: ImageDecodingContext
    /// How many rows the last preview showed; nil before the first.
    private let shownRowCount = Lock<Int?>(nil)

    /// Creates the decoder of one load.
    public init(context: ImageDecodingContext) { self.context = context }

    /// What the header tells.
    public func properties(of data: Data) throws -> ImageProperties? {
        let header = try PixHeader(data)
        return ImageProperties(
            type: .pix, storedWidth: header.width, storedHeight: header.height, hasAlpha: header.hasAlpha, bitDepth: 8,
            colorModel: .rgb, isProgressive: true)
    }

    /// The picture; throws `truncated` if rows are missing, unless the context is lenient.
    public func decode(_ data: Data) throws -> ImageContainer {
        let header = try PixHeader(data)
        // What is too large is so whether or not the file is whole.
        try context.limits.check(width: header.width, height: header.height, codec: PixHeader.codec)
        let rowCount = header.rowCount(in: data.count)
        guard rowCount == header.height || context.truncationPolicy == .lenient && rowCount > 0 else {
            throw ImageDecodingError.truncated("\(header.height - rowCount) rows are missing", codec: PixHeader.codec)
        }
        let image = try picture(data, header, rowCount: rowCount)
        var container = try context.makeContainer(image: image, type: .pix, originalSize: header.size)
        if rowCount < header.height { container.userInfo[.isTruncatedKey] = true }
        return container
    }

    /// The small picture, made large, with the rows that have arrived on top; nil if that is nothing new.
    public func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
        let header = try PixHeader(data)
        try context.limits.check(width: header.width, height: header.height, codec: PixHeader.codec)
        guard data.count >= header.rowsStart else { return nil }
        let rowCount = header.rowCount(in: data.count)
        let isNew = shownRowCount.withLock { shown in
            defer { shown = rowCount }
            return rowCount > shown ?? -1
        }
        guard isNew else { return nil }
        let image = try picture(data, header, rowCount: rowCount)
        var container = try context.makeContainer(image: image, type: .pix, originalSize: header.size)
        container.isPreview = true
        return container
    }

    /// As many rows as there are, and below them what the small picture shows.
    private func picture(_ data: Data, _ header: PixHeader, rowCount: Int) throws(ImageDecodingError) -> Bitmap {
        try context.cancellation.check()
        guard var buffer = PixelBuffer(width: header.width, height: header.height) else {
            throw .outOfMemory("no memory for \(header.width)x\(header.height) pixels", codec: PixHeader.codec)
        }
        for y in 0..<header.height {
            if y % 64 == 0 { try context.cancellation.check() }
            let row =
                y < rowCount
                ? pixels(data, at: header.rowsStart + y * header.rowSize, count: header.width, header)
                : magnifiedRow(data, y, header)
            buffer.writeStoredRow(row.span.bytes, at: y, orientation: .up)
        }
        return buffer.freeze(isOpaque: !header.hasAlpha)
    }

    private func magnifiedRow(_ data: Data, _ y: Int, _ header: PixHeader) -> [UInt8] {
        let start = PixHeader.byteCount + y / PixHeader.step * header.smallWidth * header.pixelSize
        let small = pixels(data, at: start, count: header.smallWidth, header)
        return (0..<header.width).flatMap { x in small[x / PixHeader.step * 4..<x / PixHeader.step * 4 + 4] }
    }

    /// Pixels as red, green, blue and alpha, no colour above alpha: what a bitmap promises, whatever the file holds.
    private func pixels(_ data: Data, at offset: Int, count: Int, _ header: PixHeader) -> [UInt8] {
        let start = data.startIndex + offset
        let stored = [UInt8](data[start..<start + count * header.pixelSize])
        var pixels = [UInt8](repeating: 255, count: count * 4)
        for x in 0..<count {
            let alpha = header.hasAlpha ? stored[x * 4 + 3] : 255
            for channel in 0..<3 { pixels[x * 4 + channel] = min(stored[x * header.pixelSize + channel], alpha) }
            pixels[x * 4 + 3] = alpha
        }
        return pixels
    }
}
