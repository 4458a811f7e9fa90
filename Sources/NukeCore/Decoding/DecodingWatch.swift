/// Ends a decode that is no longer wanted or takes longer than the limits allow, all its calls taken together.
///
/// Its time runs from its making, but for what lies between `stop` and `resume`: a decoder that waits for more data takes
/// none. What decoders ask at least every 64 rows.
public struct DecodingWatch: Sendable {
    /// The name in errors.
    public let codec: String
    private let cancellation: CancellationFlag?
    private let seconds: Double
    private let clock = SuspendingClock()
    private var deadline: SuspendingClock.Instant
    private var pause: SuspendingClock.Instant?

    /// Watches over one decode of a load: its cancellation flag, and the limits' seconds.
    ///
    /// - Parameter codec: The name in errors.
    public init(_ context: ImageDecodingContext, codec: String) {
        self.init(context.limits, context.cancellation, codec)
    }

    /// Looks at the clock alone: for what is decoded once the load has ended, as the frames of an animation are.
    ///
    /// - Parameter codec: The name in errors.
    public init(limits: ImageLimits, codec: String) {
        self.init(limits, nil, codec)
    }

    private init(_ limits: ImageLimits, _ cancellation: CancellationFlag?, _ codec: String) {
        self.cancellation = cancellation
        self.codec = codec
        seconds = limits.seconds
        // A duration has an end: what "no limit" comes to is thirty years.
        deadline = clock.now + .seconds(seconds < 1e9 ? max(0, seconds) : 1e9)
    }

    /// Stops the time, until `resume`.
    public mutating func stop() { pause = pause ?? clock.now }

    /// Lets the time go on.
    public mutating func resume() {
        guard let pause else { return }
        deadline += pause.duration(to: clock.now)
        self.pause = nil
    }

    /// Looks at every 64th row; throws `cancelled`, or `limitExceeded`, if it is over.
    public func check(row: Int) throws(ImageDecodingError) {
        if row % 64 == 0 { try check() }
    }

    /// Throws `cancelled`, or `limitExceeded`, if it is over.
    public func check() throws(ImageDecodingError) {
        try cancellation?.check()
        if clock.now > deadline {
            throw .limitExceeded("decoding takes longer than \(seconds) s", codec: codec)
        }
    }
}
