/// Spreads starts of work over time: a bucket of tokens that refills at a steady rate, of which each piece takes one.
///
/// As many pieces as there are tokens start at once; what comes then waits, in the order in which it came.
@ImagePipelineActor
final class RateLimiter {
    /// Does its work and tells whether there was any: work that was cancelled before takes no token.
    typealias Work = @ImagePipelineActor () -> Bool

    private let rate: Double
    private let burst: Double
    private let time: TimeSource
    private var tokens: Double
    private var lastRefill: Duration
    private let pending = LinkedList<Work>()
    private var isDrainScheduled = false

    /// Creates a limiter with a full bucket: `burst` pieces at once, then `rate` a second.
    nonisolated init(rate: Double = 80, burst: Int = 25, clock: any Clock<Duration> = ContinuousClock()) {
        self.rate = rate
        self.burst = Double(burst)
        time = TimeSource(clock)
        tokens = Double(burst)
        lastRefill = time.now()
    }

    /// How long what waits waits for the next look at the bucket: about two tokens' time.
    nonisolated var drainDelay: Duration { .milliseconds(min(100, max(15, Int(2100 / rate)))) }

    /// Runs work at once if there is a token and nothing waits, later otherwise.
    func execute(_ work: @escaping Work) {
        refill()
        if pending.first != nil || !run(work) {
            pending.append(work)
            scheduleDrain()
        }
    }

    /// Runs work if there is a token.
    private func run(_ work: Work) -> Bool {
        guard tokens >= 1 else { return false }
        if work() { tokens -= 1 }
        return true
    }

    private func refill() {
        let now = time.now()
        // A clock that went back brings nothing.
        tokens = min(burst, tokens + max(0, (now - lastRefill).seconds) * rate)
        lastRefill = now
    }

    private func scheduleDrain() {
        guard !isDrainScheduled else { return }
        isDrainScheduled = true
        Task { @ImagePipelineActor in
            try? await time.sleep(drainDelay)
            isDrainScheduled = false
            drain()
        }
    }

    private func drain() {
        refill()
        while tokens >= 1, let work = pending.popFirst() { _ = run(work) }
        if pending.first != nil { scheduleDrain() }
    }
}
