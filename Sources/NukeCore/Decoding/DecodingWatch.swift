/// Ends a decode that is no longer wanted or takes longer than the limits allow.
///
/// Its time runs from its making. What decoders ask at least every 64 rows.
public struct DecodingWatch: Sendable {
    private let cancellation: CancellationFlag?
    private let seconds: Double
    private let codec: String
    private let start = ContinuousClock.now

    /// Watches over one decode of a load: its cancellation flag, and the limits' seconds.
    ///
    /// - Parameter codec: The name in errors.
    public init(_ context: ImageDecodingContext, codec: String) {
        cancellation = context.cancellation
        seconds = context.limits.seconds
        self.codec = codec
    }

    /// Looks at the clock alone: for what is decoded once the load has ended, as the frames of an animation are.
    ///
    /// - Parameter codec: The name in errors.
    public init(limits: ImageLimits, codec: String) {
        cancellation = nil
        seconds = limits.seconds
        self.codec = codec
    }

    /// Looks at every 64th row; throws `cancelled`, or `limitExceeded`, if it is over.
    public func check(row: Int) throws(ImageDecodingError) {
        if row % 64 == 0 { try check() }
    }

    /// Throws `cancelled`, or `limitExceeded`, if it is over.
    public func check() throws(ImageDecodingError) {
        try cancellation?.check()
        guard (ContinuousClock.now - start) / .seconds(1) <= seconds else {
            throw .limitExceeded("decoding takes longer than \(seconds) s", codec: codec)
        }
    }
}
