public import FoundationEssentials

/// The nginx that `Scripts/test` starts, with the files of `Tests/Fixtures`.
public struct NginxServer: Sendable {
    /// Such as "http://127.0.0.1:8080".
    public let http: String
    /// The same over TLS and HTTP/2, with a certificate of its own.
    public let https: String?
    /// The file with that certificate.
    public let certificatePath: String?

    /// The server; nil where `NUKE_TEST_HTTP` names none.
    public static let current: NginxServer? = {
        let environment = ProcessInfo.processInfo.environment
        guard let http = environment["NUKE_TEST_HTTP"], !http.isEmpty else { return nil }
        return NginxServer(
            http: http, https: environment["NUKE_TEST_HTTPS"], certificatePath: environment["NUKE_TEST_CA"])
    }()

    /// The URL of a file of `Tests/Fixtures`, such as `jpeg/gen-420.jpg`, or of what else
    /// `Scripts/nginx-for-tests` names, over plain HTTP.
    public func url(_ path: String) -> URL? { URL(string: http + "/" + path) }

    /// The same over TLS; nil where there is none.
    public func secureURL(_ path: String) -> URL? { https.flatMap { URL(string: $0 + "/" + path) } }
}
