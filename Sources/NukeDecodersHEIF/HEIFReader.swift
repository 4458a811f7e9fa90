internal import CNukeHEIF
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One file being decoded: owns libheif's state and, once they are decoded, the pixels as they are coded.
@safe
struct HEIFReader: ~Copyable, ~Escapable {
    /// What the container tells of a picture.
    struct Picture {
        /// Columns and rows as they will stand: cropped, turned and mirrored.
        let width, height: Int
        /// Columns and rows as coded.
        let codedWidth, codedHeight: Int
        /// Bits of a stored sample.
        let bitDepth: Int
        let hasAlpha: Bool
        let isGray: Bool
        /// Whether it is put together of others, one after the other.
        let isDerived: Bool
        let thumbnailCount: Int
        let profileCount: Int
        /// Bytes of the item of EXIF data; 0 without one.
        let exifCount: Int
    }

    private let raw: OpaquePointer
    private let library: HEIFLibrary
    private let codec: String
    private let container: HEIFContainer?
    private let bytes: RawSpan
    private let limits: ImageLimits
    private var isThumbnail = false

    /// Reads the container, but no pixels.
    @_lifetime(copy bytes)
    init(
        _ bytes: RawSpan, limits: ImageLimits, library: HEIFLibrary, codec: String
    ) throws(ImageDecodingError) {
        // SAFETY: the decoder reads within the span, which this value can't outlive. It is this value's alone: ended here
        // on failure, else in deinit.
        if let defect = library.defect { throw .missingCodec(defect, codec: codec) }
        let container = HEIFContainer(bytes)
        try container?.checkNesting(codec: codec)
        guard let table = unsafe library.raw, let decoder = unsafe CNukeHEIF_createDecoder(table) else {
            throw .outOfMemory("no memory for libheif's state", codec: codec)
        }
        let side = Int32(clamping: max(1, limits.sideLength))
        let status = unsafe bytes.withUnsafeBytes { bytes -> CNukeHEIF_Status in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return .truncated }
            return unsafe CNukeHEIF_openData(decoder, start, bytes.count, side)
        }
        if status != .OK {
            defer { unsafe CNukeHEIF_destroyDecoder(decoder) }
            throw unsafe Self.error(status, decoder, codec)
        }
        unsafe raw = decoder
        self.library = library
        self.codec = codec
        self.container = container
        self.bytes = bytes
        self.limits = limits
    }

    deinit {
        // SAFETY: the decoder is this value's alone.
        unsafe CNukeHEIF_destroyDecoder(raw)
    }

    /// What the container tells of the chosen picture.
    var picture: Picture {
        // SAFETY: the struct outlives the call that fills it.
        var picture = CNukeHEIF_Picture()
        unsafe CNukeHEIF_getPicture(raw, &picture)
        var (width, height) = (Int(picture.width), Int(picture.height))
        if container?.isTurnedBeforeSize == true, !isThumbnail { (width, height) = (height, width) }
        let isCodedSizeTold = picture.codedWidth > 0 && picture.codedHeight > 0
        return Picture(
            width: width, height: height, codedWidth: isCodedSizeTold ? Int(picture.codedWidth) : width,
            codedHeight: isCodedSizeTold ? Int(picture.codedHeight) : height,
            bitDepth: picture.bitDepth > 0 ? Int(picture.bitDepth) : 8, hasAlpha: picture.hasAlpha != 0,
            isGray: container?.isGray ?? false, isDerived: container?.isDerived ?? false,
            thumbnailCount: Int(picture.thumbnailCount), profileCount: picture.profileCount,
            exifCount: picture.exifCount)
    }

    /// Makes everything below be about the largest thumbnail.
    mutating func selectThumbnail() throws(ImageDecodingError) {
        // SAFETY: the decoder lives as long as self.
        try check(unsafe CNukeHEIF_selectThumbnail(raw))
        isThumbnail = true
    }

    /// The ICC profile; nil if there is none, or it has more bytes than the limit.
    func profile(limit: Int) -> Data? {
        // SAFETY: the library copies as many bytes as it said that there are.
        let count = picture.profileCount
        guard count > 0, count <= limit else { return nil }
        var profile = Data(count: count)
        let status = unsafe profile.withUnsafeMutableBytes { bytes -> CNukeHEIF_Status in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return .corrupt }
            return unsafe CNukeHEIF_copyProfile(raw, start)
        }
        return status == .OK ? profile : nil
    }

    /// The EXIF data, as a TIFF structure or with what stands before it; nil if there is none.
    ///
    /// Throws if there are more bytes than the limit.
    func exif() throws(ImageDecodingError) -> Data? {
        // SAFETY: the library copies as many bytes as it said that there are.
        let count = picture.exifCount
        guard count > 4 else { return nil }
        guard count - 4 <= limits.metadataBytes else {
            throw .limitExceeded("\(count) bytes of EXIF data; \(limits.metadataBytes) are allowed", codec: codec)
        }
        var item = Data(count: count)
        let status = unsafe item.withUnsafeMutableBytes { bytes -> CNukeHEIF_Status in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return .corrupt }
            return unsafe CNukeHEIF_copyExif(raw, start)
        }
        guard status == .OK else { return nil }
        // ISO/IEC 23008-12, A.2.1: exif_tiff_header_offset.
        let offset = item.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return offset <= count - 4 ? Data(item.dropFirst(4 + offset)) : nil
    }

    /// Decodes all pixels; tells how large the picture is, which is at most what the container told, and in which coding.
    func decode(_ type: AssetType) throws(ImageDecodingError) -> (width: Int, height: Int, coding: ColorCoding) {
        // SAFETY: the variables outlive the call that fills them.
        let needed: CNukeHEIF_Codec = type == .avif ? .AV1 : .HEVC
        if let missing = library.lack(of: needed, for: .decoding) { throw .missingCodec(missing, codec: codec) }
        guard let container else { throw .corruptData("the file's items are not described", codec: codec) }
        try container.check(limits, isThumbnail: isThumbnail, codec: codec, bytes)
        let told = picture
        var (width, height) = (Int32(clamping: told.width), Int32(clamping: told.height))
        var coding = CNukeHEIF_Coding()
        let status = unsafe CNukeHEIF_decode(raw, &width, &height, &coding)
        if status == .noCodec {
            throw .unsupported("libheif has no decoder for how the pixels are coded", codec: codec)
        }
        try check(status)
        return (Int(width), Int(height), ColorCoding(primaries: Int(coding.primaries), transfer: Int(coding.transfer)))
    }

    /// Writes a row of what was decoded, premultiplied; reduced by 2 or 4 in each direction where that is told.
    ///
    /// Row and columns count after the reduction and must lie within the picture that `decode` told of.
    func readRow(_ y: Int, width: Int, reduction: Int, into row: inout MutableRawSpan) {
        precondition(width >= 0 && row.byteCount >= width * 4, "the row is too short")
        // SAFETY: the row holds as many pixels as are written.
        unsafe row.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            unsafe CNukeHEIF_readRow(raw, Int32(y), Int32(width), Int32(reduction), start)
        }
    }

    private func check(_ status: CNukeHEIF_Status) throws(ImageDecodingError) {
        // SAFETY: the decoder lives as long as self.
        if status != .OK { throw unsafe Self.error(status, raw, codec) }
    }

    private static func error(
        _ status: CNukeHEIF_Status, _ decoder: OpaquePointer, _ codec: String
    ) -> ImageDecodingError {
        // SAFETY: the message is a C string in the decoder, copied at once.
        let words = unsafe String(cString: CNukeHEIF_message(decoder))
        let reason = words.split(whereSeparator: \.isNewline).joined(separator: " ")
        switch status {
        case .truncated: return .truncated(reason, codec: codec)
        case .unsupported, .noCodec: return .unsupported(reason, codec: codec)
        case .limitExceeded: return .limitExceeded(reason, codec: codec)
        case .outOfMemory: return .outOfMemory(reason, codec: codec)
        case .OK, .corrupt: return .corruptData(reason, codec: codec)
        }
    }
}

/// libheif itself, opened the first time that anything here is asked for.
// SAFETY: the table behind the pointer is filled before anybody sees it, never changed, and freed with this object.
@safe
final class HEIFLibrary: @unchecked Sendable {
    /// What a codec is needed for.
    enum Use { case decoding, encoding }

    /// The library of the system.
    static let shared = HEIFLibrary(name: "libheif.so.1")

    fileprivate let raw: OpaquePointer?
    private let opening: CNukeHEIF_Opening

    /// Opens a library by its name or path.
    init(name: String) {
        // SAFETY: see above.
        var opening = CNukeHEIF_Opening.notInstalled
        unsafe raw = CNukeHEIF_openLibrary(name, &opening)
        self.opening = opening
    }

    deinit {
        // SAFETY: nobody has the pointer who does not hold this object.
        if let raw = unsafe raw { unsafe CNukeHEIF_forgetLibrary(raw) }
    }

    /// The table of functions, for the file that writes.
    var table: OpaquePointer? { unsafe raw }

    /// The version of the headers that this was built with; opens nothing, and is nil where there were none.
    static var headerVersion: String? {
        // SAFETY: a literal, which lives as long as the process.
        unsafe CNukeHEIF_headerVersion().map { unsafe String(cString: $0) }
    }

    /// Such as "1.15.1"; nil where there is no library that can be used.
    var version: String? {
        // SAFETY: the library's own text, which lives as long as the process.
        guard let raw = unsafe raw else { return nil }
        return unsafe String(cString: CNukeHEIF_libraryVersion(raw))
    }

    /// What is wrong with the library, and the remedy; nil if nothing is.
    var defect: String? {
        switch opening {
        case .ready: nil
        case .notInstalled: "libheif is not installed; install the package libheif1"
        case .tooOld: "libheif is older than 1.13; update the package libheif1"
        case .withoutHeaders: "this program was built without libheif; install libheif-dev and build it again"
        }
    }

    /// What to tell if the library lacks a codec; nil if it has it.
    ///
    /// From 1.16 on Debian and Ubuntu have codecs in packages of their own; before, they are libheif1's.
    func lack(of codec: CNukeHEIF_Codec, for use: Use) -> String? {
        // SAFETY: the table lives as long as the process.
        guard let raw = unsafe raw else { return defect }
        let isThere: Int32 =
            switch use {
            case .decoding: unsafe CNukeHEIF_decodes(raw, codec)
            case .encoding: unsafe CNukeHEIF_encodes(raw, codec)
            }
        if isThere != 0 { return nil }
        let (name, plugin): (String, String) =
            switch (codec, use) {
            case (.HEVC, .decoding): ("HEVC decoder", "libheif-plugin-libde265")
            case (.AV1, .decoding): ("AV1 decoder", "libheif-plugin-dav1d")
            case (.HEVC, .encoding): ("HEVC encoder", "libheif-plugin-x265")
            case (.AV1, .encoding): ("AV1 encoder", "libheif-plugin-aomenc")
            }
        let package = hasPluginPackages ? plugin : "libheif1"
        return "libheif \(version ?? "") has no \(name); install the package \(package)"
    }

    /// What to tell if the library is missing, or lacks a codec to read or write files of a type; nil if it has both.
    func lack(forReadingAndWriting type: AssetType) -> String? {
        let codec: CNukeHEIF_Codec = type == .avif ? .AV1 : .HEVC
        return lack(of: codec, for: .decoding) ?? lack(of: codec, for: .encoding)
    }

    private var hasPluginPackages: Bool {
        let parts = (version ?? "").split(separator: ".").compactMap { Int($0) }
        return parts.count >= 2 && (parts[0], parts[1]) >= (1, 16)
    }
}
