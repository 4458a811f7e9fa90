internal import NukeCore

extension DataLoadingError {
    /// What libcurl says about a failed load, as an error that names the host.
    ///
    /// `url` is what was asked last, `isRedirected` whether a redirect had come before.
    static func curl(
        _ outcome: CurlOutcome, message: String, url: String, isRedirected: Bool = false
    ) -> DataLoadingError {
        let host = Address.host(of: url) ?? ""
        var reason = message
        while reason.hasSuffix(".") { reason.removeLast() }
        if !host.isEmpty, !reason.contains(host) { reason = "\(host): \(reason)" }
        if outcome == .unsupportedProtocol {
            // libcurl says so of a redirect to another scheme, and of a server that does not speak HTTP.
            let isScheme = (try? Address(url)) == nil || isRedirected && !message.contains("HTTP/0.9")
            return DataLoadingError(isScheme ? .unsupportedScheme : .badServerResponse, reason: reason)
        }
        return DataLoadingError(code(for: outcome), reason: reason)
    }

    private static func code(for outcome: CurlOutcome) -> Code {
        switch outcome {
        case .badURL: .badURL
        case .cannotResolveHost: .cannotResolveHost
        case .cannotConnect: .cannotConnect
        case .timedOut: .timedOut
        case .secureConnectionFailed: .secureConnectionFailed
        case .tooManyRedirects: .tooManyRedirects
        case .connectionLost: .connectionLost
        case .truncatedBody: .truncatedBody
        case .badResponse: .badServerResponse
        case .aborted, .outOfMemory, .other, .succeeded, .unsupportedProtocol: .other
        }
    }

    /// There is no libcurl to open.
    static var curlNotInstalled: DataLoadingError {
        .init(.missingLibrary, reason: "libcurl is not installed; install the package \(curlPackage)")
    }

    /// The libcurl that is there lacks functions of version 7.68.
    static var curlTooOld: DataLoadingError {
        .init(.missingLibrary, reason: "libcurl is older than 7.68; update the package \(curlPackage)")
    }

    /// There was no `curl/curl.h` when this was built.
    static var curlHeadersMissing: DataLoadingError {
        .init(
            .missingLibrary,
            reason: "this program was built without libcurl's headers; "
                + "install the package libcurl4-openssl-dev and build it anew")
    }

    private static var curlPackage: String { HostDistribution.package(debian: "libcurl4", ubuntu: "libcurl4t64") }
}
