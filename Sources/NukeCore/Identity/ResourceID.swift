#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The identity of what is loaded, whatever is made of it: the text that stands for it in every key.
///
/// A plain GET is just its URL. Method, body and varying header fields add parts, the last two as digests, so that no
/// header value is ever in a key. Closure ids have a namespace of their own.
enum ResourceID {
    /// Header fields that don't change which picture is meant.
    private static let neutralHeaders: Set<String> = [
        "range", "cache-control", "pragma", "accept-encoding", "connection", "te", "user-agent", "traceparent",
        "tracestate", "baggage", "x-request-id",
    ]

    static func make(_ resource: ImageRequest.Resource) -> String {
        switch resource {
        case .request(let request): make(request)
        case .data(let id, _), .image(let id, _): "closure:" + id
        }
    }

    private static func make(_ request: DataRequest) -> String {
        guard let url = request.url else { return "" }
        let text = URLIdentity.normalized(url.absoluteString)
        if request.method == "GET", request.body == nil, request.headers.isEmpty { return text }
        var parts = request.method == "GET" ? [text] : [text, "method:" + request.method]
        if let body = request.body { parts.append("body:" + SHA256.hex(SHA256.digest(body))) }
        if let digest = digest(of: request.headers) { parts.append("headers:" + digest) }
        return KeyParts.join(parts)
    }

    /// The digest of the fields that count, sorted by name; nil if there are none.
    private static func digest(of headers: HTTPHeaders) -> String? {
        let fields = headers.fields
            .map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { !neutralHeaders.contains($0.name) && !$0.name.hasPrefix("if-") }
        if fields.isEmpty { return nil }
        // The sort is stable: several values of one name keep their order, which has a meaning.
        let sorted = fields.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        let parts = sorted.flatMap { [$0.element.name, $0.element.value] }
        return SHA256.hexDigest(KeyParts.join(parts + [""]))
    }
}
