/// A clock whose kind of instant does not matter: what time it is, and how to wait.
struct TimeSource: Sendable {
    /// The time since some moment.
    let now: @Sendable () -> Duration
    /// Waits; throws when the Swift task is cancelled.
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
