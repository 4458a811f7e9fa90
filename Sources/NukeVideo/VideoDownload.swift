internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a decoder knows of a download under way: what has come, and when to look again.
struct VideoDownload {
    /// Bytes before which there is no use in trying.
    private var awaited = 0
    /// How many bytes had come from the first on when ranges were asked for; nil: none were.
    private var arrived: Int?
    private var ranges: [Range<Int>] = []

    /// How much more than is needed is asked for with one range: an index of some minutes, a large picture.
    private static let rangeByteCount = 512 << 10
    /// What comes within so many bytes is waited for.
    private static let patience = 1 << 20

    /// The data as far as it has come.
    func source(_ data: Data, _ context: ImageDecodingContext) -> VideoSource {
        if context.isCompleted { return VideoSource(data) }
        return VideoSource(
            data, size: Self.size(data, context), arrived: arrived ?? data.count, ranges: ranges)
    }

    private static func size(_ data: Data, _ context: ImageDecodingContext) -> Int {
        max(data.count, Int(clamping: context.dataResponse?.expectedContentLength ?? 0))
    }

    /// Whether the index of the file can be read: not while it has not come, and not from bytes with gaps.
    func isReadable(_ data: Data, _ type: AssetType, _ context: ImageDecodingContext) -> Bool {
        if context.isCompleted { return true }
        guard arrived == nil else { return false }
        guard data.count < Self.size(data, context), VideoSniffer.container(of: type) == .isoMedia else { return true }
        return data.count >= awaited && VideoSniffer.index(in: source(data, context)) == .there
    }

    /// Whether it may be that all that the poster needs is there.
    mutating func isWorthTrying(_ data: Data, _ type: AssetType, _ context: ImageDecodingContext) throws -> Bool {
        // Once it was asked for a range, that is all that the data has more.
        guard arrived != nil || data.count >= awaited else { return false }
        guard VideoSniffer.container(of: type) == .isoMedia else { return true }
        let source = source(data, context)
        switch VideoSniffer.index(in: source) {
        case .there: return true
        case .unknown: return false
        case .ends(let end, let reach):
            if arrived == nil, end <= data.count + Self.patience {
                awaited = end
                return false
            }
            throw needsRange(from: reach, to: end + Self.rangeByteCount / 8, source)
        case .behind(let place): throw needsRange(from: place, to: place + Self.rangeByteCount, source)
        }
    }

    /// Notes what was lacking: waits for it or, where that would take long, asks for it.
    mutating func note(_ missing: VideoReader.Missing, _ source: VideoSource) throws {
        if arrived == nil, missing.offset <= source.arrived + Self.patience {
            awaited = max(missing.offset, source.arrived) + max(8 << 10, source.arrived / 4)
            return
        }
        throw needsRange(from: missing.offset, to: missing.offset + Self.rangeByteCount, source)
    }

    private mutating func needsRange(from start: Int, to end: Int, _ source: VideoSource) -> ImageDecodingError {
        let range = start..<max(start + 1, min(end, source.size))
        if arrived == nil { arrived = source.arrived }
        ranges.append(range)
        return .needsRange(range, codec: ImageDecoders.Video.codec)
    }
}
