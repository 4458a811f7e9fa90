internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The pictures of a sequence, decoded on demand.
// SAFETY: the core's calls never overlap; see `ImageFrameDecoding`.
final class SequenceFrames: ImageFrameDecoding, @unchecked Sendable {
    private let source: VideoSource
    private let limits: ImageLimits
    private let color: Pictures
    private let alpha: Pictures?
    private let orientation: ImageOrientation

    let compressedData: Data?

    /// Two pictures that others are made from, for each track.
    var canvasByteCount: Int { size.width * size.height * (alpha == nil ? 3 : 6) }

    /// Columns and rows of the upright pictures.
    let size: (width: Int, height: Int)

    /// One track being decoded.
    private final class Pictures {
        let reader: VideoReader
        /// When each picture begins, in seconds.
        let starts: [Double]
        var frame: VideoFrame?
        /// Which picture the reader has decoded last.
        var current = -1

        init(
            _ track: SequenceTracks.Track, _ source: VideoSource, _ limits: ImageLimits, _ library: VideoLibrary,
            _ watch: DecodingWatch
        ) throws {
            let crop = track.width > 0 && track.height > 0 ? (track.width, track.height) : nil
            let choice = VideoReader.Choice(
                container: .isoMedia, pixelCount: limits.pixelCount, stream: track.index, crop: crop)
            reader = try VideoReader(
                source, choice, library: library, watch: watch, codec: ImageDecoders.HEIFSequence.codec)
            var start = 0.0
            starts = track.durations.map { duration in
                defer { start += duration }
                return start
            }
        }

        /// Decodes up to a picture; one whose time is not found is the last before it.
        func go(to index: Int, in source: VideoSource) throws {
            if index == current { return }
            if index < current || index > current + 16 { try reader.seek(to: starts[index], in: source) }
            if index < current { current = -1 }
            while let next = try reader.next(in: source) {
                frame = next
                current = self.index(at: next.time)
                if current >= index { return }
            }
            // Fewer pictures than are told of: the last one stays.
            current = index
        }

        /// The picture that is shown at a time.
        private func index(at time: Double) -> Int {
            var (low, high) = (0, starts.count)
            while low + 1 < high {
                let middle = (low + high) / 2
                if starts[middle] <= time + 0.000_5 { low = middle } else { high = middle }
            }
            return low
        }
    }

    init(
        _ data: Data, _ tracks: SequenceTracks, limits: ImageLimits, library: VideoLibrary, watch: DecodingWatch? = nil
    ) throws {
        let codec = ImageDecoders.HEIFSequence.codec
        let watch = watch ?? DecodingWatch(limits: limits, codec: codec)
        source = VideoSource(data)
        compressedData = data
        self.limits = limits
        color = try Pictures(tracks.color, source, limits, library, watch)
        alpha = try tracks.alpha.map { [source] in try Pictures($0, source, limits, library, watch) }
        let track = color.reader.track
        let shown = (
            width: tracks.color.width > 0 ? min(tracks.color.width, track.codedWidth) : track.codedWidth,
            height: tracks.color.height > 0 ? min(tracks.color.height, track.codedHeight) : track.codedHeight
        )
        orientation = track.orientation
        size = orientation.swapsSides ? (shown.height, shown.width) : shown
        try limits.check(
            width: track.codedWidth, height: track.codedHeight, decodedBytes: size.width * size.height * 4,
            codecBytes: track.codedWidth * track.codedHeight * (alpha == nil ? 5 : 10), codec: codec)
    }

    func frame(at index: Int) throws -> Bitmap {
        try frame(
            at: index, target: nil, watch: DecodingWatch(limits: limits, codec: ImageDecoders.HEIFSequence.codec))
    }

    /// A picture, whole or at a smaller size.
    func frame(at index: Int, target: ImageSize?, watch: DecodingWatch) throws -> Bitmap {
        color.reader.watch = watch
        alpha?.reader.watch = watch
        try color.go(to: index, in: source)
        if let alpha { try alpha.go(to: min(index, alpha.starts.count - 1), in: source) }
        var (width, height) = size
        if let target, target.width <= Double(width), target.height <= Double(height) {
            (width, height) = (max(1, Int(target.width.rounded())), max(1, Int(target.height.rounded())))
        }
        let pixels = try color.reader.pixels(
            width: width, height: height, orientation: orientation, alpha: alpha?.reader)
        return pixels.freeze(isOpaque: alpha == nil, colorSpace: color.frame?.colorSpace ?? .sRGB)
    }
}
