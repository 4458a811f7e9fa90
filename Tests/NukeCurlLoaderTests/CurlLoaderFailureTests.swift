import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite("CurlLoader: failures", .timeLimit(.minutes(5)))
struct CurlLoaderFailureTests {
    private func load(
        _ steps: ScriptedServer.Step..., change: (inout DataRequest) -> Void = { _ in }
    ) async throws -> Load {
        let server = try ScriptedServer { _ in steps }
        var request = DataRequest(url: URL(string: server.url("/")))
        change(&request)
        let load = await Load.run(.direct(), request)
        if let error = load.error { #expect(error.reason.contains("127.0.0.1"), "\(error)") }
        return load
    }

    private static let declared = ScriptedServer.Step.send(ScriptedServer.head(headers: [("Content-Length", "1000")]))

    @Test("no URL, and one of another scheme, fail without a request")
    func badURLs() async {
        let loader = CurlLoader.direct()
        #expect(await Load.run(loader, DataRequest(url: nil)).error?.code == .badURL)
        #expect(await Load.run(loader, "ftp://127.0.0.1/a").error?.code == .unsupportedScheme)
        #expect(await Load.run(loader, "//127.0.0.1/a").error?.code == .unsupportedScheme)
        #expect(await Load.run(loader, "file:///etc/passwd").error?.code == .unsupportedScheme)
    }

    @Test("a host without an address is named, whatever the number of loads (pitfall 34)")
    func unknownHost() async {
        // No name server is asked for a label of more than 63 bytes.
        let host = String(repeating: "a", count: 64) + ".example"
        let loader = CurlLoader.direct()
        await withTaskGroup { group in
            for number in 0..<50 { group.addTask { await Load.run(loader, "http://\(host)/\(number)") } }
            for await load in group {
                #expect(load.error?.code == .cannotResolveHost)
                #expect(load.error?.reason.contains(host) == true)
                #expect(load.callCount == 0)
            }
        }
    }

    @Test("a port where nobody listens")
    func cannotConnect() async throws {
        let server = try ScriptedServer { _ in [] }
        let url = server.url("/")
        server.stop()
        let load = await Load.run(.direct(), url)
        #expect(load.error?.code == .cannotConnect)
        #expect(load.error?.reason.contains("127.0.0.1") == true)
    }

    @Test("a connection that is closed, or reset, before the answer")
    func lostBeforeHead() async throws {
        #expect(try await load(.close).error?.code == .connectionLost)
        #expect(try await load(.reset).error?.code == .connectionLost)
        #expect(try await load(.send("HTTP/1.1 200 OK\r\nA: b\r\n"), .reset).error?.code == .connectionLost)
    }

    @Test("a head that is cut short is no response")
    func cutHead() async throws {
        let load = try await load(.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"), .close)
        #expect(load.error != nil)
        #expect(load.callCount == 0)
    }

    @Test("a body that is cut short brings what came, and then the error [DAT-11] [DAT-41]")
    func cutBody() async throws {
        let closed = try await load(Self.declared, .send("hello"), .close)
        #expect(closed.error?.code == .truncatedBody)
        #expect(closed.text == "hello" && closed.response?.statusCode == 200)
        let bare = try await load(Self.declared, .close)
        #expect(bare.error?.code == .truncatedBody)
        #expect(bare.response?.expectedContentLength == 1000)
        let chunked = try await load(
            .send(ScriptedServer.head(headers: [("Transfer-Encoding", "chunked")])), .chunk(Array("hello".utf8)), .close
        )
        #expect(chunked.error?.code == .truncatedBody)
        #expect(chunked.text == "hello")
    }

    @Test("what is no HTTP, or breaks its rules")
    func badResponses() async throws {
        #expect(try await load(.send("hello\r\n\r\n"), .close).error?.code == .badServerResponse)
        #expect(try await load(.send("SSH-2.0-OpenSSH_9.2\r\n"), .stall).error?.code == .badServerResponse)
        let length = ScriptedServer.Step.send(ScriptedServer.head(headers: [("Content-Length", "a")]))
        #expect(try await load(length, .close).error?.code == .badServerResponse)
        let chunk = ScriptedServer.Step.send(ScriptedServer.head(headers: [("Transfer-Encoding", "chunked")]) + [0x78])
        #expect(try await load(chunk, .send("\r\n\r\n"), .close).error != nil)
    }

    @Test(
        "heads without end are given up",
        arguments: ["X-A: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n", " folded\r\n", "a"])
    func endlessHead(part: String) async throws {
        let block = Array(String(repeating: part, count: 1000).utf8)
        let load = try await load(
            .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 "), .send("100 OK\r\nA: "), .sendForever(block))
        #expect(load.error?.code == .badServerResponse)
        #expect(load.callCount == 0)
    }

    @Test("trailers without end are given up")
    func endlessTrailers() async throws {
        let head = ScriptedServer.head(headers: [("Transfer-Encoding", "chunked")])
        let load = try await load(.send(head), .send("0\r\n"), .sendForever(Array("X-A: b\r\n".utf8)))
        #expect(load.error?.code == .badServerResponse)
    }

    @Test("a server that says nothing more")
    func silence() async throws {
        let before = try await load(.stall) { $0.timeout = 0.3 }
        #expect(before.error?.code == .timedOut)
        #expect(before.callCount == 0)
        #expect(before.error?.reason == "127.0.0.1: nothing came for 0.3 seconds")
        let within = try await load(Self.declared, .send("hello"), .stall) { $0.timeout = 0.3 }
        #expect(within.error?.code == .timedOut)
        #expect(within.text == "hello")
    }

    @Test("a server without TLS where TLS is spoken")
    func noTLS() async throws {
        let server = try ScriptedServer { _ in [.close] }
        let load = await Load.run(.direct(), server.url("/", scheme: "https"))
        #expect(load.error?.code == .secureConnectionFailed)
        #expect(load.error?.reason.contains("127.0.0.1") == true)
    }

    @Test("a configuration that libcurl can't use")
    func badConfiguration() async throws {
        let server = try ScriptedServer { _ in [.response()] }
        let loader = CurlLoader.direct { $0.proxy = "nonsense://127.0.0.1:1" }
        #expect(await Load.run(loader, server.url("/")).error != nil)
        let noFile = CurlLoader.direct { $0.caCertificatePath = "/nonexistent/ca.pem" }
        #expect(await Load.run(noFile, server.url("/", scheme: "https")).error?.code == .secureConnectionFailed)
        #expect(server.requests.allSatisfy { $0.method == "TLS" })
    }

    @Test("a failure leaves the loader as good as before")
    func goesOn() async throws {
        let server = try ScriptedServer { request in
            request.target == "/bad" ? [.send("nonsense\r\n"), .close] : [.response(body: Array("ok".utf8))]
        }
        let loader = CurlLoader.direct()
        for _ in 0..<10 {
            #expect(await Load.run(loader, server.url("/bad")).error?.code == .badServerResponse)
            #expect(await Load.run(loader, server.url("/good")).text == "ok")
        }
    }
}
