internal import NukeCore

/// Ends a decode that is no longer wanted or has taken too long.
struct DecodingWatch {
    private let cancellation: CancellationFlag?
    private let seconds: Double
    private let start = ContinuousClock.now

    init(_ context: ImageDecodingContext) {
        cancellation = context.cancellation
        seconds = context.limits.seconds
    }

    /// Looks at the clock alone.
    init(seconds: Double) {
        cancellation = nil
        self.seconds = seconds
    }

    /// Looks at the flag and the clock at every 64th row; throws if it is over.
    func check(row: Int) throws(ImageDecodingError) {
        guard row % 64 == 0 else { return }
        try cancellation?.check()
        guard (ContinuousClock.now - start) / .seconds(1) <= seconds else {
            throw .limitExceeded("decoding takes longer than \(seconds) s", codec: ImageDecoders.PNG.codec)
        }
    }
}
