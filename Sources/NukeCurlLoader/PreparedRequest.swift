internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A request that was checked, in the form that libcurl takes.
struct PreparedRequest: Sendable {
    /// The address; an international host stands in it as UTF-8, which libcurl turns into the form for name servers.
    let url: String
    let isSecure: Bool
    /// Scheme, host and port: what connections are kept for.
    let origin: String
    let method: String
    let body: Data?
    let headerLines: [String]
    /// Seconds without progress; infinite where the request says nothing that makes sense.
    let timeout: Double

    /// Throws where there is no URL, none for http or https, or a method or header field that would break the request.
    init(_ request: DataRequest) throws(DataLoadingError) {
        guard let text = request.url?.absoluteString else { throw .badURL }
        let address = try Address(text)
        guard Self.isToken(request.method) else {
            throw DataLoadingError(.other, reason: "\(request.method.debugDescription) is no HTTP method")
        }
        url = address.text
        isSecure = address.isSecure
        origin = address.origin
        method = request.method
        body = request.method == "HEAD" ? nil : request.body
        headerLines = try Self.headerLines(of: request)
        timeout = request.timeout > 0 ? request.timeout : .infinity
    }

    var isHead: Bool { method == "HEAD" }

    /// Whether it asks for no more than most do.
    var isPlain: Bool { method == "GET" && body == nil }

    /// Whether redirects may be followed: a method that does something else might do it twice, or elsewhere.
    var mayBeRedirected: Bool { isHead || method == "GET" || method == "POST" }

    // MARK: Header fields

    private static func headerLines(of request: DataRequest) throws(DataLoadingError) -> [String] {
        var lines: [String] = []
        for field in request.headers.fields {
            guard isToken(field.name) else {
                throw DataLoadingError(.other, reason: "\(field.name.debugDescription) is no name of a header field")
            }
            try check(field.value, of: "the header field \(field.name)")
            // The body says how long it is.
            if field.name.lowercased() == "content-length" { continue }
            lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        let headers = request.headers
        // A part of a compressed body can't be decompressed.
        if headers["Range"] != nil, headers["Accept-Encoding"] == nil { lines.append("Accept-Encoding: identity") }
        if request.body != nil || request.method == "POST" {
            // libcurl would call it a form, and would wait for the server's leave to send it.
            if headers["Content-Type"] == nil { lines.append("Content-Type:") }
            if headers["Expect"] == nil { lines.append("Expect:") }
        }
        return lines
    }

    /// Throws if the value of a field would end its line.
    static func check(_ value: String, of subject: String) throws(DataLoadingError) {
        if value.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }) {
            throw DataLoadingError(.other, reason: "\(subject) holds a line break or a NUL")
        }
    }

    /// Whether it is a token of RFC 9110, 5.6.2.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

/// The address in a request: its text for libcurl, and where it leads.
struct Address {
    let text: String
    let isSecure: Bool
    /// Scheme, user, host and port, spelled as in the URL.
    let origin: String

    /// Throws if it is not an http or https URL with a host.
    init(_ text: String) throws(DataLoadingError) {
        guard let colon = text.utf8.span.indices.first(where: { text.utf8.span[$0] == UInt8(ascii: ":") }) else {
            throw DataLoadingError(.unsupportedScheme, reason: "the URL has no scheme")
        }
        let scheme = text.prefix(bytes: colon).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw DataLoadingError(.unsupportedScheme, reason: "this loader does not load \"\(scheme)\" URLs")
        }
        isSecure = scheme == "https"
        guard let layout = Layout(text.utf8.span, colon: colon), !layout.host.isEmpty else {
            throw DataLoadingError(.badURL, reason: "the URL has no host")
        }
        origin = String(text.prefix(bytes: layout.authorityEnd))
        self.text = layout.isHostEscaped ? Self.decodingHost(text, layout.host) : text
    }

    /// The host that a URL names, for messages; nil if it names none.
    static func host(of url: String) -> String? {
        let bytes = url.utf8.span
        guard let colon = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: ":") }) else { return nil }
        return Layout(bytes, colon: colon).map { layout in
            String(url.prefix(bytes: layout.host.upperBound).utf8.dropFirst(layout.host.lowerBound)) ?? ""
        }
    }

    /// Where the parts of a URL stand, as offsets of bytes.
    private struct Layout {
        let authorityEnd: Int
        let host: Range<Int>
        let isHostEscaped: Bool

        /// Nil if there is no `//` behind the colon.
        init?(_ bytes: Span<UInt8>, colon: Int) {
            guard bytes.count >= colon + 3, bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
            else { return nil }
            var (start, end) = (colon + 3, colon + 3)
            scan: while end < bytes.count {
                switch bytes[end] {
                case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
                // The host begins behind the last of them.
                case UInt8(ascii: "@"): start = end + 1
                default: break
                }
                end += 1
            }
            authorityEnd = end
            var hostEnd = start
            var isEscaped = false
            let isLiteral = start < end && bytes[start] == UInt8(ascii: "[")
            while hostEnd < end, isLiteral || bytes[hostEnd] != UInt8(ascii: ":") {
                if bytes[hostEnd] == UInt8(ascii: "%") { isEscaped = true }
                hostEnd += 1
                if isLiteral, bytes[hostEnd - 1] == UInt8(ascii: "]") { break }
            }
            host = start..<hostEnd
            isHostEscaped = isEscaped
        }
    }

    /// FoundationEssentials writes an international host percent-encoded, which older versions of libcurl don't decode.
    ///
    /// Escapes of ASCII stay as they are: a decoded delimiter or NUL would make another address of it.
    private static func decodingHost(_ url: String, _ host: Range<Int>) -> String {
        var bytes: [UInt8] = []
        var rest = url.utf8.dropFirst(host.lowerBound).prefix(host.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = UInt8(Substring(rest.prefix(2)), radix: 16), value >= 0x80
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { return url }
        return url.prefix(bytes: host.lowerBound) + decoded + Substring(url.utf8.dropFirst(host.upperBound))
    }
}

extension String {
    /// The first bytes of the text; the offset is that of an ASCII character.
    fileprivate func prefix(bytes count: Int) -> Substring { self[..<utf8.index(startIndex, offsetBy: count)] }
}
