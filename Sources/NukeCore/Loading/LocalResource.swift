#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A URL that is read directly, without a loader: `file:` or `data:`, in any letter case.
enum LocalResource: Sendable {
    case file(path: [UInt8])
    case data(String)
    case foreignFile(host: String)

    /// Nil if the URL is neither.
    init?(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "file":
            let host = url.host(percentEncoded: false) ?? ""
            guard host.isEmpty || host.lowercased() == "localhost" else {
                self = .foreignFile(host: host)
                return
            }
            self = .file(path: Self.decoded(url.path(percentEncoded: true)))
        case "data": self = .data(url.absoluteString)
        default: return nil
        }
    }

    /// The path of a file, where it is text.
    var path: String? {
        guard case .file(let path) = self, !path.contains(0) else { return nil }
        return String(validating: path, as: UTF8.self)
    }

    /// Reads the bytes; blocks, so it belongs on `CodecThreads.disk`.
    func read(limit: Int?) throws(DataLoadingError) -> Data {
        switch self {
        case .file(let path): return try FileReader.contents(of: path, limit: limit)
        case .data(let text):
            let data = try DataURL.parse(text).data
            if let limit, data.count > limit { throw .exceededMaximumSize(limit) }
            return data
        case .foreignFile(let host):
            throw .fileUnreadable("file://\(host)/", reason: "only files of this machine can be read")
        }
    }

    /// Decodes escapes once, into bytes, as file names are bytes; a % that starts no escape stands for itself.
    private static func decoded(_ path: String) -> [UInt8] {
        let text = Array(path.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = hexValue(text[index + 1]),
                let low = hexValue(text[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }
}
