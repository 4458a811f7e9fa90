internal import CNukeVideo
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One video stream being read: owns libav's state.
///
/// Bytes are handed in with each call, so nothing of them is kept in between.
// SAFETY: used by one thread at a time: by a decoder, whose calls never overlap, or under the lock of what owns it.
@safe
final class VideoReader: @unchecked Sendable {
    /// What is to be read of a file.
    struct Choice {
        var container: VideoSniffer.Container
        /// Pixels that a picture may have.
        var pixelCount: Int
        /// Which stream, counted from 0; nil: the one that is the video.
        var stream: Int?
        /// What of a coded picture is shown, from the top left; nil: all.
        var crop: (width: Int, height: Int)?
        /// Whether pictures are decoded whose data ends too early.
        var takesCutPictures = false
    }

    /// Answers whether the work is over, for C.
    private final class Guard {
        var watch: DecodingWatch
        init(_ watch: DecodingWatch) { self.watch = watch }
    }

    private let raw: OpaquePointer
    private let end: Guard
    private let codec: String
    /// What the container tells of the stream.
    private(set) var track: VideoTrack

    /// Whose cancellation and time count from now on.
    var watch: DecodingWatch {
        get { end.watch }
        set { end.watch = newValue }
    }

    /// Reads what stands before the pictures.
    ///
    /// Throws `VideoReader.Missing` where bytes are lacking that have not come yet, else an `ImageDecodingError`.
    init(
        _ source: VideoSource, _ choice: Choice, library: VideoLibrary, watch: DecodingWatch, codec: String
    ) throws {
        // SAFETY: the reader is this object's alone, destroyed in deinit or, on failure, here; `end` outlives it.
        if let defect = library.defect { throw ImageDecodingError.missingCodec(defect, codec: codec) }
        let end = Guard(watch)
        let isOver: @convention(c) (UnsafeMutableRawPointer) -> Bool = { context in
            let end = unsafe Unmanaged<Guard>.fromOpaque(context).takeUnretainedValue()
            do {
                try end.watch.check()
                return false
            } catch {
                return true
            }
        }
        let context = unsafe Unmanaged.passUnretained(end).toOpaque()
        guard let table = unsafe library.table, let reader = unsafe CNukeVideo_createReader(table, isOver, context)
        else {
            throw ImageDecodingError.outOfMemory("no memory for libav's state", codec: codec)
        }
        var wanted = CNukeVideo_Choice(
            container: choice.container == .matroska ? .matroska : .isoMedia, pixelCount: Int64(choice.pixelCount),
            stream: Int32(clamping: choice.stream ?? -1), cropWidth: Int32(clamping: choice.crop?.width ?? 0),
            cropHeight: Int32(clamping: choice.crop?.height ?? 0), takesCutPictures: choice.takesCutPictures)
        var description = unsafe CNukeVideo_Description()
        let status = unsafe source.withInput { unsafe CNukeVideo_open(reader, $0, &wanted, &description) }
        guard status == .OK else {
            defer { unsafe CNukeVideo_destroyReader(reader) }
            throw unsafe Self.error(status, reader, watch, codec, limit: choice.pixelCount)
        }
        unsafe raw = reader
        self.end = end
        self.codec = codec
        track = unsafe VideoTrack(description)
    }

    deinit {
        // SAFETY: nobody has the pointer who does not hold this object.
        unsafe CNukeVideo_destroyReader(raw)
    }

    /// Goes to the last picture at or before a time that can be decoded without others.
    func seek(to seconds: Double, in source: VideoSource) throws {
        // SAFETY: the reader lives as long as self.
        try check(unsafe source.withInput { unsafe CNukeVideo_seek(raw, $0, seconds) })
    }

    /// Goes to before the first picture without trusting what the file says of them.
    func restart(in source: VideoSource) throws {
        // SAFETY: the reader lives as long as self.
        try check(unsafe source.withInput { unsafe CNukeVideo_restart(raw, $0) })
    }

    /// Decodes the next picture; nil if there are no more, whereupon the one before is still there to be copied.
    ///
    /// - Parameter isLast: Whether no other will be read, but after `seek`: this one then comes sooner.
    func next(in source: VideoSource, isLast: Bool = false) throws -> VideoFrame? {
        // SAFETY: the reader lives as long as self, the struct as long as the call.
        var frame = CNukeVideo_Frame()
        let status = unsafe source.withInput { unsafe CNukeVideo_readFrame(raw, $0, isLast, &frame) }
        if status == .end { return nil }
        try check(status)
        return VideoFrame(frame)
    }

    /// The picture that was decoded last, scaled and turned: `width` and `height` are those of the upright one.
    ///
    /// - Parameter alpha: The reader whose picture holds the alpha; nil: the picture is opaque.
    func pixels(
        width: Int, height: Int, orientation: ImageOrientation, alpha: VideoReader? = nil
    ) throws(ImageDecodingError) -> PixelBuffer {
        // SAFETY: libswscale writes up to 64 bytes behind a row: none where a row is of whole vectors, else there is room.
        guard var buffer = PixelBuffer(width: width, height: height) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: codec)
        }
        if orientation == .up, width % 16 == 0 {
            let rowBytes = buffer.bytesPerRow
            let status = buffer.withBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    unsafe copy(width, height, alpha, to: bytes.baseAddress, rowBytes)
                }
            }
            try check(copying: status)
            return buffer
        }
        let (columns, rows) = orientation.swapsSides ? (height, width) : (width, height)
        let rowBytes = (columns * 4 + 127) & ~63
        guard let copy = PixelBuffer(width: rowBytes / 4, height: rows + 1) else {
            throw .outOfMemory("no memory for \(width)x\(height) pixels", codec: codec)
        }
        try turn(copy, columns, rows, orientation, alpha, into: &buffer)
        return buffer
    }

    private func turn(
        _ scratch: consuming PixelBuffer, _ columns: Int, _ rows: Int, _ orientation: ImageOrientation,
        _ alpha: VideoReader?, into buffer: inout PixelBuffer
    ) throws(ImageDecodingError) {
        // SAFETY: the scratch rows are 64 bytes longer than what they hold, and there is one more of them.
        let rowBytes = scratch.bytesPerRow
        let status = scratch.withBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe copy(columns, rows, alpha, to: bytes.baseAddress, rowBytes)
            }
        }
        try check(copying: status)
        for y in 0..<rows {
            scratch.withRow(y) { row in
                buffer.writeStoredRow(row.bytes.extracting(0..<columns * 4), at: y, orientation: orientation)
            }
            try end.watch.check(row: y)
        }
    }

    private func copy(
        _ width: Int, _ height: Int, _ alpha: VideoReader?, to target: UnsafeMutableRawPointer?, _ rowBytes: Int
    ) -> CNukeVideo_Status {
        // SAFETY: the caller's rows are as long as it says, and so many.
        guard let target = unsafe target else { return .outOfMemory }
        return unsafe CNukeVideo_copyPixels(
            raw, alpha?.raw, Int32(clamping: width), Int32(clamping: height),
            target.assumingMemoryBound(to: UInt8.self), rowBytes)
    }

    private func check(_ status: CNukeVideo_Status) throws {
        // SAFETY: the reader lives as long as self.
        if status != .OK { throw unsafe Self.error(status, raw, end.watch, codec, limit: nil) }
    }

    private func check(copying status: CNukeVideo_Status) throws(ImageDecodingError) {
        switch status {
        case .OK: try end.watch.check()
        case .outOfMemory: throw .outOfMemory("no memory to scale a picture", codec: codec)
        default: throw .unsupported("libswscale does not take how the pictures are stored", codec: codec)
        }
    }

    /// The first byte that is lacking, as it has not come yet.
    struct Missing: Error {
        let offset: Int
    }

    private static func error(
        _ status: CNukeVideo_Status, _ reader: OpaquePointer, _ watch: DecodingWatch, _ codec: String, limit: Int?
    ) -> any Error {
        // SAFETY: the message is a C string in the reader, copied at once.
        let words = unsafe String(cString: CNukeVideo_message(reader))
        switch status {
        case .missing: return unsafe Missing(offset: Int(CNukeVideo_missingOffset(reader)))
        case .interrupted:
            do { try watch.check() } catch { return error }
            return ImageDecodingError.cancelled
        case .truncated: return ImageDecodingError.truncated("the data ends before a picture does", codec: codec)
        case .noVideo: return ImageDecodingError.unsupported("there is no video in it", codec: codec)
        case .noDecoder: return ImageDecodingError.unsupported("libavcodec has no decoder for \(words)", codec: codec)
        case .limitExceeded:
            return ImageDecodingError.limitExceeded("a picture may have \(limit ?? 0) pixels", codec: codec)
        case .outOfMemory: return ImageDecodingError.outOfMemory("libav has no memory", codec: codec)
        case .unsupported: return ImageDecodingError.unsupported(words, codec: codec)
        case .OK, .end, .corrupt: return ImageDecodingError.corruptData(words, codec: codec)
        }
    }
}

extension VideoSource {
    /// Calls `body` with what C reads from.
    fileprivate func withInput(_ body: (UnsafePointer<CNukeVideo_Input>) -> CNukeVideo_Status) -> CNukeVideo_Status {
        // SAFETY: bytes and ranges outlive the call, and their counts are told.
        let ranges = ranges.map { CNukeVideo_Range(start: Int64($0.lowerBound), end: Int64($0.upperBound)) }
        return unsafe ranges.withUnsafeBufferPointer { ranges in
            switch origin {
            case .file(let file):
                var input = unsafe CNukeVideo_Input(
                    bytes: nil, count: 0, size: Int64(size), arrived: 0, ranges: nil, rangeCount: 0,
                    file: file.descriptor)
                return unsafe body(&input)
            case .data(let data):
                return unsafe data.withUnsafeBytes { bytes in
                    guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                        return .truncated
                    }
                    var input = unsafe CNukeVideo_Input(
                        bytes: start, count: bytes.count, size: Int64(size), arrived: Int64(arrived),
                        ranges: ranges.baseAddress, rangeCount: ranges.count, file: -1)
                    return unsafe body(&input)
                }
            }
        }
    }
}

extension VideoTrack {
    fileprivate init(_ description: CNukeVideo_Description) {
        // SAFETY: the name is the library's own text; the tuple has nine numbers.
        let matrix = unsafe description.matrix
        unsafe self.init(
            codedWidth: Int(description.width), codedHeight: Int(description.height),
            duration: description.duration > 0 ? description.duration : nil,
            frameRate: description.frameRate > 0 ? description.frameRate : nil,
            aspect: (Int(description.aspectNumerator), Int(description.aspectDenominator)),
            orientation: description.hasMatrix
                ? VideoTrack.orientation(a: matrix.0, b: matrix.1, c: matrix.3, d: matrix.4) : .up,
            isPicture: description.isPicture, hasAudio: description.hasAudio,
            codec: description.codec.map { unsafe String(cString: $0) } ?? "")
    }
}

extension VideoFrame {
    fileprivate init(_ frame: CNukeVideo_Frame) {
        self.init(
            time: frame.time, duration: frame.duration, width: Int(frame.width), height: Int(frame.height),
            isDamaged: frame.isDamaged, isInterlaced: frame.isInterlaced, primaries: Int(frame.primaries),
            transfer: Int(frame.transfer), aspect: (Int(frame.aspectNumerator), Int(frame.aspectDenominator)))
    }
}
