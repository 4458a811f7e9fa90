internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of a video, one after the other.
// SAFETY: the core's calls never overlap; see `ImageVideoFrameDecoding`.
final class VideoFrames: ImageVideoFrameDecoding, @unchecked Sendable {
    private let source: VideoSource
    private let reader: VideoReader
    private let limits: ImageLimits
    private let maximumSize: ImageSize?

    /// What a file tells of its video, for the core.
    static func video(
        of track: VideoTrack, size: ImageSize, type: AssetType, context: ImageDecodingContext, data: Data?,
        library: VideoLibrary
    ) -> ImageVideo {
        let limits = context.limits
        var request = context.request
        request.processors = []
        return ImageVideo(
            duration: track.duration, size: size, codec: track.codec, frameRate: track.frameRate,
            hasAudio: track.hasAudio, data: data, request: request
        ) { source, maximumSize in
            try VideoFrames(source, type, limits: limits, maximumSize: maximumSize, library: library)
        }
    }

    private init(
        _ source: ImageVideo.Source, _ type: AssetType, limits: ImageLimits, maximumSize: ImageSize?,
        library: VideoLibrary
    ) throws {
        switch source {
        case .data(let data): self.source = VideoSource(data)
        case .file(let path):
            guard let file = VideoFile(path: path) else {
                throw ImageDecodingError.truncated("the file can't be read any more", codec: ImageDecoders.Video.codec)
            }
            self.source = VideoSource(file)
        }
        let choice = VideoReader.Choice(
            container: VideoSniffer.container(of: type), pixelCount: limits.pixelCount, takesCutPictures: true)
        let codec = ImageDecoders.Video.codec
        reader = try VideoReader(
            self.source, choice, library: library, watch: DecodingWatch(limits: limits, codec: codec), codec: codec)
        self.limits = limits
        self.maximumSize = maximumSize
    }

    func next(isWanted: (Double, Double) -> Bool) throws -> ImageVideo.DecodedFrame? {
        reader.watch = DecodingWatch(limits: limits, codec: ImageDecoders.Video.codec)
        guard let frame = try reader.next(in: source) else { return nil }
        let duration = frame.duration > 0 ? frame.duration : 1 / (reader.track.frameRate ?? 25)
        var decoded = ImageVideo.DecodedFrame(image: nil, time: frame.time, duration: duration)
        guard isWanted(frame.time, duration) else { return decoded }
        var track = reader.track
        track.adopt(frame)
        var (width, height) = (track.size.width, track.size.height)
        if let limit = maximumSize {
            let factor = min(1, limit.width / width, limit.height / height)
            if factor > 0 { (width, height) = (width * factor, height * factor) }
        }
        let pixels = try reader.pixels(
            width: max(1, Int(width.rounded())), height: max(1, Int(height.rounded())), orientation: track.orientation)
        decoded.image = pixels.freeze(isOpaque: true, colorSpace: frame.colorSpace)
        return decoded
    }

    func rewind() throws { try reader.seek(to: 0, in: source) }
}
