#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A request for a piece of a body of which another transfer brings the whole.
struct RangeRequest {
    /// What to ask the loader for.
    let dataRequest: DataRequest
    /// The bytes wanted.
    let range: Range<Int>
    private let total: Int64
    private let validator: String

    /// Nil if the pieces of the two transfers could not be told to be of one body.
    init?(_ range: Range<Int>, of request: DataRequest, answeredBy response: DataResponse) {
        guard !range.isEmpty, range.lowerBound >= 0, Int64(range.upperBound) <= response.expectedContentLength,
            request.method == "GET", request.headers["Range"] == nil, response.statusCode == 200,
            response.headers["Content-Encoding"] == nil,
            response.headers["Accept-Ranges"]?.lowercased() != "none",
            let validator = response.headers["ETag"], validator.hasPrefix("\"")
        else { return nil }
        self.range = range
        self.validator = validator
        total = response.expectedContentLength
        var request = request
        request.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
        request.headers["If-Range"] = validator
        dataRequest = request
    }

    /// Whether a response brings these bytes of that body, and nothing else.
    func isAnswered(by response: DataResponse) -> Bool {
        response.statusCode == 206 && response.headers["ETag"] == validator
            && response.headers["Content-Encoding"] == nil
            && response.headers["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
    }
}
