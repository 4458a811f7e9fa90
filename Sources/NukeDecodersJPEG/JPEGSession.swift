internal import CNukeJPEG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One decode: owns the library's decoder and the data that it reads.
///
/// Calls come in order: `readHeader`, `start`, then, if there are several scans, `consume` until it says that there are
/// no more and `startPass`, and `readRows`. After an error every call throws it again.
@safe
struct JPEGSession: ~Copyable {
    /// The name in errors.
    static let codec = "JPEG"

    /// Marker segments a file may have, tables included: more than any real file, and read in milliseconds.
    private static let segmentLimit: Int32 = 20_000

    private let decoder: OpaquePointer
    private let data: Data

    /// Creates a decoder of complete data.
    init(_ data: Data, limits: ImageLimits) throws(ImageDecodingError) {
        // SAFETY: the pointer is owned by this value from here on and not handed out.
        guard JPEGLibrary.version != nil else { throw .missingCodec(JPEGLibrary.remedy, codec: Self.codec) }
        let limits = CNukeJPEG_Limits(
            scanCount: Int32(clamping: limits.scanCount), segmentCount: Self.segmentLimit,
            metadataBytes: max(0, limits.metadataBytes), memoryBytes: max(1, limits.workingSetBytes))
        guard let decoder = unsafe CNukeJPEG_decoderCreate(limits) else {
            throw .outOfMemory("no memory for a decoder", codec: Self.codec)
        }
        unsafe self.decoder = decoder
        self.data = data
    }

    deinit {
        // SAFETY: created in init, destroyed nowhere else.
        unsafe CNukeJPEG_decoderDestroy(decoder)
    }

    /// Reads up to the first scan.
    func readHeader() throws(ImageDecodingError) -> JPEGHeader {
        // SAFETY: the header outlives the call that fills it.
        var header = CNukeJPEG_Header()
        try unsafe call { unsafe CNukeJPEG_decoderReadHeader($0, $1, &header) }
        let chunks = (0..<header.iccChunkCount).map { index in
            content(unsafe CNukeJPEG_decoderICCChunk(decoder, index))
        }
        let model: ImageProperties.ColorModel? =
            switch header.colorModel {
            case .gray: .gray
            case .RGB: .rgb
            case .CMYK: .cmyk
            case .unknown: nil
            }
        return JPEGHeader(
            width: Int(header.width), height: Int(header.height), bitDepth: Int(header.bitDepth), colorModel: model,
            isProgressive: header.isProgressive != 0, hasMultipleScans: header.hasMultipleScans != 0,
            coefficientBytes: Int(clamping: header.coefficientBytes),
            orientation: EXIFOrientation.read(from: content(header.exif).bytes),
            iccProfile: ICCProfileChain.profile(of: chunks))
    }

    /// Begins to decode at 1/denominator of the size and says what size that is.
    func start(denominator: Int) throws(ImageDecodingError) -> (width: Int, height: Int) {
        // SAFETY: both integers outlive the call that fills them.
        var (width, height): (Int32, Int32) = (0, 0)
        try unsafe call { unsafe CNukeJPEG_decoderStart($0, $1, Int32(denominator), &width, &height) }
        return (Int(width), Int(height))
    }

    /// Takes in that many rows of blocks and says whether there are no more.
    func consume(steps: Int) throws(ImageDecodingError) -> Bool {
        // SAFETY: the integer outlives the call that fills it.
        var isFinished: Int32 = 0
        try unsafe call { unsafe CNukeJPEG_decoderConsume($0, $1, Int32(steps), &isFinished) }
        return isFinished != 0
    }

    /// Begins to show what has been taken in.
    func startPass() throws(ImageDecodingError) {
        // SAFETY: see call.
        try unsafe call { unsafe CNukeJPEG_decoderStartPass($0, $1) }
    }

    /// Writes the next rows, at most `count`, to `rows` from `offset` on, and says how many there were.
    func readRows(
        into rows: inout MutableRawSpan, at offset: Int, bytesPerRow: Int, count: Int
    ) throws(ImageDecodingError) -> Int {
        precondition(offset >= 0 && count >= 0 && offset + count * bytesPerRow <= rows.byteCount, "rows out of bounds")
        // SAFETY: `count` rows of `bytesPerRow` bytes lie within the span; the shim checks a row's length.
        var read: Int32 = 0
        try unsafe rows.withUnsafeMutableBytes { bytes throws(ImageDecodingError) in
            guard let start = bytes.baseAddress else { return }
            let target = unsafe start.assumingMemoryBound(to: UInt8.self) + offset
            try unsafe call { unsafe CNukeJPEG_decoderReadRows($0, $1, target, bytesPerRow, Int32(count), &read) }
        }
        return Int(read)
    }

    /// A part of the data that the shim found.
    private func content(_ range: CNukeJPEG_Range) -> Data {
        guard range.count > 0, range.offset + range.count <= data.count else { return Data() }
        let start = data.startIndex + range.offset
        return data[start..<start + range.count]
    }

    private func call(
        _ body: (OpaquePointer, CNukeJPEG_Input) -> CNukeJPEG_Status
    ) throws(ImageDecodingError) {
        // SAFETY: the shim reads `count` bytes from `bytes` on and keeps no pointer; its message is a C string.
        let status = unsafe data.bytes.withUnsafeBytes { bytes in
            let input = unsafe CNukeJPEG_Input(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count, isComplete: 1)
            return unsafe body(decoder, input)
        }
        let error = ImageDecodingError(status, message: unsafe String(cString: CNukeJPEG_decoderMessage(decoder)))
        if let error { throw error }
    }
}

/// The C library behind the shim, where this was built with it.
enum JPEGLibrary {
    /// The version, such as "2.1.5"; nil without the library.
    static var version: String? {
        // SAFETY: the text is a constant.
        let text = unsafe String(cString: CNukeJPEG_version())
        return CNukeJPEG_isAvailable() == 0 ? nil : text
    }

    /// What to tell people who lack the library.
    static var remedy: String {
        let package = HostDistribution.package(debian: "libjpeg62-turbo-dev", ubuntu: "libjpeg-turbo8-dev")
        return "this program was built without libjpeg-turbo; install \(package) and build it again"
    }
}

extension ImageDecodingError {
    /// The error that a status stands for; nil if it is none.
    fileprivate init?(_ status: CNukeJPEG_Status, message: @autoclosure () -> String) {
        switch status {
        case .ok: return nil
        case .needsInput, .truncated: self = .truncated(message(), codec: JPEGSession.codec)
        case .corrupt: self = .corruptData(message(), codec: JPEGSession.codec)
        case .unsupported: self = .unsupported(message(), codec: JPEGSession.codec)
        case .limitExceeded: self = .limitExceeded(message(), codec: JPEGSession.codec)
        case .outOfMemory: self = .outOfMemory(message(), codec: JPEGSession.codec)
        case .unavailable: self = .missingCodec(JPEGLibrary.remedy, codec: JPEGSession.codec)
        }
    }
}
