internal import CNukeJPEG
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One decode: owns the library's decoder and, from one `take` to the next, the data that it reads.
///
/// Calls come in order: `take`, `readHeader`, `start`, then, if there are several scans, `consume` until it says that
/// there are no more and `startPass`, and `readRows`. Previews are passes before that. Where the data ends before it is
/// complete, a call says that it waits, and is made again once there is more. After an error every call throws it again.
@safe
struct JPEGSession: ~Copyable {
    /// The name in errors.
    static let codec = "JPEG"

    /// How far the scans have been taken in.
    struct Progress {
        /// Whether there are no more.
        var isFinished = false
        /// Whether more data is needed to go on.
        var isWaiting = false
        /// The last scan that can be shown; 0: none.
        var showableScan = 0
    }

    /// Marker segments a file may have, tables included: more than any real file, and read in milliseconds.
    private static let segmentLimit: Int32 = 20_000

    private let decoder: OpaquePointer
    private var data = Data()
    private var isComplete = false

    init(_ context: ImageDecodingContext) throws(ImageDecodingError) {
        // SAFETY: the pointer is owned by this value from here on and not handed out.
        guard JPEGLibrary.version != nil else { throw .missingCodec(JPEGLibrary.remedy, codec: Self.codec) }
        let limits = CNukeJPEG_Limits(
            scanCount: Int32(clamping: context.limits.scanCount), segmentCount: Self.segmentLimit,
            metadataBytes: max(0, context.limits.metadataBytes), memoryBytes: max(1, context.limits.workingSetBytes),
            isLenient: context.truncationPolicy == .lenient ? 1 : 0)
        guard let decoder = unsafe CNukeJPEG_decoderCreate(limits) else {
            throw .outOfMemory("no memory for a decoder", codec: Self.codec)
        }
        unsafe self.decoder = decoder
    }

    deinit {
        // SAFETY: created in init, destroyed nowhere else.
        unsafe CNukeJPEG_decoderDestroy(decoder)
    }

    /// Gives the session all data from the first byte on: what it was given before, wherever that lies now, and more.
    mutating func take(_ data: Data, isComplete: Bool) {
        self.data = data
        self.isComplete = isComplete
    }

    /// Whether data was found to be lacking, where the policy lets that pass.
    var isTruncated: Bool {
        // SAFETY: the decoder lives as long as self.
        unsafe CNukeJPEG_decoderIsTruncated(decoder) != 0
    }

    /// Reads up to the first scan; nil if that is not there yet.
    func readHeader() throws(ImageDecodingError) -> JPEGHeader? {
        // SAFETY: the header outlives the call that fills it.
        var header = CNukeJPEG_Header()
        guard try unsafe call({ unsafe CNukeJPEG_decoderReadHeader($0, $1, &header) }) else { return nil }
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
        let exif = content(header.exif)
        let thumbnail = EXIFThumbnail.range(in: exif.bytes).map { range in
            header.exif.offset + range.lowerBound..<header.exif.offset + range.upperBound
        }
        return JPEGHeader(
            width: Int(header.width), height: Int(header.height), bitDepth: Int(header.bitDepth), colorModel: model,
            isProgressive: header.isProgressive != 0, hasMultipleScans: header.hasMultipleScans != 0,
            coefficientBytes: Int(clamping: header.coefficientBytes),
            orientation: EXIFOrientation.read(from: exif.bytes), iccProfile: ICCProfileChain.profile(of: chunks),
            density: density(header) ?? EXIFDensity.read(from: exif.bytes),
            exif: header.exif.offset..<header.exif.offset + exif.count, thumbnail: thumbnail)
    }

    private func density(_ header: CNukeJPEG_Header) -> ImageProperties.Density? {
        let perUnit: Double
        switch header.densityUnit {
        case .none: return nil
        case .inch: perUnit = 1
        case .centimetre: perUnit = 2.54
        }
        return ImageProperties.Density(x: Double(header.densityX) * perUnit, y: Double(header.densityY) * perUnit)
    }

    /// Begins to decode at 1/denominator of the size and says what size that is.
    func start(denominator: Int) throws(ImageDecodingError) -> (width: Int, height: Int) {
        // SAFETY: both integers outlive the call that fills them.
        var (width, height): (Int32, Int32) = (0, 0)
        try unsafe complete { unsafe CNukeJPEG_decoderStart($0, $1, Int32(denominator), &width, &height) }
        return (Int(width), Int(height))
    }

    /// Leaves CMYK as it is stored, four samples a pixel, in all rows to come.
    func keepCMYK() {
        // SAFETY: the decoder lives as long as self.
        unsafe CNukeJPEG_decoderKeepCMYK(decoder)
    }

    /// Takes in that many rows of blocks.
    func consume(steps: Int) throws(ImageDecodingError) -> Progress {
        // SAFETY: the progress outlives the call that fills it.
        var progress = CNukeJPEG_Progress()
        let isDone = try unsafe call { unsafe CNukeJPEG_decoderConsume($0, $1, Int32(steps), &progress) }
        return Progress(
            isFinished: progress.isFinished != 0, isWaiting: !isDone, showableScan: Int(progress.showableScan))
    }

    /// Begins to show what has been taken in, up to a scan that can be shown; nil: all of it, once there are no more.
    func startPass(scan: Int?) throws(ImageDecodingError) {
        // SAFETY: see call.
        try unsafe complete { unsafe CNukeJPEG_decoderStartPass($0, $1, Int32(scan ?? 0)) }
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
            try unsafe complete { unsafe CNukeJPEG_decoderReadRows($0, $1, target, bytesPerRow, Int32(count), &read) }
        }
        return Int(read)
    }

    /// A part of the data that the shim found.
    private func content(_ range: CNukeJPEG_Range) -> Data {
        guard range.count > 0, range.offset + range.count <= data.count else { return Data() }
        let start = data.startIndex + range.offset
        return data[start..<start + range.count]
    }

    /// Makes a call that can't wait: what it needs was taken in before, or the data is complete.
    private func complete(_ body: (OpaquePointer, CNukeJPEG_Input) -> CNukeJPEG_Status) throws(ImageDecodingError) {
        // SAFETY: see call.
        guard try unsafe call(body) else { throw .truncated("the data ends too early", codec: Self.codec) }
    }

    /// Makes a call and says whether it is done; false: more data is needed.
    private func call(
        _ body: (OpaquePointer, CNukeJPEG_Input) -> CNukeJPEG_Status
    ) throws(ImageDecodingError) -> Bool {
        // SAFETY: the shim reads `count` bytes from `bytes` on and keeps no pointer; its message is a C string.
        let status = unsafe data.bytes.withUnsafeBytes { bytes in
            let input = unsafe CNukeJPEG_Input(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count: bytes.count,
                isComplete: isComplete ? 1 : 0)
            return unsafe body(decoder, input)
        }
        if status == .needsInput { return false }
        let error = ImageDecodingError(status, message: unsafe String(cString: CNukeJPEG_decoderMessage(decoder)))
        if let error { throw error }
        return true
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
