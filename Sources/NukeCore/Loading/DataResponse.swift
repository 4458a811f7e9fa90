#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a loader tells before the first byte of a body.
public struct DataResponse: Hashable, Sendable {
    /// The address that answered, after redirects.
    public var url: URL?
    /// The HTTP status; nil if the protocol has none.
    public var statusCode: Int?
    /// The header fields of the answer.
    public var headers: HTTPHeaders
    /// Bytes that the body will have, as delivered; -1 if unknown, as with a compressed transfer.
    public var expectedContentLength: Int64

    /// Creates a response.
    public init(url: URL?, statusCode: Int? = nil, headers: HTTPHeaders = [:], expectedContentLength: Int64 = -1) {
        self.url = url
        self.statusCode = statusCode
        self.headers = headers
        self.expectedContentLength = expectedContentLength
    }

    /// The media type in lower case without parameters, such as "image/jpeg".
    public var mimeType: String? {
        guard let value = headers["Content-Type"] else { return nil }
        let type = value.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type.isEmpty ? nil : type
    }
}
