import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite("CurlLoader: what is received", .timeLimit(.minutes(5)))
struct CurlLoaderResponseTests {
    private func load(_ steps: ScriptedServer.Step...) async throws -> Load {
        let server = try ScriptedServer { _ in steps }
        return await Load.run(.direct(), server.url("/"))
    }

    @Test("a small body comes with the response in one call")
    func oneCall() async throws {
        let load = try await load(.response(headers: [("X-A", "b")], body: Array("hello".utf8)))
        #expect(load.text == "hello" && load.callCount == 1)
        #expect(load.response?.url?.path == "/")
        #expect(load.response?.headers["x-a"] == "b")
    }

    @Test("a body is handed on as it comes, and the head before it [DAT-13] [DAT-22]")
    func streaming() async throws {
        let (first, second) = (ThreadGate(), ThreadGate())
        let server = try ScriptedServer { _ in
            [
                .send(ScriptedServer.head(headers: [("Content-Length", "6")])), .wait(first), .send("abc"),
                .wait(second),
                .send("def"),
            ]
        }
        let loader = CurlLoader.direct()
        let load = PendingLoad()
        load.start(loader, server.url("/"))
        await load.received(0)
        #expect(load.load.body.isEmpty && load.load.response?.expectedContentLength == 6)
        first.open()
        await load.received(3)
        #expect(load.load.text == "abc" && !load.isOver)
        second.open()
        let end = await load.end()
        #expect(end.error == nil && end.text == "abcdef")
        #expect(end.callCount == 3)
    }

    @Test("a chunked body has no length, is asked for once, and its trailers are dropped (pitfall 11)")
    func chunked() async throws {
        let server = try ScriptedServer { _ in
            [
                .send(ScriptedServer.head(headers: [("Transfer-Encoding", "chunked")])), .chunk(Array("hel".utf8)),
                .chunk(Array("lo".utf8)), .send("0\r\nX-Trailer: a\r\n\r\n"),
            ]
        }
        let loader = CurlLoader.direct()
        let load = await Load.run(loader, server.url("/"))
        #expect(load.error == nil && load.text == "hello")
        #expect(load.response?.expectedContentLength == -1)
        #expect(load.response?.headers["X-Trailer"] == nil)
        #expect(server.requests.count == 1)
        #expect(await Load.run(loader, server.url("/")).text == "hello")
        #expect(server.connectionCount == 1)
    }

    @Test("a body without a length ends with the connection")
    func untilClose() async throws {
        let load = try await load(.send("HTTP/1.0 200 OK\r\n\r\nhello"), .close)
        #expect(load.error == nil && load.text == "hello")
        #expect(load.response?.expectedContentLength == -1)
    }

    @Test("a compressed body is delivered plain, the field stays and the length is unknown (pitfall 10)")
    func compressed() async throws {
        let load = try await load(.response(headers: [("Content-Encoding", "gzip")], body: Self.gzip))
        #expect(load.error == nil && load.text == "hello hello hello hello\n")
        #expect(load.response?.headers["Content-Encoding"] == "gzip")
        #expect(load.response?.expectedContentLength == -1)
    }

    @Test("a body that is not what its encoding says is an error")
    func badCompression() async throws {
        let load = try await load(.response(headers: [("Content-Encoding", "gzip")], body: Array("hello".utf8)))
        #expect(load.error?.code == .badServerResponse)
    }

    @Test("interim responses pass")
    func interim() async throws {
        let load = try await load(
            .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
            .response(201, body: Array("ok".utf8)))
        #expect(load.error == nil && load.text == "ok")
        #expect(load.response?.statusCode == 201 && load.response?.headers["Link"] == nil)
    }

    @Test("what stands behind the declared length is no part of the body")
    func tooLong() async throws {
        let load = try await load(
            .send(ScriptedServer.head(headers: [("Content-Length", "5")])), .send("hello, world"), .close)
        #expect(load.error == nil && load.text == "hello")
    }

    @Test("a declared length beyond all bounds is no length, and nothing is reserved for it [DAT-23]")
    func hugeLength() async throws {
        let load = try await load(
            .send(ScriptedServer.head(headers: [("Content-Length", "99999999999999999999")])), .send("hello"), .close)
        #expect(load.response?.expectedContentLength == -1)
        #expect(load.text == "hello")
    }

    @Test("header bytes beyond ASCII arrive (pitfall 14)")
    func latin1() async throws {
        let load = try await load(
            .send(
                Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A: é\r\nX-B: ".utf8) + [0xE9] + Array("\r\n\r\n".utf8))
        )
        #expect(load.response?.headers["X-A"] == "é")
        #expect(load.response?.headers["X-B"] == "é")
    }

    @Test("connections are kept for the next load")
    func keptConnection() async throws {
        let server = try ScriptedServer { _ in [.response(body: [1])] }
        let loader = CurlLoader.direct()
        for _ in 0..<20 { #expect(await Load.run(loader, server.url("/")).error == nil) }
        #expect(server.connectionCount == 1)
    }

    @Test("connections to a host are limited, and what waits comes through")
    func connectionLimit() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in [.wait(gate), .response(body: [1])] }
        let loader = CurlLoader.direct()
        let loads = (0..<30).map { _ in PendingLoad() }
        for load in loads { load.start(loader, server.url("/")) }
        await server.requestCount(reaches: 6)
        gate.open()
        for load in loads { #expect(await load.end().error == nil) }
        #expect(server.requests.count == 30)
        #expect(server.connectionCount == 6)
    }

    /// "hello hello hello hello\n", compressed.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40,
        0x27, 0xB9, 0x00, 0x00, 0x88, 0x59, 0x0B, 0x18, 0x00, 0x00, 0x00,
    ]
}
