#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A loader of bytes for URLs of the schemes it is registered for.
public protocol DataLoading: Sendable {
    /// Starts a load and returns at once.
    ///
    /// `didReceiveData` is called any number of times with the bytes in order; the first call brings the response and may
    /// bring no bytes. Then `completion` is called once, with nil if the body is whole. Calls of one load never overlap
    /// and may come on any thread; after `cancel` they may stop without a completion. Every HTTP status is delivered: the
    /// pipeline judges it.
    ///
    /// Returns a handle; one that is a `DataTransfer` can be paused and re-prioritised as well as cancelled.
    func loadData(
        with request: DataRequest,
        didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable

    /// Forgets what the loader keeps of answers to this request, such as in an HTTP cache; by default it keeps nothing.
    ///
    /// May come on any thread. A loader that hands requests on hands this on too.
    func removeData(for request: DataRequest)

    /// Forgets every answer that the loader keeps; by default it keeps none.
    func removeAllData()
}

extension DataLoading {
    /// Does nothing: nothing is kept.
    public func removeData(for request: DataRequest) {}

    /// Does nothing: nothing is kept.
    public func removeAllData() {}
}

/// Something under way that can be stopped.
public protocol Cancellable: AnyObject, Sendable {
    /// Stops it. Has no effect the second time or after the end.
    func cancel()
}

/// A load under way that can be held back and moved forward.
public protocol DataTransfer: Cancellable {
    /// How urgent the transfer is beside others of the same loader; settable at any time.
    var priority: ImageRequest.Priority { get set }

    /// Stops delivering bytes, and with time the sender, until `resume`.
    func pause()

    /// Goes on after `pause`.
    func resume()
}
