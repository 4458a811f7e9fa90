internal import CNukePNG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One PNG being encoded into memory: owns libpng's writing state.
///
/// After a call that throws nothing more may be written.
@safe
struct PNGWriter: ~Copyable {
    /// What is stored of a picture.
    struct Layout {
        /// Columns.
        var width: Int
        /// Rows.
        var height: Int
        /// Samples of a pixel: 1 gray, 3 RGB, 4 RGBA.
        var channels: Int
        /// Bits of a sample: 8, or 16 with the high byte first.
        var bitDepth: Int
        /// Whether the picture is stored in the seven passes of Adam7.
        var isInterlaced: Bool

        /// Bytes of a row.
        var bytesPerRow: Int { width * channels * bitDepth / 8 }
    }

    /// zlib's second level, with the filters sub and up.
    ///
    /// Against level 6 with the same filters a photograph takes a quarter of the time at 4 % more bytes, text a third at
    /// 2 %, a drawing with alpha a third at 23 %; flat colour takes two thirds at three times the bytes, which are few (29
    /// against 8 KB for 1600×1200). All five filters take up to 1.8 times as long and change the bytes by -5 to +2 %.
    private static let compressionLevel: CInt = 2

    /// How often all rows are to be written.
    let passCount: Int

    private let raw: OpaquePointer

    /// Begins a file; a profile that libpng finds broken is left out.
    init(_ layout: Layout, profile: Data?, exif: Data?) throws(ImageEncodingError) {
        // SAFETY: the encoder is this value's alone: ended here on failure, else in deinit. It copies profile and EXIF data.
        let codec = ImageDecoders.PNG.codec
        if let defect = PNGLibrary.defect { throw .missingCodec(defect, codec: codec) }
        guard let width = UInt32(exactly: layout.width), let height = UInt32(exactly: layout.height) else {
            throw .unsupported("\(layout.width)x\(layout.height) pixels", codec: codec)
        }
        guard let encoder = unsafe CNukePNG_createEncoder() else {
            throw .failed("no memory for libpng's state", codec: codec)
        }
        let (profile, exif) = (profile ?? Data(), exif ?? Data())
        var passes: CInt = 1
        let status = unsafe profile.withUnsafeBytes { profile in
            unsafe exif.withUnsafeBytes { exif in
                var picture = unsafe CNukePNG_Picture(
                    width: width, height: height, bitDepth: CInt(layout.bitDepth), channels: CInt(layout.channels),
                    isInterlaced: layout.isInterlaced, compressionLevel: Self.compressionLevel,
                    profile: profile.assumingMemoryBound(to: UInt8.self).baseAddress,
                    profileCount: UInt32(clamping: profile.count),
                    exif: exif.assumingMemoryBound(to: UInt8.self).baseAddress, exifCount: exif.count)
                return unsafe CNukePNG_startPicture(encoder, &picture, &passes)
            }
        }
        if status != CNukePNG_ok {
            defer { unsafe CNukePNG_destroyEncoder(encoder) }
            throw unsafe Self.error(of: encoder)
        }
        passCount = Int(passes)
        unsafe raw = encoder
    }

    deinit {
        // SAFETY: the encoder is this value's alone.
        unsafe CNukePNG_destroyEncoder(raw)
    }

    /// Writes the next row.
    func writeRow(_ row: RawSpan) throws(ImageEncodingError) {
        // SAFETY: the C function reads at most as many bytes as it is told that there are.
        let status = unsafe row.withUnsafeBytes { bytes -> CNukePNG_Status in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                return CNukePNG_failed
            }
            return unsafe CNukePNG_writeRow(raw, start, bytes.count)
        }
        if status != CNukePNG_ok { throw unsafe Self.error(of: raw) }
    }

    /// Ends the file and gives its bytes.
    consuming func finish() throws(ImageEncodingError) -> Data {
        // SAFETY: the bytes handed over are malloc's and nobody else's; Data frees them.
        guard unsafe CNukePNG_finishPicture(raw) == CNukePNG_ok else { throw unsafe Self.error(of: raw) }
        var count = 0
        guard let bytes = unsafe CNukePNG_takeBytes(raw, &count) else { throw unsafe Self.error(of: raw) }
        return unsafe Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }

    private static func error(of encoder: OpaquePointer) -> ImageEncodingError {
        // SAFETY: the message is a C string in the encoder, copied at once.
        .failed(unsafe String(cString: CNukePNG_encoderMessage(encoder)), codec: ImageDecoders.PNG.codec)
    }
}
