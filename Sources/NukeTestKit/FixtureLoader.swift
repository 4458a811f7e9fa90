internal import Dispatch
public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A loader whose responses are the files of a folder, whatever the host: a web server without a network.
///
/// `https://example.com/photos/a.jpg` answers with the folder's `photos/a.jpg`, with its length and with a type that goes by the
/// extension; what is no file there, or lies outside, answers with status 404.
public final class FixtureLoader: DataLoading {
    private let folder: String
    private let chunkSize: Int
    private let queue = DispatchQueue(label: "FixtureLoader")
    private let requested = Lock<[DataRequest]>([])

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - chunkSize: Bytes that one call brings at most; 65,536 by default.
    public init(folder: String, chunkSize: Int = 64 << 10) {
        self.folder = folder
        self.chunkSize = max(1, chunkSize)
    }

    /// What was asked for, in order.
    public var requests: [DataRequest] { requested.withLock { $0 } }

    /// Sends the file that the URL's path names, or status 404.
    ///
    /// A request without a URL fails with `DataLoadingError.badURL`.
    public func loadData(
        with request: DataRequest, didReceiveData: @escaping @Sendable (Data, DataResponse) -> Void,
        completion: @escaping @Sendable ((any Error)?) -> Void
    ) -> any Cancellable {
        requested.withLock { $0.append(request) }
        let load = FixtureLoad()
        queue.async {
            guard let url = request.url else { return load.run { completion(DataLoadingError.badURL) } }
            guard let body = self.file(of: url) else {
                load.run { didReceiveData(Data(), DataResponse(url: url, statusCode: 404, expectedContentLength: 0)) }
                return load.run { completion(nil) }
            }
            var response = DataResponse(url: url, statusCode: 200, expectedContentLength: Int64(body.count))
            response.headers.add(Self.mediaType(of: url), for: "Content-Type")
            response.headers.add("\(body.count)", for: "Content-Length")
            load.run { didReceiveData(Data(), response) }
            for start in stride(from: 0, to: body.count, by: self.chunkSize) {
                let chunk = Data(body[start..<min(start + self.chunkSize, body.count)])
                load.run { didReceiveData(chunk, response) }
            }
            load.run { completion(nil) }
        }
        return load
    }

    /// The bytes of the file; nil if there is none, or its path would lead out of the folder.
    private func file(of url: URL) -> Data? {
        let parts = url.path.split(separator: "/")
        guard !parts.isEmpty, !parts.contains("..") else { return nil }
        return try? Data(contentsOf: URL(filePath: folder + "/" + parts.joined(separator: "/")))
    }

    private static func mediaType(of url: URL) -> String {
        switch url.pathExtension.lowercased() {
        case "jpg", "jpeg": "image/jpeg"
        case "png", "apng": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "heic": "image/heic"
        case "avif": "image/avif"
        case "svg": "image/svg+xml"
        case "mp4": "video/mp4"
        case "mov": "video/quicktime"
        case "webm": "video/webm"
        default: "application/octet-stream"
        }
    }
}

/// A load that does nothing more once it is cancelled.
private final class FixtureLoad: Cancellable {
    private let isCancelled = Lock(false)

    func cancel() { isCancelled.withLock { $0 = true } }

    func run(_ call: () -> Void) {
        if !isCancelled.withLock({ $0 }) { call() }
    }
}
