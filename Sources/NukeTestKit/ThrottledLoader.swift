public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A loader that hands on what another one loads, as slowly as it is told.
///
/// The response comes after `latency`; then chunks come one by one, each after the time that its bytes take. With a
/// `ManualClock` the test says when. What the other loader brings meanwhile waits in memory.
public final class ThrottledLoader: DataLoading {
    private let loader: any DataLoading
    private let pace: Pace

    /// How fast bytes come.
    struct Pace: Sendable {
        let bytesPerSecond: Double
        let chunkSize: Int
        let latency: Duration
        let clock: any Clock<Duration>
    }

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - loader: The loader of the bytes.
    ///   - bytesPerSecond: How many come in a second; at least 1.
    ///   - chunkSize: Bytes that one call brings at most; 1,024 by default.
    ///   - latency: How long it takes until the response comes; none by default.
    ///   - clock: What time is measured by; continuous time by default.
    public init(
        _ loader: any DataLoading, bytesPerSecond: Int, chunkSize: Int = 1024, latency: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.loader = loader
        pace = Pace(
            bytesPerSecond: Double(max(1, bytesPerSecond)), chunkSize: max(1, chunkSize), latency: latency, clock: clock
        )
    }

    /// Starts the other loader's load, and hands on what it brings.
    public func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let transfer = ThrottledTransfer(pace: pace, didReceiveData: didReceiveData, completion: completion)
        transfer.start(loader, request)
        return transfer
    }

    /// Tells the other loader.
    public func removeData(for request: DataRequest) { loader.removeData(for: request) }

    /// Tells the other loader.
    public func removeAllData() { loader.removeAllData() }
}
