#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a loader is asked for: a URL, and for HTTP the method, header fields, body and times.
public struct DataRequest: Hashable, Sendable {
    /// How stored responses of the HTTP layer may be used; the pipeline's own caches have `ImageRequest.Options`.
    public enum CachePolicy: Hashable, Sendable {
        /// As the protocol says.
        case useProtocolCachePolicy
        /// Not at all: from the origin.
        case reloadIgnoringLocalCacheData
        /// Whatever is stored, however old; from the origin if nothing is.
        case returnCacheDataElseLoad
        /// Only what is stored.
        case returnCacheDataDontLoad
    }

    /// The address; nil gives `DataLoadingError.badURL` when loaded.
    public var url: URL?
    /// The HTTP method; GET by default.
    public var method: String = "GET"
    /// The header fields that the caller sets.
    public var headers: HTTPHeaders = [:]
    /// The body to send; nil by default.
    public var body: Data?
    /// How stored responses may be used.
    public var cachePolicy: CachePolicy = .useProtocolCachePolicy
    /// Seconds without any progress after which the load fails; 60 by default.
    public var timeout: Double = 60

    /// Creates a GET request.
    public init(url: URL?) { self.url = url }
}
