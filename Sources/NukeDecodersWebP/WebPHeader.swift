internal import NukeCore

/// What a WebP file tells outside its pixels, read by walking the chunks of its container (RFC 9649, 2.5 to 2.7).
struct WebPHeader {
    /// A frame of an animation.
    struct Frame {
        /// The column of the canvas where it begins.
        let x: Int
        /// The row of the canvas where it begins.
        let y: Int
        /// How long it is shown, in milliseconds.
        let duration: Int
        /// Whether it is put over what is there; else it replaces that.
        let isBlended: Bool
        /// Whether its rectangle is cleared before the next frame.
        let isDisposed: Bool
        /// The pixels.
        let picture: WebPPicture
    }

    /// Columns as stored: of the canvas, if the file says that it has one.
    private(set) var width = 0
    /// Rows as stored.
    private(set) var height = 0
    /// The picture of a file that is not animated.
    private(set) var still: WebPPicture?
    /// Whether the pictures are frames.
    private(set) var isAnimated = false
    /// The frames, as far as they are there with their headers.
    private(set) var frames: [Frame] = []
    /// How often all frames are shown as stored; 0: for ever.
    private(set) var loopCount = 0
    /// Where the ICC profile lies, if it is there as a whole.
    private(set) var profile: Range<Int>?
    /// Where the EXIF data lies, if it is there as a whole.
    private(set) var exif: Range<Int>?
    /// Whether the file says that it has EXIF data, which mostly stands behind the pixels.
    private(set) var announcesExif = false
    /// Bytes that the file says it has and that are not there.
    let missingByteCount: Int

    private var hasAnimationChunk = false
    /// Where the file ends by its own word.
    private let end: Int

    /// Chunks of no account that are looked at.
    private static let maximumChunkCount = 10_000

    /// Reads as far as the data goes.
    ///
    /// Throws `truncated` if that is not to the size of the canvas, or of the picture where there is no canvas.
    init(_ bytes: RawSpan, frameLimit: Int) throws(ImageDecodingError) {
        try Self.checkSignature(bytes)
        end = RIFFChunk.headerCount + bytes.integer(4, at: 4)
        missingByteCount = max(0, end - bytes.byteCount)
        let isCut = missingByteCount > 0
        let available = min(end, bytes.byteCount)
        guard let first = RIFFChunk(at: 12, in: bytes, before: available) else { throw Self.lacking(isCut) }
        guard first.kind == .extended else {
            guard let picture = try WebPPicture(at: 12, in: bytes, available: available, end: end) else {
                throw Self.lacking(isCut)
            }
            guard !picture.hasAlpha || picture.isLossless else { throw Self.corrupt("alpha without a VP8X chunk") }
            (width, height) = (picture.width, picture.height)
            still = picture
            return
        }
        guard first.count >= 10, first.end <= end else { throw Self.corrupt("the VP8X chunk is too short") }
        guard first.start + 10 <= available else { throw Self.lacking(isCut) }
        let flags = bytes.integer(1, at: first.start)
        (isAnimated, announcesExif) = (flags & 0x02 != 0, flags & 0x08 != 0)
        width = bytes.integer(3, at: first.start + 4) + 1
        height = bytes.integer(3, at: first.start + 7) + 1
        try walk(from: first.next, in: bytes, available: available, frameLimit: frameLimit)
        guard still != nil || !frames.isEmpty || isCut else { throw Self.corrupt("there is no picture") }
    }

    /// What stands at the start of every file.
    private static func checkSignature(_ bytes: RawSpan) throws(ImageDecodingError) {
        for (index, byte) in Array("RIFF....WEBP".utf8).enumerated() where !(4..<8).contains(index) {
            guard index < bytes.byteCount else { throw lacking(true) }
            guard bytes.integer(1, at: index) == Int(byte) else { throw corrupt("there is no RIFF header of a WebP") }
        }
    }

    private mutating func walk(
        from start: Int, in bytes: RawSpan, available: Int, frameLimit: Int
    ) throws(ImageDecodingError) {
        var (place, count) = (start, 0)
        while let chunk = RIFFChunk(at: place, in: bytes, before: available) {
            guard count <= Self.maximumChunkCount else { return }
            place = chunk.next
            switch chunk.kind {
            case .frame:
                guard try takeFrame(chunk, in: bytes, available: available) else { return }
                guard frames.count <= frameLimit else {
                    throw .limitExceeded("more than \(frameLimit) frames", codec: ImageDecoders.WebP.codec)
                }
            case .alpha, .lossy, .lossless:
                let isFirst = still == nil
                guard try takeStill(chunk, in: bytes, available: available) else { return }
                // Those after the first are of no account; its own end lies before them.
                if isFirst, let still {
                    place = max(place, still.range.upperBound + still.range.count % 2)
                } else {
                    count += 1
                }
            default:
                count += 1
                take(chunk, in: bytes, available: available)
            }
        }
    }

    /// Takes what counts of a chunk that is no picture; of several of a kind the first.
    private mutating func take(_ chunk: RIFFChunk, in bytes: RawSpan, available: Int) {
        guard chunk.end <= available else { return }
        switch chunk.kind {
        case .animation:
            guard chunk.count >= 6, !hasAnimationChunk else { return }
            hasAnimationChunk = true
            loopCount = bytes.integer(2, at: chunk.start + 4)
        case .profile where profile == nil: profile = chunk.start..<chunk.end
        case .exif where exif == nil: exif = chunk.start..<chunk.end
        default: break
        }
    }

    /// Takes the picture of a file that is not animated; false if its header is not there yet.
    private mutating func takeStill(
        _ chunk: RIFFChunk, in bytes: RawSpan, available: Int
    ) throws(ImageDecodingError) -> Bool {
        guard !isAnimated else { throw Self.corrupt("an animation has a picture that is no frame") }
        guard still == nil else { return true }
        guard let picture = try WebPPicture(at: chunk.place, in: bytes, available: available, end: end) else {
            return false
        }
        guard picture.width == width, picture.height == height else {
            throw Self.corrupt("\(picture.width)x\(picture.height) pixels on a canvas of \(width)x\(height)")
        }
        still = picture
        return true
    }

    /// Takes a frame (2.7.1.2); false if its header is not there yet.
    private mutating func takeFrame(
        _ chunk: RIFFChunk, in bytes: RawSpan, available: Int
    ) throws(ImageDecodingError) -> Bool {
        guard isAnimated, hasAnimationChunk else { throw Self.corrupt("a frame in a file that says of no animation") }
        let fieldCount = 16
        guard chunk.count >= fieldCount, chunk.end <= end else { throw Self.corrupt("a frame has no right length") }
        guard chunk.start + fieldCount <= available else { return false }
        let fields = [0, 3, 6, 9, 12].map { bytes.integer(3, at: chunk.start + $0) }
        let flags = bytes.integer(1, at: chunk.start + 15)
        let picture = try WebPPicture(
            at: chunk.start + fieldCount, in: bytes, available: min(available, chunk.end), end: chunk.end)
        guard let picture else {
            if chunk.end <= available { throw Self.corrupt("a frame has no picture") }
            return false
        }
        let (x, y) = (fields[0] * 2, fields[1] * 2)
        guard picture.width == fields[2] + 1, picture.height == fields[3] + 1, x + picture.width <= width,
            y + picture.height <= height
        else { throw Self.corrupt("a frame is not of the size it says, or not within the canvas") }
        frames.append(
            Frame(
                x: x, y: y, duration: fields[4], isBlended: flags & 2 == 0, isDisposed: flags & 1 == 1,
                picture: picture))
        return true
    }

    private static func corrupt(_ reason: String) -> ImageDecodingError {
        .corruptData(reason, codec: ImageDecoders.WebP.codec)
    }

    /// The error for a header that ends too early: with the data, or by the file's own word.
    private static func lacking(_ isCut: Bool) -> ImageDecodingError {
        isCut
            ? .truncated("the data ends within the header", codec: ImageDecoders.WebP.codec)
            : corrupt("the file ends within its header")
    }
}
