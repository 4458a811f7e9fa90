/// A decoder's frames of one video, in order.
///
/// What a plugin hands to `ImageVideo`. Its calls never overlap, and come on codec threads.
public protocol ImageVideoFrameDecoding: AnyObject, Sendable {
    /// The next frame; nil behind the last one.
    ///
    /// - Parameter isWanted: Answers whether a frame of this time and duration, in seconds, is to be shown; of one that is
    ///   not only as much is done as the next needs.
    func next(isWanted: (_ time: Double, _ duration: Double) -> Bool) throws -> ImageVideo.DecodedFrame?

    /// Goes back to the first frame.
    func rewind() throws
}

extension ImageVideo {
    /// A frame as it is decoded.
    public struct DecodedFrame: Sendable {
        /// The picture: upright and opaque; nil where it was not wanted.
        public var image: PlatformImage?
        /// When it is shown, in seconds from the start.
        public var time: Double
        /// For how long, in seconds.
        public var duration: Double

        /// Creates a frame.
        public init(image: PlatformImage?, time: Double, duration: Double) {
            self.image = image
            self.time = time
            self.duration = duration
        }
    }
}
