#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A request for the beginning of a body of which more may not be needed.
///
/// A server writes some megabytes before it can know that nobody wants them, so what comes of a paused or cancelled transfer is
/// not for us to say; what is asked for is.
struct HeadRequest {
    /// What is asked for: the index of a video of an hour or so, and the first picture.
    static let byteCount = 1 << 20

    /// What to ask the loader for.
    let dataRequest: DataRequest

    /// Nil unless the address has the extension of a format that finishes early, and the request is for a whole.
    init?(of request: DataRequest, formats: [ImageFormat]) {
        guard request.method == "GET", request.headers["Range"] == nil,
            let fileExtension = request.url?.pathExtension.lowercased(), !fileExtension.isEmpty,
            formats.contains(where: {
                $0.capabilities.contains(.finishesEarly) && $0.fileExtensions.contains(fileExtension)
            })
        else { return nil }
        var request = request
        request.headers["Range"] = "bytes=0-\(Self.byteCount - 1)"
        dataRequest = request
    }

    /// The response as that to a request for the whole; nil if the rest could not be had, or not told to be of the same body.
    func whole(_ response: DataResponse) -> DataResponse? {
        guard response.statusCode == 206 else { return response.statusCode == 416 ? nil : response }
        guard response.headers["Content-Encoding"] == nil, let field = response.headers["Content-Range"],
            field.hasPrefix("bytes 0-"), let slash = field.firstIndex(of: "/"),
            let last = Int64(field[..<slash].dropFirst(8)), let total = Int64(field[slash...].dropFirst()),
            total > 0, last == min(Int64(Self.byteCount), total) - 1,
            last == total - 1 || response.headers["ETag"]?.hasPrefix("\"") ?? false
        else { return nil }
        var response = response
        response.statusCode = 200
        response.expectedContentLength = total
        response.headers["Content-Range"] = nil
        response.headers["Content-Length"] = String(total)
        return response
    }
}
