internal import CNukeJPEG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One encode: owns the library's encoder.
///
/// Calls come in order: `start`, `writeRows` until all rows are given, `finish`.
@safe
struct JPEGCompressor: ~Copyable {
    /// What to write, and how.
    struct Parameters {
        let width: Int
        let height: Int
        /// Rows of one byte a pixel, else of four, of which the last is ignored.
        let isGray: Bool
        /// 1…100.
        let quality: Int
        let isChromaHalved: Bool
        let isProgressive: Bool
        let iccProfile: Data?
        /// A TIFF structure, without the header that goes before it.
        let exif: Data?
    }

    private let encoder: OpaquePointer

    init() throws(ImageEncodingError) {
        // SAFETY: the pointer is owned by this value from here on and not handed out.
        guard JPEGLibrary.version != nil else { throw .missingCodec(JPEGLibrary.remedy, codec: JPEGSession.codec) }
        guard let encoder = unsafe CNukeJPEG_encoderCreate() else {
            throw .failed("no memory for an encoder", codec: JPEGSession.codec)
        }
        unsafe self.encoder = encoder
    }

    deinit {
        // SAFETY: created in init, destroyed nowhere else.
        unsafe CNukeJPEG_encoderDestroy(encoder)
    }

    func start(_ parameters: Parameters) throws(ImageEncodingError) {
        // SAFETY: the shim writes profile and EXIF data during the call and keeps no pointer to them.
        let (profile, exif) = (parameters.iccProfile ?? Data(), parameters.exif ?? Data())
        let status = unsafe profile.withUnsafeBytes { profile in
            unsafe exif.withUnsafeBytes { exif in
                var options = unsafe CNukeJPEG_EncodingOptions(
                    width: Int32(clamping: parameters.width), height: Int32(clamping: parameters.height),
                    isGray: parameters.isGray ? 1 : 0, quality: Int32(parameters.quality),
                    isChromaHalved: parameters.isChromaHalved ? 1 : 0, isProgressive: parameters.isProgressive ? 1 : 0,
                    iccProfile: profile.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    iccProfileCount: profile.count,
                    exif: exif.baseAddress?.assumingMemoryBound(to: UInt8.self), exifCount: exif.count)
                return unsafe CNukeJPEG_encoderStart(encoder, &options)
            }
        }
        try check(status)
    }

    /// Takes the next rows, all that the span holds.
    func writeRows(_ rows: RawSpan, bytesPerRow: Int) throws(ImageEncodingError) {
        // SAFETY: the span holds as many whole rows as are given; the shim checks a row's length.
        let status = unsafe rows.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return CNukeJPEG_Status.ok }
            let count = Int32(bytes.count / bytesPerRow)
            return unsafe CNukeJPEG_encoderWriteRows(
                encoder, start.assumingMemoryBound(to: UInt8.self), bytesPerRow, count)
        }
        try check(status)
    }

    /// Writes what is left and returns the file.
    func finish() throws(ImageEncodingError) -> Data {
        // SAFETY: the bytes stay until the encoder is destroyed, and are copied before.
        try check(unsafe CNukeJPEG_encoderFinish(encoder))
        var count = 0
        guard let bytes = unsafe CNukeJPEG_encoderBytes(encoder, &count) else {
            throw .failed("the library wrote nothing", codec: JPEGSession.codec)
        }
        return unsafe Data(bytes: bytes, count: count)
    }

    private func check(_ status: CNukeJPEG_Status) throws(ImageEncodingError) {
        // SAFETY: the message is a C string that lives as long as the encoder.
        let error = ImageEncodingError(status, message: unsafe String(cString: CNukeJPEG_encoderMessage(encoder)))
        if let error { throw error }
    }
}

extension ImageEncodingError {
    /// The error that a status stands for; nil if it is none.
    fileprivate init?(_ status: CNukeJPEG_Status, message: @autoclosure () -> String) {
        switch status {
        case .ok: return nil
        case .unsupported, .limitExceeded: self = .unsupported(message(), codec: JPEGSession.codec)
        case .unavailable: self = .missingCodec(JPEGLibrary.remedy, codec: JPEGSession.codec)
        case .needsInput, .truncated, .corrupt, .outOfMemory: self = .failed(message(), codec: JPEGSession.codec)
        }
    }
}
