internal import CNukeHEIF
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One file being made: owns libheif's state and the pixels that it will encode.
@safe
struct HEIFWriter: ~Copyable {
    /// What to write, and how.
    struct Parameters {
        let type: AssetType
        let width: Int
        let height: Int
        /// Samples of a pixel: 1 luminance, 3 RGB, 4 RGBA that is not premultiplied; a byte each.
        let channels: Int
        /// 0…100.
        let quality: Int
        let isChromaHalved: Bool
        let profile: Data?
    }

    private let raw: OpaquePointer
    private let library: HEIFLibrary
    private let codec: String
    private let bytesPerRow: Int

    /// Makes room for the pixels.
    init(_ parameters: Parameters, library: HEIFLibrary, codec: String) throws(ImageEncodingError) {
        // SAFETY: the encoder is this value's alone: ended here on failure, else in deinit. It copies the profile.
        let needed: CNukeHEIF_Codec = parameters.type == .avif ? .AV1 : .HEVC
        if let missing = library.lack(of: needed, for: .encoding) { throw .missingCodec(missing, codec: codec) }
        guard let table = unsafe library.table, let encoder = unsafe CNukeHEIF_createEncoder(table) else {
            throw .failed("no memory for libheif's state", codec: codec)
        }
        let profile = parameters.profile ?? Data()
        let status = unsafe profile.withUnsafeBytes { bytes in
            var options = unsafe CNukeHEIF_EncodingOptions(
                codec: needed, width: Int32(clamping: parameters.width), height: Int32(clamping: parameters.height),
                channelCount: Int32(parameters.channels), quality: Int32(parameters.quality),
                isChromaHalved: parameters.isChromaHalved ? 1 : 0,
                profile: bytes.assumingMemoryBound(to: UInt8.self).baseAddress, profileCount: bytes.count)
            return unsafe CNukeHEIF_start(encoder, &options)
        }
        if status != .OK {
            defer { unsafe CNukeHEIF_destroyEncoder(encoder) }
            throw unsafe Self.error(status, encoder, codec)
        }
        unsafe raw = encoder
        self.library = library
        self.codec = codec
        bytesPerRow = parameters.width * parameters.channels
    }

    deinit {
        // SAFETY: the encoder is this value's alone.
        unsafe CNukeHEIF_destroyEncoder(raw)
    }

    /// Calls `body` with the bytes of row `y`, to be written.
    func withRow(_ y: Int, _ body: (inout MutableRawSpan) -> Void) {
        // SAFETY: the encoder owns the row, which has as many bytes, until it is ended; self is borrowed meanwhile.
        guard let start = unsafe CNukeHEIF_encoderRow(raw, Int32(clamping: y)) else { return }
        var span = unsafe MutableRawSpan(_unsafeStart: UnsafeMutableRawPointer(start), byteCount: bytesPerRow)
        body(&span)
    }

    /// Encodes the picture and gives the file, with EXIF data that is a TIFF structure.
    consuming func finish(exif: Data?) throws(ImageEncodingError) -> Data {
        // SAFETY: the bytes handed over are malloc's and nobody else's; Data frees them. The library copies EXIF data.
        let encoder = unsafe raw
        let status = unsafe (exif ?? Data()).withUnsafeBytes { bytes in
            unsafe CNukeHEIF_finish(encoder, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
        }
        guard status == .OK else { throw unsafe Self.error(status, raw, codec) }
        var count = 0
        guard let bytes = unsafe CNukeHEIF_takeFile(raw, &count), count > 0 else {
            throw .failed("libheif wrote nothing", codec: codec)
        }
        return unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    private static func error(
        _ status: CNukeHEIF_Status, _ encoder: OpaquePointer, _ codec: String
    ) -> ImageEncodingError {
        // SAFETY: the message is a C string in the encoder, copied at once.
        let reason = unsafe String(cString: CNukeHEIF_encoderMessage(encoder))
        switch status {
        case .noCodec: return .missingCodec(reason, codec: codec)
        case .unsupported, .limitExceeded: return .unsupported(reason, codec: codec)
        case .OK, .corrupt, .truncated, .outOfMemory: return .failed(reason, codec: codec)
        }
    }
}
