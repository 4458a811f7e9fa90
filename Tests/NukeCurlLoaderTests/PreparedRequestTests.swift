import FoundationEssentials
import NukeCore
import Testing

@testable import NukeCurlLoader

@Suite("Prepared request", .timeLimit(.minutes(5)))
struct PreparedRequestTests {
    private func prepare(
        _ url: String, _ change: (inout DataRequest) -> Void = { _ in }
    ) throws(DataLoadingError) -> PreparedRequest {
        var request = DataRequest(url: URL(string: url))
        change(&request)
        return try PreparedRequest(request)
    }

    @Test("schemes are told without regard to case; others are refused (pitfalls 47, 49)")
    func schemes() throws {
        #expect(try prepare("http://h/").isSecure == false)
        #expect(try prepare("HTTPS://h/").isSecure)
        for url in ["ftp://h/", "file:///etc/passwd", "data:,a", "gopher://h", "httpx://h"] {
            #expect(throws: DataLoadingError(.unsupportedScheme, reason: "")) { try prepare(url) }
        }
        #expect(throws: DataLoadingError(.unsupportedScheme, reason: "")) { try prepare("//host/x.png") }
        #expect(throws: DataLoadingError(.badURL, reason: "")) { try PreparedRequest(DataRequest(url: nil)) }
    }

    @Test("a URL without a host is refused", arguments: ["http:", "http:/a", "http:///a", "http://:80/", "http://u@/"])
    func hosts(url: String) {
        #expect(throws: DataLoadingError(.badURL, reason: "")) { try Address(url) }
    }

    @Test(
        "the host of a message is found",
        arguments: [
            ("http://a.example/b", "a.example"), ("https://user:p@ss@a.example:81/@c", "a.example"),
            ("http://[::1]:80/", "[::1]"), ("http://a.example?q=//b", "a.example"),
            ("http://a.example#//b", "a.example"),
        ])
    func host(url: String, host: String) { #expect(Address.host(of: url) == host) }

    @Test("an international host is handed on as UTF-8")
    func internationalHost() throws {
        // Where all of Foundation is loaded, URL makes Punycode of it; that stays as it is.
        let hosts = ["http://bücher.example/%C3%BC?%C3%9F", "http://xn--bcher-kva.example/%C3%BC?%C3%9F"]
        #expect(hosts.contains(try prepare("http://bücher.example/ü?ß").url))
        #expect(try Address("http://u%40@b%C3%BCcher.example:81/%C3%BC").text == "http://u%40@bücher.example:81/%C3%BC")
        #expect(try Address("https://xn--bcher-kva.example/").text == "https://xn--bcher-kva.example/")
    }

    @Test(
        "escapes in a host that are no UTF-8, or of ASCII, stay as they are",
        arguments: [
            "http://a%00b/", "http://a%2Fb/", "http://a%40b/", "http://a%C3/", "http://a%C3%28/", "http://a%/",
            "http://a%C/",
            "http://a%zz/",
        ])
    func escapesInHosts(url: String) throws { #expect(try Address(url).text == url) }

    @Test("the path and query keep the caller's spelling; what is illegal is escaped once (pitfalls 37, 38, 50)")
    func spelling() throws {
        #expect(try prepare("http://h/a%7Cb%41%2f?c=%20+%2B").url == "http://h/a%7Cb%41%2f?c=%20+%2B")
        #expect(try prepare("http://h/a b é.jpg").url == "http://h/a%20b%20%C3%A9.jpg")
        #expect(try prepare("http://h/%00a.png").url == "http://h/%00a.png")
    }

    @Test("header fields become lines")
    func headerLines() throws {
        let request = try prepare("http://h/") { request in
            request.headers = ["Accept": "image/webp", "X-Empty": "", "content-length": "7"]
        }
        #expect(request.headerLines == ["Accept: image/webp", "X-Empty;"])
        #expect(request.isPlain)
    }

    @Test("a value or name that would break the head is refused, and named")
    func injection() {
        for value in ["a\r\nX-Evil: b", "a\nb", "a\rb", "a\0b"] {
            let error = #expect(throws: DataLoadingError.self) {
                try prepare("http://h/") { $0.headers = ["X-Name": value] }
            }
            #expect(error?.code == .other)
            #expect(error?.reason == "the header field X-Name holds a line break or a NUL")
        }
        for name in ["", "a b", "a:b", "a\r\nb", "é", "a\0"] {
            #expect(throws: DataLoadingError(.other, reason: "")) {
                try prepare("http://h/") { $0.headers = [name: "a"] }
            }
            #expect(throws: DataLoadingError(.other, reason: "")) { try prepare("http://h/") { $0.method = name } }
        }
    }

    @Test("a part of a body is asked for as it is, not compressed")
    func ranges() throws {
        let request = try prepare("http://h/") { $0.headers = ["Range": "bytes=1-"] }
        #expect(request.headerLines == ["Range: bytes=1-", "Accept-Encoding: identity"])
        let own = try prepare("http://h/") { $0.headers = ["Range": "bytes=1-", "accept-encoding": "br"] }
        #expect(own.headerLines == ["Range: bytes=1-", "accept-encoding: br"])
    }

    @Test("a body is no form unless the caller says so, and waits for nobody")
    func bodies() throws {
        let request = try prepare("http://h/") { request in
            request.method = "POST"
            request.body = Data([1])
        }
        #expect(request.headerLines == ["Content-Type:", "Expect:"])
        #expect(!request.isPlain && request.mayBeRedirected)
        let put = try prepare("http://h/") { request in
            request.method = "PUT"
            request.headers = ["Content-Type": "image/png", "Expect": "100-continue"]
            request.body = Data([1])
        }
        #expect(put.headerLines == ["Content-Type: image/png", "Expect: 100-continue"])
        #expect(!put.mayBeRedirected)
        let head = try prepare("http://h/") { request in
            request.method = "HEAD"
            request.body = Data([1])
        }
        #expect(head.isHead && head.body == nil && head.mayBeRedirected && !head.isPlain)
    }

    @Test("a timeout that makes no sense is none", arguments: [0, -1, Double.nan, .infinity])
    func timeouts(timeout: Double) throws {
        #expect(try prepare("http://h/") { $0.timeout = timeout }.timeout == .infinity)
    }
}
