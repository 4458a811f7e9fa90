internal import CNukeWebP
internal import NukeCore

/// The decode of one coded picture: owns the library's decoder, which knows how far it has come.
///
/// Bytes are handed over in slices, between which cancellation and time are looked at.
@safe
struct WebPSession: ~Copyable {
    /// Rows that a slice should bring: the bytes of a picture are spread evenly over its rows, more or less.
    ///
    /// The library begins again at the last of every eight rows of a lossless picture when it runs out of bytes.
    private static let rowsAtOnce = (lossy: 32, lossless: 64)
    /// Bytes that a slice has at least.
    private static let minimumSlice = 256

    private let picture: WebPPicture
    private let height: Int
    private let bytesPerRow: Int
    private let decoder: OpaquePointer
    private var byteCount = 0

    /// How many rows are final.
    private(set) var rowCount = 0
    /// Whether all are.
    private(set) var isFinished = false

    /// Begins the decode of a picture, reduced to fewer pixels if a size is given, to rows that are so far apart.
    init(
        _ picture: WebPPicture, reduced: (width: Int, height: Int)? = nil, bytesPerRow: Int
    ) throws(ImageDecodingError) {
        // SAFETY: the pointer is owned by this value from here on and not handed out.
        guard WebPLibrary.version != nil else {
            throw .missingCodec(WebPLibrary.remedy, codec: ImageDecoders.WebP.codec)
        }
        let (width, height) = reduced ?? (picture.width, picture.height)
        let target = CNukeWebP_Target(
            width: CInt(width), height: CInt(height), isReduced: reduced != nil, hasAlpha: picture.hasAlpha,
            fillsAlpha: picture.isLossless && !picture.hasAlpha, bytesPerRow: bytesPerRow)
        guard let decoder = unsafe CNukeWebP_createDecoder(target) else {
            throw .outOfMemory("no memory for a decoder", codec: ImageDecoders.WebP.codec)
        }
        self.picture = picture
        self.height = height
        self.bytesPerRow = bytesPerRow
        unsafe self.decoder = decoder
    }

    deinit {
        // SAFETY: created in init, destroyed nowhere else.
        unsafe CNukeWebP_destroyDecoder(decoder)
    }

    /// Decodes as far as the data goes, to pixels in which rows of earlier calls are kept.
    ///
    /// - Parameters:
    ///   - file: The whole file, as far as it is there, wherever it lies now.
    ///   - pixels: Where the rows go.
    ///   - offset: Where the first of them begins there.
    ///   - beforeSlice: Called before each slice with how many rows are final; ends the decode by throwing.
    mutating func read(
        _ file: RawSpan, into pixels: inout MutableRawSpan, at offset: Int = 0,
        beforeSlice: (Int) throws(ImageDecodingError) -> Void
    ) throws(ImageDecodingError) {
        let end = min(picture.range.upperBound, file.byteCount)
        guard !isFinished, picture.range.lowerBound < end else { return }
        let available = file.extracting(picture.range.lowerBound..<end)
        repeat {
            try beforeSlice(rowCount)
            byteCount = min(max(byteCount, nextByteCount), available.byteCount)
            try decode(available.extracting(first: byteCount), into: &pixels, at: offset)
        } while !isFinished && byteCount < available.byteCount
    }

    /// How many bytes to have handed over with the next slice.
    private var nextByteCount: Int {
        if byteCount == 0 { return picture.leadingCount }
        let total = picture.range.count
        // Before its first row a lossless picture is begun anew each time, so that may not be often.
        if picture.isLossless, rowCount == 0 { return byteCount + max(total / 8, Self.minimumSlice) }
        let rowsAtOnce = picture.isLossless ? Self.rowsAtOnce.lossless : Self.rowsAtOnce.lossy
        // A reduced picture has fewer rows than were coded.
        let codedRows = (height - rowCount) * picture.height / height
        return byteCount + max((total - byteCount) * rowsAtOnce / max(codedRows, rowsAtOnce), Self.minimumSlice)
    }

    private mutating func decode(
        _ bytes: RawSpan, into pixels: inout MutableRawSpan, at offset: Int
    ) throws(ImageDecodingError) {
        // SAFETY: the shim reads and writes within the counts that it is given, and follows neither pointer later.
        let byteCount = pixels.byteCount
        precondition(offset >= 0 && offset < byteCount, "rows out of bounds")
        var rows: CInt = 0
        let status = unsafe bytes.withUnsafeBytes { source in
            unsafe pixels.withUnsafeMutableBytes { target -> CNukeWebP_Status in
                guard let source = unsafe source.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let target = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress
                else { return CNukeWebP_needsInput }
                return unsafe CNukeWebP_decode(
                    decoder, source, bytes.byteCount, target + offset, byteCount - offset, &rows)
            }
        }
        rowCount = Int(rows)
        switch status {
        case CNukeWebP_ok: isFinished = true
        case CNukeWebP_needsInput: break
        case CNukeWebP_unsupported:
            throw .unsupported("the library does not decode this kind", codec: ImageDecoders.WebP.codec)
        case CNukeWebP_outOfMemory: throw .outOfMemory("no memory to decode", codec: ImageDecoders.WebP.codec)
        case CNukeWebP_unavailable: throw .missingCodec(WebPLibrary.remedy, codec: ImageDecoders.WebP.codec)
        default: throw .corruptData("the picture is damaged", codec: ImageDecoders.WebP.codec)
        }
    }
}

extension RawSpan {
    /// Puts this row of premultiplied pixels over a part of another, which begins at an offset.
    func blend(onto pixels: inout MutableRawSpan, at offset: Int) {
        precondition(offset >= 0 && byteCount <= pixels.byteCount - offset, "pixels out of bounds")
        // SAFETY: as many bytes as this span has are there from the offset on, as was checked.
        unsafe withUnsafeBytes { source in
            unsafe pixels.withUnsafeMutableBytes { target in
                guard let source = unsafe source.assumingMemoryBound(to: UInt8.self).baseAddress,
                    let target = unsafe target.assumingMemoryBound(to: UInt8.self).baseAddress
                else { return }
                unsafe CNukeWebP_blend(target + offset, source, byteCount / PixelFormat.rgba8.bytesPerPixel)
            }
        }
    }
}

/// The C library behind the shim, where this was built with it.
enum WebPLibrary {
    /// The version of the running library, such as "1.2.4"; nil if there is none that serves.
    static var version: String? {
        guard CNukeWebP_isAvailable() else { return nil }
        let number = CNukeWebP_version()
        return "\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }

    /// What to tell people who lack the library.
    static var remedy: String {
        let fault =
            CNukeWebP_version() == 0
            ? "this program was built without libwebp"
            : "the libwebp that runs is not of the kind that this program was built with"
        return "\(fault); install libwebp-dev and build it again"
    }
}
