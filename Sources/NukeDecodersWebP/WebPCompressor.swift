internal import CNukeWebP
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One encode: owns the library's encoder and the rows that it was given.
///
/// Calls come in order: `setRow` for every row, then `encode`.
@safe
struct WebPCompressor: ~Copyable {
    /// How to encode.
    enum Method {
        /// Without loss.
        case lossless
        /// With a quality of 0…100, and with chroma made with more care or not.
        case lossy(quality: Float, isChromaSharp: Bool)
    }

    /// The library's preset for pictures without loss.
    private static let effort: CInt = 3
    /// Pixels of a side at most, as 14 bits hold (RFC 9649, 2.5).
    private static let maximumSide = 16_383

    private let encoder: OpaquePointer
    private let width: Int

    init(width: Int, height: Int) throws(ImageEncodingError) {
        // SAFETY: the pointer is owned by this value from here on and not handed out.
        let codec = ImageDecoders.WebP.codec
        guard WebPLibrary.version != nil else { throw .missingCodec(WebPLibrary.remedy, codec: codec) }
        guard width <= Self.maximumSide, height <= Self.maximumSide else {
            throw .unsupported("\(width)x\(height) pixels; a side may have \(Self.maximumSide)", codec: codec)
        }
        guard let encoder = unsafe CNukeWebP_createEncoder(CInt(width), CInt(height)) else {
            throw .failed("no memory for an encoder", codec: codec)
        }
        unsafe self.encoder = encoder
        self.width = width
    }

    deinit {
        // SAFETY: created in init, destroyed nowhere else.
        unsafe CNukeWebP_destroyEncoder(encoder)
    }

    /// Takes a row of premultiplied RGBA8; with `isOpaque` alpha does not count.
    func setRow(_ y: Int, _ row: RawSpan, isOpaque: Bool) {
        precondition(row.byteCount >= width * PixelFormat.rgba8.bytesPerPixel, "the row is too short")
        // SAFETY: the shim reads `width` pixels, which are there, and copies them.
        unsafe row.withUnsafeBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            unsafe CNukeWebP_setRow(encoder, CInt(y), start, isOpaque)
        }
    }

    /// The file as the library writes it: a picture without metadata.
    func encode(_ method: Method) throws(ImageEncodingError) -> Data {
        // SAFETY: the bytes stay until the encoder is destroyed, and are copied before.
        var options = CNukeWebP_EncodingOptions(isLossless: true, effort: Self.effort, quality: 0, isChromaSharp: false)
        if case .lossy(let quality, let isChromaSharp) = method {
            (options.isLossless, options.quality, options.isChromaSharp) = (false, quality, isChromaSharp)
        }
        let codec = ImageDecoders.WebP.codec
        let status = unsafe CNukeWebP_encode(encoder, options)
        switch status {
        case CNukeWebP_ok: break
        case CNukeWebP_unavailable: throw .missingCodec(WebPLibrary.remedy, codec: codec)
        case CNukeWebP_outOfMemory: throw .failed("no memory to encode", codec: codec)
        case CNukeWebP_unsupported: throw .unsupported("the picture does not fit into the format", codec: codec)
        default:
            let number = unsafe CNukeWebP_encoderError(encoder)
            throw .failed("the library gave up with its error \(number)", codec: codec)
        }
        var count = 0
        guard let bytes = unsafe CNukeWebP_bytes(encoder, &count) else {
            throw .failed("the library wrote nothing", codec: codec)
        }
        return unsafe Data(bytes: bytes, count: count)
    }
}
