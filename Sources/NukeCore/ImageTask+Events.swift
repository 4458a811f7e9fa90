extension ImageTask {
    /// Something that happens to a task.
    public enum Event: Sendable {
        /// More bytes have come.
        case progress(Progress)
        /// A picture of partial data; better ones come.
        case preview(ImageResponse)
        /// The outcome; always the last event, exactly once.
        case finished(Result<ImageResponse, ImagePipeline.Error>)
    }

    /// How many bytes of a download have come.
    public struct Progress: Hashable, Sendable {
        /// Bytes held so far, those of an earlier, resumed transfer included.
        public let completed: Int64
        /// Bytes of the whole; -1 if unknown, 0 before the first byte.
        public let total: Int64

        /// Creates a progress.
        public init(completed: Int64, total: Int64) {
            self.completed = completed
            self.total = total
        }

        /// The part that has come, 0…1; 0 if the whole is not known.
        public var fraction: Float {
            if total <= 0 { return 0 }
            return completed > total ? 1 : Float(completed) / Float(total)
        }
    }

    /// The progress events of a fresh `events` stream.
    public var progress: AsyncStream<Progress> {
        makeStream { event in
            if case .progress(let progress) = event { progress } else { nil }
        }
    }

    /// The previews of a fresh `events` stream.
    public var previews: AsyncStream<ImageResponse> {
        makeStream { event in
            if case .preview(let response) = event { response } else { nil }
        }
    }
}
