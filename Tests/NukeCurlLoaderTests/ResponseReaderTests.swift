import FoundationEssentials
import NukeCore
import Testing

@testable import NukeCurlLoader

@Suite("Response reader", .timeLimit(.minutes(5)))
struct ResponseReaderTests {
    @Test("a head becomes a response, with its fields in order and their values trimmed")
    func head() throws {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.read("HTTP/1.1 200 OK", "Content-Type:\t image/png ", "X:a", "x: b", "Empty:") == .more)
        #expect(reader.read("") == .headComplete)
        let announced = reader.announce(url: nil)
        let response = try #require(announced)
        #expect(response.statusCode == 200)
        #expect(response.mimeType == "image/png")
        #expect(response.headers.fields.map(\.name) == ["Content-Type", "X", "x", "Empty"])
        #expect(response.headers.values(for: "x") == ["a", "b"])
        #expect(response.headers["empty"] == "")
        #expect(response.expectedContentLength == -1)
    }

    @Test("a head is announced once")
    func announcedOnce() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.announce(url: nil) == nil)
        reader.read("HTTP/2 200 ", "")
        #expect(reader.announce(url: nil) != nil)
        #expect(reader.announce(url: nil) == nil)
        #expect(reader.readBody() == .more)
    }

    @Test("heads of interim responses pass", arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func interim(status: String) throws {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.read("HTTP/1.1 \(status)", "Link: </a>", "") == .more)
        #expect(reader.announce(url: nil) == nil)
        #expect(reader.read("HTTP/1.1 204 None", "") == .headComplete)
        let announced = reader.announce(url: nil)
        let response = try #require(announced)
        #expect(response.statusCode == 204)
        #expect(response.headers.isEmpty)
    }

    @Test("the head of a redirect passes if redirects are followed")
    func redirect() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.read("HTTP/1.1 302 Found", "Location: /b", "") == .more)
        #expect(reader.read("HTTP/1.1 200 OK", "") == .headComplete)

        reader = ResponseReader(isHead: false, followsRedirects: false)
        #expect(reader.read("HTTP/1.1 302 Found", "Location: /b", "") == .headComplete)

        reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.read("HTTP/1.1 300 Multiple Choices", "Location:", "") == .headComplete)
    }

    @Test("a body behind the head of a redirect belongs to it")
    func redirectThatIsNotFollowed() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        reader.read("HTTP/1.1 305 Use Proxy", "Location: /b", "")
        #expect(reader.readBody() == .headComplete)
        #expect(reader.announce(url: nil)?.statusCode == 305)

        reader = ResponseReader(isHead: false, followsRedirects: true)
        reader.read("HTTP/1.1 305 Use Proxy", "Location: /b", "")
        reader.end()
        #expect(reader.announce(url: nil)?.statusCode == 305)
    }

    @Test(
        "the expected length is that of what will be delivered",
        arguments: [
            (["HTTP/1.1 200 OK", "Content-Length: 42"], false, 42),
            (["HTTP/1.1 200 OK"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: 42"], true, 0),
            (["HTTP/1.1 204 None", "Content-Length: 42"], false, 0),
            (["HTTP/1.1 304 Same", "Content-Length: 42"], false, 0),
            (["HTTP/1.1 200 OK", "Content-Length: 42", "Content-Encoding: gzip"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: 42", "Content-Encoding: Identity"], false, 42),
            (["HTTP/1.1 200 OK", "Content-Length: 42", "Transfer-Encoding: chunked"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: 42", "Content-Length: 42"], false, 42),
            (["HTTP/1.1 200 OK", "Content-Length: 42", "Content-Length: 43"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: -1"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: +42"], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: "], false, -1),
            (["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999"], false, -1),
        ])
    func expectedLength(lines: [String], isHead: Bool, expected: Int64) {
        var reader = ResponseReader(isHead: isHead, followsRedirects: true)
        for line in lines { reader.read(line) }
        reader.read("")
        #expect(reader.announce(url: nil)?.expectedContentLength == expected)
    }

    @Test("bytes beyond ASCII are UTF-8 where they can be, else ISO 8859-1 (pitfall 14)")
    func text() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        reader.read("HTTP/1.1 200 OK", "X-UTF-8: é日")
        reader.read(bytes: Array("X-Latin: caf".utf8) + [0xE9, 0x20, 0xFF])
        reader.read("")
        let headers = reader.announce(url: nil)?.headers
        #expect(headers?["X-UTF-8"] == "é日")
        #expect(headers?["X-Latin"] == "café ÿ")
    }

    @Test("a folded line belongs to the field before it; a line that is no field is left out")
    func oddLines() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        reader.read("HTTP/1.1 200 OK", " lost", "A: 1", "  2", "\t3", "garbage", ": nameless", "B : 4", "")
        let headers = reader.announce(url: nil)?.headers
        #expect(headers?.fields.map(\.name) == ["A", "B"])
        #expect(headers?["A"] == "1 2 3")
        #expect(headers?["B"] == "4")
    }

    @Test("trailers are read and dropped")
    func trailers() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        reader.read("HTTP/1.1 200 OK", "")
        _ = reader.announce(url: nil)
        #expect(reader.readBody() == .more)
        #expect(reader.read("X-Checksum: 1", "") == .more)
        #expect(reader.announce(url: nil) == nil)
    }

    @Test("what breaks the rules fails")
    func failures() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        #expect(reader.readBody() == .failed("a body came before a head"))
        #expect(reader.read("SIP/2.0 200 OK") == .failed("the status line is malformed"))
        #expect(reader.read("HTTP/1.1 20") == .failed("the status line is malformed"))
        #expect(reader.read("HTTP/1.1 2x0 OK") == .failed("the status line is malformed"))
        reader.read("HTTP/1.1 200 OK", "A: b")
        #expect(reader.isInHead)
        #expect(reader.readBody() == .failed("a body came before a head"))
        reader.read("")
        #expect(reader.read("HTTP/1.1 200 OK") == .failed("a second response followed the first"))
    }

    @Test("all heads of a load together are limited")
    func limit() {
        var reader = ResponseReader(isHead: false, followsRedirects: true)
        var count = 0
        while count < 1_000_000 {
            let event = reader.read("HTTP/1.1 100 Continue", "X: " + String(repeating: "a", count: 1000), "")
            guard event == .more else { break }
            count += 1
        }
        // Each head has 23 + 1005 + 2 bytes.
        #expect(count == (256 << 10) / 1030)
        #expect(reader.read("") == .failed("the head of the response is larger than 256 KB"))
    }
}

extension ResponseReader {
    /// Takes lines; returns what the last one brought.
    @discardableResult
    fileprivate mutating func read(_ lines: String...) -> Event {
        var event = Event.more
        for line in lines { event = read(bytes: Array(line.utf8)) }
        return event
    }

    @discardableResult
    fileprivate mutating func read(bytes: [UInt8]) -> Event {
        let line = bytes + [0x0D, 0x0A]
        return read(line: line.span)
    }
}
