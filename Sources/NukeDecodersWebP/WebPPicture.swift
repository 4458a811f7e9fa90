internal import NukeCore

/// One coded picture of a file: the still picture or a frame, as its bitstream's header tells.
struct WebPPicture: Equatable {
    /// Columns.
    let width: Int
    /// Rows.
    let height: Int
    /// Whether it is coded without loss (VP8L), with pixels that the library holds as a whole while it decodes.
    let isLossless: Bool
    /// Whether there is alpha: of a lossy picture a chunk of its own, of a lossless one by the header's word.
    let hasAlpha: Bool
    /// Whether the chunk of a lossy picture's alpha is compressed.
    let isAlphaCompressed: Bool
    /// Where its chunks lie in the file, alpha first; may end behind the data there is.
    let range: Range<Int>
    /// Bytes of its chunks that are needed before a row can come.
    let leadingCount: Int

    /// Whether all of it is in data of that many bytes.
    func isComplete(in byteCount: Int) -> Bool { range.upperBound <= byteCount }

    /// Bytes of its pixels; sides have at most 14 bits, so products don't overflow.
    var byteCount: Int { width * height * PixelFormat.rgba8.bytesPerPixel }

    /// Bytes that the library holds beside the pixels that it writes, at most.
    ///
    /// All pixels of a lossless picture, as are those that compressed alpha becomes; the plane of alpha; and of a lossy
    /// picture what belongs to some rows of blocks.
    var codecByteCount: Int {
        if isLossless { return byteCount + width * 128 }
        let alpha = hasAlpha ? width * height + (isAlphaCompressed ? byteCount : 0) : 0
        return alpha + width * 128
    }

    /// Reads the chunks at a place; nil if data is lacking before the size is known.
    ///
    /// Throws if there is no picture of a kind that can be.
    ///
    /// - Parameters:
    ///   - place: Where its first chunk should begin.
    ///   - bytes: The data so far.
    ///   - available: Where the data ends, or what the picture is in, if that is before.
    ///   - end: Where what the picture is in ends, in the whole file.
    init?(at place: Int, in bytes: RawSpan, available: Int, end: Int) throws(ImageDecodingError) {
        guard var chunk = RIFFChunk(at: place, in: bytes, before: available) else { return nil }
        var alpha: RIFFChunk?
        if chunk.kind == .alpha {
            guard chunk.end < end else {
                throw .corruptData("alpha without a picture", codec: ImageDecoders.WebP.codec)
            }
            alpha = chunk
            guard chunk.start < available, let next = RIFFChunk(at: chunk.next, in: bytes, before: available) else {
                return nil
            }
            chunk = next
        }
        guard chunk.end <= end else {
            throw .corruptData("a picture is longer than what it is in", codec: ImageDecoders.WebP.codec)
        }
        let headerCount = chunk.kind == .lossless ? 5 : 10
        guard chunk.start + headerCount <= available else {
            if chunk.count >= headerCount { return nil }
            throw .corruptData("a picture has no room for a header", codec: ImageDecoders.WebP.codec)
        }
        let size: (width: Int, height: Int)
        switch (chunk.kind, alpha) {
        case (.lossy, _):
            (size, leadingCount) = try Self.lossyHeader(chunk, in: bytes, place: place)
            isLossless = false
            hasAlpha = alpha != nil
        case (.lossless, nil):
            let header = bytes.integer(4, at: chunk.start + 1)
            guard bytes.integer(1, at: chunk.start) == 0x2F, header >> 29 == 0 else {
                throw .corruptData("a lossless picture has no signature", codec: ImageDecoders.WebP.codec)
            }
            size = (header & 0x3FFF + 1, header >> 14 & 0x3FFF + 1)
            // The library does not begin before.
            leadingCount = RIFFChunk.headerCount + chunk.count / 8 + 1
            isLossless = true
            hasAlpha = header >> 28 & 1 == 1
        default:
            throw .corruptData("there is another chunk where a picture should be", codec: ImageDecoders.WebP.codec)
        }
        (width, height) = size
        isAlphaCompressed = alpha.map { bytes.integer(1, at: $0.start) & 3 != 0 } ?? false
        range = place..<chunk.end
    }

    /// The header of a key frame (RFC 6386, 9.1), and the bytes up to the end of the first partition, which has all modes.
    private static func lossyHeader(
        _ chunk: RIFFChunk, in bytes: RawSpan, place: Int
    ) throws(ImageDecodingError) -> (size: (width: Int, height: Int), leadingCount: Int) {
        let tag = bytes.integer(3, at: chunk.start)
        let (width, height) = (bytes.integer(2, at: chunk.start + 6), bytes.integer(2, at: chunk.start + 8))
        let size = (width: width & 0x3FFF, height: height & 0x3FFF)
        guard tag & 1 == 0, bytes.integer(3, at: chunk.start + 3) == 0x2A_019D, size.width > 0, size.height > 0 else {
            throw .corruptData("a lossy picture has no sound header", codec: ImageDecoders.WebP.codec)
        }
        return (size, min(chunk.start + 10 + tag >> 5, chunk.end) - place)
    }
}
