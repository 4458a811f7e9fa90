public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Loads http and https URLs with libcurl, which is opened when the first load begins.
///
/// One thread drives all transfers of a loader and calls the callbacks, which must not block it: HTTP/2 where the server
/// offers it, kept connections, compressed transfer, redirects, and no cookies. Bytes are handed on as they come, in
/// order. Nothing is tried twice: wrap the loader for that.
///
/// `loadData` returns a `DataTransfer`. After its `cancel` no callback begins any more, and there is no completion. When
/// the loader is released, what is under way ends with `DataLoadingError.Code.cancelled`, and then the thread does.
///
/// Errors are `DataLoadingError`s that name the host; every HTTP status is a response, none is an error. A header field
/// that is not valid UTF-8 is read as ISO 8859-1.
public final class CurlLoader: DataLoading {
    /// What all transfers of a loader share.
    public struct Configuration: Hashable, Sendable {
        /// How many redirects a load follows before it fails; 10 by default.
        ///
        /// 0 follows none: the redirecting response itself is delivered. Methods other than GET, HEAD and POST are never
        /// redirected either. `Authorization`, `Cookie` and a password in the URL go to no other host, port or scheme.
        public var maximumRedirectCount: Int = 10
        /// Seconds that looking up the host, connecting and the TLS handshake may take; 15 by default.
        ///
        /// A `DataRequest.timeout` that is shorter holds for them too.
        public var connectTimeout: Double = 15
        /// Connections to one host at a time, others wait; 6 by default.
        ///
        /// With HTTP/2 one connection carries all requests.
        public var maximumConnectionsPerHost: Int = 6
        /// Whether HTTP/2 is offered to servers with TLS; true by default.
        public var isHTTP2Enabled: Bool = true
        /// The `User-Agent` field, nil for none; a request's own goes first.
        public var userAgent: String? = "Nuke"
        /// A file of certificates in PEM form to trust in place of the system's; nil by default.
        public var caCertificatePath: String?
        /// The URL of the proxy to use, "" for none.
        ///
        /// Nil, the default, goes by the environment as curl does: `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`.
        public var proxy: String?

        /// Creates the default configuration.
        public init() {}
    }

    private let engine: CurlEngine

    /// Creates a loader; starts no thread and opens no library before the first load.
    public init(configuration: Configuration = Configuration()) {
        engine = CurlEngine(configuration)
    }

    deinit { engine.close() }

    /// The library in use, such as "libcurl 7.88.1", which this opens; nil where it is not installed.
    public static var libraryVersion: String? { CurlLibrary.version.map { "libcurl \($0)" } }

    /// The library that this was built for, such as "libcurl 7.88.1", without opening it; nil without its headers.
    public static var headerVersion: String? { CurlLibrary.headerVersion.map { "libcurl \($0)" } }

    /// Starts a load and returns at once; the callbacks come later, on the loader's thread.
    public func loadData(
        with request: DataRequest,
        didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        let transfer = CurlTransfer(engine)
        engine.post(
            .start(CurlOrder(request, transfer: transfer, didReceiveData: didReceiveData, completion: completion)))
        return transfer
    }
}
