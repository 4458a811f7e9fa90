extension AnimatedImagePlayer {
    /// A frame that is to be shown, from now until the next one comes.
    public struct Frame: Sendable {
        /// Which frame of the animation it is, counted from 0.
        public let index: Int
        /// How often all frames have been shown before.
        public let playIndex: Int
        /// The whole picture.
        public let image: PlatformImage
        /// When it is due on the player's clock, counted from the creation of the player.
        ///
        /// In the past, where the frame comes late.
        public let presentationTime: Duration
    }

    /// How often all frames are shown.
    public enum Repetition: Hashable, Sendable {
        /// As often as the file says: `ImageAnimation.playCount`.
        case asStored
        /// For ever.
        case forever
        /// So many times in all; at least once.
        case times(Int)
    }

    /// What a player did, and what it has at hand.
    public struct Statistics: Hashable, Sendable {
        /// Frames that were handed out.
        public internal(set) var shownFrameCount = 0
        /// Frames that were passed over, as whoever shows them, or the decoder, came too late.
        public internal(set) var droppedFrameCount = 0
        /// Frames that could not be decoded or processed, in place of which the ones before stayed.
        public internal(set) var failedFrameCount = 0
        /// Frames of this animation, at this size, that the pool has.
        public internal(set) var bufferedFrameCount = 0
        /// Frames of this animation, at this size, that were decoded, for whatever player, while this one played.
        public internal(set) var decodedFrameCount = 0
        /// The time that these took, processors included.
        public internal(set) var decodeTime: Duration = .zero
    }
}
