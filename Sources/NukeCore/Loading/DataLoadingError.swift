/// Why bytes could not be loaded.
///
/// Equality looks at the code, not at the words.
public struct DataLoadingError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: Hashable {
            case badURL, noLoader(String), missingLibrary
            case cannotResolveHost, cannotConnect, connectionLost, timedOut, secureConnectionFailed, tooManyRedirects
            case unsupportedScheme, badServerResponse, truncatedBody, statusCodeUnacceptable(Int)
            case fileNotFound, fileUnreadable, malformedDataURL, exceededMaximumSize, cancelled, other
        }

        private let kind: Kind

        /// There is no URL, or it is not one.
        public static var badURL: Code { Code(kind: .badURL) }
        /// No loader is registered for the URL's scheme.
        public static func noLoader(scheme: String) -> Code { Code(kind: .noLoader(scheme)) }
        /// The library that does the transfer is not installed.
        public static var missingLibrary: Code { Code(kind: .missingLibrary) }
        /// The host's name has no address.
        public static var cannotResolveHost: Code { Code(kind: .cannotResolveHost) }
        /// No connection could be made.
        public static var cannotConnect: Code { Code(kind: .cannotConnect) }
        /// The connection broke.
        public static var connectionLost: Code { Code(kind: .connectionLost) }
        /// Nothing happened for too long.
        public static var timedOut: Code { Code(kind: .timedOut) }
        /// TLS failed: the certificate, or the handshake.
        public static var secureConnectionFailed: Code { Code(kind: .secureConnectionFailed) }
        /// More redirects than allowed.
        public static var tooManyRedirects: Code { Code(kind: .tooManyRedirects) }
        /// The loader does not speak the URL's, or a redirect's, scheme.
        public static var unsupportedScheme: Code { Code(kind: .unsupportedScheme) }
        /// The answer breaks the protocol's rules.
        public static var badServerResponse: Code { Code(kind: .badServerResponse) }
        /// The body ended before its declared length.
        public static var truncatedBody: Code { Code(kind: .truncatedBody) }
        /// The HTTP status says that there is no image.
        public static func statusCodeUnacceptable(_ status: Int) -> Code { Code(kind: .statusCodeUnacceptable(status)) }
        /// There is no such file.
        public static var fileNotFound: Code { Code(kind: .fileNotFound) }
        /// The file can't be read.
        public static var fileUnreadable: Code { Code(kind: .fileUnreadable) }
        /// The data URL breaks RFC 2397.
        public static var malformedDataURL: Code { Code(kind: .malformedDataURL) }
        /// More bytes than allowed.
        public static var exceededMaximumSize: Code { Code(kind: .exceededMaximumSize) }
        /// The load was no longer wanted.
        public static var cancelled: Code { Code(kind: .cancelled) }
        /// A failure of a loader's own that has no code here.
        public static var other: Code { Code(kind: .other) }

        /// The name of the code.
        public var description: String { "\(kind)" }
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and, where there is one, the remedy; a clause without a full stop.
    public let reason: String

    /// Creates an error of a loader's own, in words for people.
    public init(_ code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }

    /// There is no URL, or it is not one.
    public static var badURL: Self { .init(.badURL, reason: "the request has no valid URL") }

    /// No loader is registered for the URL's scheme; names the product to add.
    public static func noLoader(scheme: String) -> Self {
        let remedy =
            scheme == "http" || scheme == "https"
            ? "add the product NukeCurlLoader and register CurlLoader() for it"
            : "register one in DataLoaderRegistry"
        return .init(.noLoader(scheme: scheme), reason: "no loader is registered for \"\(scheme)\" URLs; \(remedy)")
    }

    /// The HTTP status says that there is no image.
    public static func statusCodeUnacceptable(_ status: Int) -> Self {
        .init(.statusCodeUnacceptable(status), reason: "the server answered with status \(status)")
    }

    /// The body ended before its declared length.
    public static func truncatedBody(received: Int, expected: Int64) -> Self {
        .init(.truncatedBody, reason: "the body ended after \(received) of \(expected) bytes")
    }

    /// There is no such file.
    public static func fileNotFound(_ path: String) -> Self {
        .init(.fileNotFound, reason: "there is no file at \(path)")
    }

    /// The file can't be read.
    public static func fileUnreadable(_ path: String, reason: String) -> Self {
        .init(.fileUnreadable, reason: "cannot read \(path): \(reason)")
    }

    /// The data URL breaks RFC 2397.
    public static func malformedDataURL(_ reason: String) -> Self {
        .init(.malformedDataURL, reason: "malformed data URL: \(reason)")
    }

    /// More bytes than allowed.
    public static func exceededMaximumSize(_ limit: Int) -> Self {
        .init(.exceededMaximumSize, reason: "more than the \(limit) bytes that are allowed")
    }
}

extension DataLoadingError: Hashable {
    /// Whether the codes are equal.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension DataLoadingError: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
