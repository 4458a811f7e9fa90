#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What the file of a video tells, and its frames, for short loops without sound.
///
/// `ImageContainer.video` of an image whose decoder reads videos; the image is the poster. No frame is decoded before
/// somebody asks, and nothing is kept between two askings but the bytes.
public final class ImageVideo: Sendable {
    /// Where a decoder of frames reads the bytes.
    public enum Source: Sendable {
        /// In memory.
        case data(Data)
        /// In a file, of which only parts need be read.
        case file(path: String)
    }

    /// Makes a decoder of frames that fit into a size in pixels, or that are whole; runs on a codec thread.
    public typealias MakeFrames = @Sendable (Source, ImageSize?) throws -> any ImageVideoFrameDecoding

    /// Seconds; nil if the file does not tell.
    public let duration: Double?
    /// The size at which it is shown, in pixels: upright, and of square pixels.
    public let size: ImageSize
    /// How the pictures are coded, such as "h264".
    public let codec: String
    /// Frames a second; nil if the file does not tell, or they differ.
    public let frameRate: Double?
    /// Whether there is sound, which is not played.
    public let hasAudio: Bool
    /// The bytes; nil if they are too many to be kept, or were not needed for the poster.
    public let data: Data?
    /// What loads the bytes again.
    public let request: ImageRequest

    let makeFrames: MakeFrames

    /// Creates a description; what decoders do.
    ///
    /// - Parameters:
    ///   - duration: Seconds; nil if the file does not tell.
    ///   - size: The size at which it is shown, in pixels.
    ///   - codec: How the pictures are coded.
    ///   - frameRate: Frames a second; nil if the file does not tell.
    ///   - hasAudio: Whether there is sound.
    ///   - data: The bytes; nil where not all are there.
    ///   - request: What they were loaded with.
    ///   - makeFrames: Makes a decoder of frames.
    public init(
        duration: Double?, size: ImageSize, codec: String, frameRate: Double?, hasAudio: Bool, data: Data?,
        request: ImageRequest, makeFrames: @escaping MakeFrames
    ) {
        self.duration = duration
        self.size = size
        self.codec = codec
        self.frameRate = frameRate
        self.hasAudio = hasAudio
        self.data = data
        self.request = request
        self.makeFrames = makeFrames
    }

    /// The same without the bytes.
    var reference: ImageVideo {
        ImageVideo(
            duration: duration, size: size, codec: codec, frameRate: frameRate, hasAudio: hasAudio, data: nil,
            request: request, makeFrames: makeFrames)
    }
}
