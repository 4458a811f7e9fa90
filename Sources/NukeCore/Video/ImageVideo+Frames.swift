extension ImageVideo {
    /// A frame that is to be shown, from now until the next one comes.
    public struct Frame: Sendable {
        /// The picture, in sRGB.
        public let image: PlatformImage
        /// Its place in the video, in seconds from the start.
        public let time: Double
        /// When it is due on the clock, counted from when the first frame was handed out.
        public let presentationTime: Duration
        /// Frames before it that were passed over, as whoever shows them came too late.
        public let droppedFrameCount: Int
    }

    /// The frames, each of which comes when it is due: for short loops that are shown without sound.
    ///
    /// Time begins to pass when the first frame is handed out. Who comes late for a frame gets the one that is due by then.
    /// After the last frame of the last play, and its time, the sequence ends; also, without an error, when the Swift task
    /// that iterates is cancelled. One frame is decoded at a time, on a codec thread, and none is kept. Throws what the
    /// decoder throws, and what loading throws where the bytes are not in memory.
    ///
    /// - Parameters:
    ///   - maximumSize: The size, in pixels, that frames are shrunk to fit while they are decoded; nil, the default: whole.
    ///   - playCount: How often to show all frames; nil, the default: for ever.
    ///   - rate: How much faster than stored to play, 0.01…100; 1 by default.
    ///   - pipeline: What loads the bytes where they are not in memory; the shared one by default.
    ///   - clock: What tells the time; the system's by default.
    public func frames(
        maximumSize: ImageSize? = nil, playCount: Int? = nil, rate: Double = 1, pipeline: ImagePipeline = .shared,
        clock: some Clock<Duration> = ContinuousClock()
    ) -> Frames {
        precondition(rate >= 0.01 && rate <= 100, "a rate is 0.01 to 100")
        return Frames(
            video: self, maximumSize: maximumSize, playCount: playCount, rate: rate, pipeline: pipeline,
            time: TimeSource(clock))
    }

    /// Frames on a clock; see `frames`.
    public struct Frames: AsyncSequence, Sendable {
        /// A frame with its time.
        public typealias Element = Frame
        /// The error of the decoder, or of loading.
        public typealias Failure = any Error

        let video: ImageVideo
        let maximumSize: ImageSize?
        let playCount: Int?
        let rate: Double
        let pipeline: ImagePipeline
        let time: TimeSource

        /// Starts from the first frame.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(frames: self) }

        /// What plays.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let frames: Frames
            private var player: VideoPlayback?
            private var hasEnded = false

            init(frames: Frames) { self.frames = frames }

            /// The next frame, when it is due; nil when all plays are over.
            public mutating func next() async throws -> Frame? {
                guard !hasEnded, (frames.playCount ?? 1) > 0 else { return nil }
                do {
                    if player == nil { player = VideoPlayback(frames, try await frames.open()) }
                    if let frame = try await player?.next() { return frame }
                } catch is CancellationError {
                    // The end, as for every sequence.
                }
                hasEnded = true
                player = nil
                return nil
            }
        }
    }
}

extension ImageVideo.Frames {
    /// A decoder at the first frame.
    fileprivate func open() async throws -> any ImageVideoFrameDecoding {
        let source: ImageVideo.Source
        if let data = video.data {
            source = .data(data)
        } else if let path = video.request.url.flatMap({ LocalResource($0)?.path }) {
            source = .file(path: path)
        } else {
            var request = video.request
            request.processors = []
            request.thumbnail = nil
            request.videoPoster = nil
            source = .data(try await pipeline.data(for: request).0)
        }
        return try await CodecThreads.shared.run { [video, maximumSize] in try video.makeFrames(source, maximumSize) }
    }
}

/// One playing of a video: which frame is due when.
private struct VideoPlayback {
    private let frames: ImageVideo.Frames
    private let decoder: any ImageVideoFrameDecoding
    private var start: Duration?
    /// Seconds of video that all plays before this one have.
    private var playedSeconds = 0.0
    private var playIndex = 0
    /// Where the play under way ends, as far as it is known.
    private var end = 0.0

    init(_ frames: ImageVideo.Frames, _ decoder: any ImageVideoFrameDecoding) {
        self.frames = frames
        self.decoder = decoder
    }

    mutating func next() async throws -> ImageVideo.Frame? {
        var droppedCount = 0
        while true {
            try Task.checkCancellation()
            let latest = start.map { (frames.time.now() - $0).seconds * frames.rate - playedSeconds }
            let step = try await CodecThreads.shared.run { [decoder] in
                var frame = try decoder.next { time, duration in latest.map { time + duration > $0 } ?? true }
                if var image = frame?.image {
                    Bitmap.convertToSRGB(&image, by: ColorManagement.shared.converter)
                    frame?.image = image
                }
                return frame
            }
            guard let step else {
                guard try await startAgain() else { return nil }
                continue
            }
            end = max(end, step.time + step.duration)
            guard let image = step.image else {
                droppedCount += 1
                continue
            }
            let due = Duration.seconds((playedSeconds + step.time) / frames.rate)
            try await wait(until: due)
            return ImageVideo.Frame(
                image: image, time: step.time, presentationTime: start == nil ? .zero : due,
                droppedFrameCount: droppedCount)
        }
    }

    /// Goes back to the first frame, if there is another play and the one before had a frame.
    private mutating func startAgain() async throws -> Bool {
        playIndex += 1
        let isOver = end <= 0 || frames.playCount.map { playIndex >= $0 } ?? false
        if isOver {
            try await wait(until: .seconds((playedSeconds + end) / frames.rate))
            return false
        }
        playedSeconds += end
        try await CodecThreads.shared.run { [decoder] in try decoder.rewind() }
        return true
    }

    /// Waits until so much time has passed since the first frame, which sets the start.
    private mutating func wait(until due: Duration) async throws {
        guard let start else {
            start = frames.time.now() - due
            return
        }
        let rest = start + due - frames.time.now()
        if rest > .zero { try await frames.time.sleep(rest) }
    }
}
