internal import NukeCore

/// Ends work that is no longer wanted or takes too long, all calls of one decode taken together.
struct WebPWatch {
    private let cancellation: CancellationFlag?
    private let seconds: Double
    private let clock = SuspendingClock()
    private var deadline: SuspendingClock.Instant
    private var pause: SuspendingClock.Instant?

    /// Starts the time that the limits give; without a flag nothing cancels.
    init(_ limits: ImageLimits, cancellation: CancellationFlag? = nil) {
        self.cancellation = cancellation
        seconds = limits.seconds
        // What "no limit" comes to is 30 years, as a duration has an end.
        deadline = clock.now + .seconds(seconds < 1e9 ? max(0, seconds) : 1e9)
    }

    /// Stops the time, until `resume`.
    mutating func stop() { if pause == nil { pause = clock.now } }

    /// Lets the time go on.
    mutating func resume() {
        guard let pause else { return }
        deadline += pause.duration(to: clock.now)
        self.pause = nil
    }

    /// Throws `cancelled` or `limitExceeded` if it is time to end.
    func check() throws(ImageDecodingError) {
        try cancellation?.check()
        if clock.now > deadline {
            throw .limitExceeded("decoding takes more than \(seconds) seconds", codec: ImageDecoders.WebP.codec)
        }
    }
}
