/// How often, after which errors and after what time a failed load is tried again.
public struct RetryPolicy: Sendable {
    /// How often it is tried in all; 3 by default.
    public var maximumAttemptCount = 3
    /// The time before the second attempt; half a second by default.
    public var initialDelay: Duration = .milliseconds(500)
    /// How much longer each further time is; 2 by default.
    public var factor = 2.0
    /// The longest time; half a minute by default.
    public var maximumDelay: Duration = .seconds(30)
    /// The part of a time that is left to chance, so that many clients don't come back at once; 0.25 by default.
    public var jitter = 0.25
    /// Whether to try again after an error; by default `isTransient`.
    public var isRetryable: @Sendable (ImagePipeline.Error) -> Bool = Self.isTransient

    /// Creates the default policy.
    public init() {}

    /// Creates a policy for so many attempts in all.
    public init(maximumAttemptCount: Int) { self.maximumAttemptCount = maximumAttemptCount }

    /// Whether an error may be gone next time: a connection that fails, a server that is busy, a loader's own error.
    public static func isTransient(_ error: ImagePipeline.Error) -> Bool {
        guard let error = error.dataLoadingError else { return false }
        if error is CancellationError { return false }
        guard let error = error as? DataLoadingError else { return true }
        return transientCodes.contains(error.code)
    }

    private static let transientCodes: Set<DataLoadingError.Code> = {
        let statuses = [408, 425, 429, 500, 502, 503, 504]
        return Set(statuses.map { .statusCodeUnacceptable($0) }).union([
            .cannotResolveHost, .cannotConnect, .connectionLost, .timedOut, .badServerResponse, .truncatedBody, .other,
        ])
    }()

    /// The time after so many attempts, before chance shortens it.
    func delay(after attempts: Int) -> Duration {
        var delay = initialDelay
        for _ in 1..<max(1, attempts) {
            if delay >= maximumDelay || delay <= .zero || factor <= 1 { break }
            delay = delay * factor
        }
        return max(.zero, min(delay, maximumDelay))
    }
}

extension ImageSequence {
    /// The same sequence, begun again after a failure that may be gone next time, with growing times in between.
    ///
    /// What was given before a failure is not taken back.
    public func retrying(
        _ policy: RetryPolicy = RetryPolicy(), clock: any Clock<Duration> = ContinuousClock()
    ) -> ImageSequence {
        let time = TimeSource(clock)
        return ImageSequence { yield throws(ImagePipeline.Error) in
            var attempts = 0
            while true {
                guard case .failure(let error) = await outcome(yield) else { return }
                attempts += 1
                guard attempts < policy.maximumAttemptCount, policy.isRetryable(error) else { throw error }
                let chance = policy.jitter > 0 ? Double.random(in: 0...Swift.min(1, policy.jitter)) : 0
                do { try await time.sleep(policy.delay(after: attempts) * (1 - chance)) } catch { throw .cancelled }
            }
        }
    }
}
