#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The frames of an animated picture, composed on demand, and when each is shown.
///
/// Nothing is decoded before a frame is asked for, and none is kept but what the decoder needs for the next one. Frames in
/// rising order cost one decode each; going back starts again from a frame that needs none before it.
///
/// The thumbnail and the processors of a request are applied to each frame as they are to the poster, once it is asked for.
public final class ImageAnimation: Sendable {
    /// Seconds that each frame is shown when played, one for each.
    ///
    /// Stored durations of up to 10 ms become 100 ms, as in browsers: `ImageProperties` has those that are stored.
    public let durations: [Double]
    /// How often all frames are shown; nil: for ever.
    public let playCount: Int?

    private let decoder: Decoder
    /// What is done to each frame.
    private let steps: [FrameStep]

    /// Creates an animation.
    ///
    /// - Parameters:
    ///   - storedDurations: Seconds that each frame is shown, as stored; one for each frame.
    ///   - playCount: How often all frames are shown; nil: for ever.
    ///   - frames: Decodes them.
    public convenience init(storedDurations: [Double], playCount: Int?, frames: any ImageFrameDecoding) {
        let durations = storedDurations.map { $0 > 0.010_5 ? $0 : 0.1 }
        self.init(durations, playCount, Decoder(frames), [])
    }

    private init(_ durations: [Double], _ playCount: Int?, _ decoder: Decoder, _ steps: [FrameStep]) {
        self.durations = durations
        self.playCount = playCount
        self.decoder = decoder
        self.steps = steps
    }

    /// The same frames, from the same decoder, with one thing more done to each.
    func adding(_ step: FrameStep) -> ImageAnimation {
        ImageAnimation(durations, playCount, decoder, steps + [step])
    }

    /// Lets one ask at a time.
    private final class Decoder: Sendable {
        let frames: Lock<any ImageFrameDecoding>
        let compressedData: Data?
        let canvasByteCount: Int

        init(_ frames: any ImageFrameDecoding) {
            self.frames = Lock(frames)
            compressedData = frames.compressedData
            canvasByteCount = frames.canvasByteCount
        }
    }

    /// The data that the decoder holds.
    var compressedData: Data? { decoder.compressedData }

    /// Bytes of the canvases that the decoder keeps.
    var canvasByteCount: Int { decoder.canvasByteCount }

    /// How many frames there are.
    public var frameCount: Int { durations.count }

    /// Seconds that all frames together are shown when played once.
    public var duration: Double { durations.reduce(0, +) }

    /// The whole picture as it is shown at a frame, decoded on a codec thread, with the request's processors applied.
    ///
    /// Throws what the decoder throws, mostly an `ImageDecodingError`, or a processor: where data is damaged, frames before
    /// may be sound.
    ///
    /// - Parameter index: Below `frameCount`.
    public func frame(at index: Int) async throws -> Bitmap {
        try await CodecThreads.shared.run { try self.decodeFrame(at: index) }
    }

    /// The same on the calling thread: for encoders, which have a codec thread.
    ///
    /// Throws what the decoder or a processor throws. Blocks while another thread decodes a frame of the same animation.
    ///
    /// - Parameter index: Below `frameCount`.
    public func decodeFrame(at index: Int) throws -> Bitmap {
        precondition(durations.indices.contains(index), "there are \(frameCount) frames")
        return try FrameStep.apply(steps, to: decoder.frames.withLock { try $0.frame(at: index) })
    }
}
