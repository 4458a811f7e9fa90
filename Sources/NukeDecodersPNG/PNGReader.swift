internal import CNukePNG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One PNG being decoded: owns libpng's reading state.
///
/// Rows come out as RGBA of 8 bits a sample, or 16 if asked for, as stored and not premultiplied; `premultiply` is for those of the last pass.
/// After a call that throws nothing more may be read.
@safe
struct PNGReader: ~Copyable, ~Escapable {
    private let raw: OpaquePointer

    /// Columns as stored.
    let width: Int
    /// Rows as stored.
    let height: Int
    /// Whether the file declares that pixels may be transparent.
    let hasAlpha: Bool
    /// How often all rows are to be read, each time over what the pass before left: 7 for Adam7, else 1.
    let passCount: Int
    /// The format of the rows.
    let format: PixelFormat
    /// Whether colours are multiplied by alpha as they are stored.
    private let isPremultiplied: Bool
    /// The ICC profile, if there is one that libpng finds sound.
    let profile: Data?

    /// Opens the data and reads all that stands before the picture.
    @_lifetime(borrow bytes)
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - format: RGBA of 16 bits a sample only if it is stored so.
    ///   - isAppleVariant: Whether it holds pixels of Apple's variant; false by default.
    ///   - limits: What a chunk may ask for.
    init(
        _ bytes: RawSpan, format: PixelFormat = .rgba8, isAppleVariant: Bool = false, limits: ImageLimits
    ) throws(ImageDecodingError) {
        // SAFETY: the decoder reads within the span, which this value can't outlive. It is this value's alone: ended here
        // on failure, else in deinit. The profile is copied while the decoder lives.
        if let defect = PNGLibrary.defect { throw .missingCodec(defect, codec: ImageDecoders.PNG.codec) }
        let bounds = CNukePNG_Limits(
            sideLength: UInt32(clamping: min(limits.sideLength, Int(Int32.max))),
            chunkBytes: max(limits.metadataBytes, 1), isAppleVariant: isAppleVariant)
        let decoder = unsafe bytes.withUnsafeBytes { bytes -> OpaquePointer? in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return nil }
            return unsafe CNukePNG_createDecoder(start, bytes.count, bounds)
        }
        guard let decoder = unsafe decoder else {
            throw .outOfMemory("no memory for libpng's state", codec: ImageDecoders.PNG.codec)
        }
        var (header, passes) = unsafe (CNukePNG_Header(), CInt(1))
        var status = unsafe CNukePNG_readHeader(decoder, &header)
        if status == CNukePNG_ok { status = unsafe CNukePNG_start(decoder, format == .rgba16, &passes) }
        if status != CNukePNG_ok {
            defer { unsafe CNukePNG_destroyDecoder(decoder) }
            throw unsafe Self.error(status, of: decoder)
        }
        unsafe raw = decoder
        width = unsafe Int(header.width)
        height = unsafe Int(header.height)
        hasAlpha = unsafe header.hasAlpha
        passCount = Int(passes)
        self.format = format
        isPremultiplied = isAppleVariant
        profile = unsafe header.profile.map { unsafe Data(bytes: $0, count: Int(header.profileCount)) }
    }

    deinit {
        // SAFETY: the decoder is this value's alone.
        unsafe CNukePNG_destroyDecoder(raw)
    }

    /// Reads the next row.
    func readRow(into row: inout MutableRawSpan) throws(ImageDecodingError) {
        // SAFETY: the C function writes at most as many bytes as it is told that there are.
        let status = unsafe row.withUnsafeMutableBytes { bytes -> CNukePNG_Status in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                return CNukePNG_failed
            }
            return unsafe CNukePNG_readRow(raw, start, bytes.count)
        }
        if status != CNukePNG_ok { throw unsafe Self.error(status, of: raw) }
    }

    /// Multiplies colour by alpha in a row that is complete, if the file has alpha, rounded to the nearest.
    func premultiply(_ row: inout MutableRawSpan) {
        guard hasAlpha, !isPremultiplied else { return }
        if format == .rgba16 { return RowConversion.premultiply(&row) }
        // SAFETY: the C function stays within as many bytes as it is told that there are.
        unsafe row.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            unsafe CNukePNG_premultiply(start, bytes.count)
        }
    }

    private static func error(_ status: CNukePNG_Status, of decoder: OpaquePointer) -> ImageDecodingError {
        // SAFETY: the message is a C string in the decoder, copied at once.
        let message = unsafe String(cString: CNukePNG_decoderMessage(decoder))
        let codec = ImageDecoders.PNG.codec
        switch status {
        case CNukePNG_truncated: return .truncated(message, codec: codec)
        case CNukePNG_outOfMemory: return .outOfMemory(message, codec: codec)
        case CNukePNG_unavailable: return .missingCodec(PNGLibrary.defect ?? message, codec: codec)
        default: return .corruptData(message, codec: codec)
        }
    }
}

/// libpng as this program found it.
enum PNGLibrary {
    /// Name and version of the running library; nil if there is none that serves.
    static var version: String? {
        // SAFETY: the C string is a constant of the library.
        guard CNukePNG_isAvailable(), let version = unsafe CNukePNG_version() else { return nil }
        return unsafe "libpng " + String(cString: version)
    }

    /// What is wrong with the library, and the remedy; nil if nothing is.
    static var defect: String? {
        // SAFETY: the C string is a constant of the library.
        if CNukePNG_isAvailable() { return nil }
        guard let version = unsafe CNukePNG_version() else {
            return "this program was built without libpng; install libpng-dev and build it again"
        }
        return unsafe """
        libpng \(String(cString: version)) runs, which is not what this program was built with; install libpng-dev \
        and build it again
        """
    }
}
