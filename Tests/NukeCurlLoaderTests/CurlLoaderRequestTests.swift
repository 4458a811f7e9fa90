import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite("CurlLoader: what is sent", .timeLimit(.minutes(5)))
struct CurlLoaderRequestTests {
    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer { request in
            request.method == "HEAD"
                ? [.send(ScriptedServer.head(200, headers: [("Content-Length", "1000")]))]
                : [.response(body: request.body + Array("ok".utf8))]
        }
    }

    private func send(
        _ path: String = "/", _ loader: CurlLoader = .direct(), _ change: (inout DataRequest) -> Void = { _ in }
    ) async throws -> (load: Load, request: ScriptedServer.Request) {
        var request = DataRequest(url: URL(string: server.url(path)))
        change(&request)
        let load = await Load.run(loader, request)
        return (load, try #require(server.requests.last))
    }

    @Test("a GET names its agent, takes every compression and brings no cookies")
    func get() async throws {
        let (load, request) = try await send()
        #expect(load.error == nil && load.text == "ok")
        #expect(request.method == "GET" && request.target == "/")
        #expect(request.headers["Host"] == "127.0.0.1:\(server.port)")
        #expect(request.headers["User-Agent"] == "Nuke")
        #expect(request.headers["Accept-Encoding"]?.contains("gzip") == true)
        #expect(request.headers["Cookie"] == nil)
    }

    @Test("the agent can be named, or left out")
    func userAgent() async throws {
        let named = try await send("/", .direct { $0.userAgent = "kiosk/2" })
        #expect(named.request.headers["User-Agent"] == "kiosk/2")
        let own = try await send { $0.headers["user-agent"] = "mine" }
        #expect(own.request.headers.values(for: "User-Agent") == ["mine"])
        let none = try await send("/", .direct { $0.userAgent = nil })
        #expect(none.request.headers["User-Agent"] == nil)
        let broken = await Load.run(.direct { $0.userAgent = "a\r\nX-Evil: b" }, server.url("/"))
        #expect(broken.error?.reason == "the loader's userAgent holds a line break or a NUL")
        #expect(server.requests.count == 3)
    }

    @Test("header fields arrive as they were set, and not with the next request")
    func headerFields() async throws {
        let loader = CurlLoader.direct()
        let first = try await send("/", loader) { request in
            request.headers = ["Accept": "image/webp, */*;q=0.1", "X-Empty": "", "X-Two": "a"]
            request.headers.add("b", for: "X-Two")
        }
        #expect(first.request.headers.values(for: "Accept") == ["image/webp, */*;q=0.1"])
        #expect(first.request.headers.values(for: "X-Empty") == [""])
        #expect(first.request.headers.values(for: "X-Two") == ["a", "b"])
        let second = try await send("/", loader)
        #expect(second.request.headers["X-Two"] == nil)
        #expect(second.request.headers.values(for: "Accept") == ["*/*"])
        #expect(second.request.connection == first.request.connection)
    }

    @Test("nothing is sent if a field would break the head")
    func injection() async throws {
        let request = DataRequest(url: URL(string: server.url("/")))
        var evil = request
        evil.headers = ["X-Name": "a\r\nX-Evil: b"]
        let load = await Load.run(.direct(), evil)
        #expect(load.error?.code == .other)
        #expect(load.callCount == 0)
        #expect(server.requests.isEmpty)
    }

    @Test("a body is sent with its method and length", arguments: ["POST", "PUT", "PATCH", "GET", "REPORT"])
    func bodies(method: String) async throws {
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let loader = CurlLoader.direct()
        let (load, request) = try await send("/", loader) { request in
            request.method = method
            request.headers["Content-Length"] = "3"
            request.body = Data(body)
        }
        #expect(load.body == Data(body + Array("ok".utf8)))
        #expect(request.method == method && request.body == body)
        #expect(request.headers.values(for: "Content-Length") == ["100000"])
        #expect(request.headers["Content-Type"] == nil && request.headers["Expect"] == nil)
        let next = try await send("/", loader)
        #expect(next.request.method == "GET" && next.request.body.isEmpty)
    }

    @Test("methods without a body", arguments: ["POST", "DELETE", "OPTIONS"])
    func methods(method: String) async throws {
        let (load, request) = try await send { $0.method = method }
        #expect(load.error == nil && load.text == "ok")
        #expect(request.method == method && request.body.isEmpty)
    }

    @Test("HEAD brings a response and no body (pitfall 16)")
    func head() async throws {
        let loader = CurlLoader.direct()
        let (load, request) = try await send("/", loader) { $0.method = "HEAD" }
        #expect(request.method == "HEAD")
        #expect(load.error == nil && load.body.isEmpty)
        #expect(load.response?.statusCode == 200)
        #expect(load.response?.headers["Content-Length"] == "1000")
        #expect(load.response?.expectedContentLength == 0)
        #expect(try await send("/", loader).load.text == "ok")
    }

    @Test("the path goes out as the caller spelled it (pitfalls 37, 38, 50)")
    func paths() async throws {
        for path in ["/a%7Cb%41%2f?c=%20+%2B", "/%00a.png", "/?", "/a/../b/./c"] {
            let (_, request) = try await send(path)
            #expect(request.target == (path == "/a/../b/./c" ? "/b/c" : path))
        }
        #expect(try await send("/a b é.jpg#part").request.target == "/a%20b%20%C3%A9.jpg")
    }

    @Test("name and password of the URL are sent to its host, and stand in no message")
    func credentials() async throws {
        let url = "http://user:secret@127.0.0.1:\(server.port)/"
        let load = await Load.run(.direct(), url)
        #expect(load.error == nil)
        #expect(server.requests.last?.headers["Authorization"] == "Basic dXNlcjpzZWNyZXQ=")
        server.stop()
        let failed = await Load.run(.direct(), url)
        #expect(failed.error?.reason.contains("secret") == false)
    }

    @Test("a proxy of the configuration gets whole URLs, with an international host in Punycode")
    func proxy() async throws {
        let server = server
        let loader = CurlLoader.direct { $0.proxy = "http://127.0.0.1:\(server.port)" }
        for url in ["http://b%C3%BCcher.example/a", "http://bücher.example/a", "http://xn--bcher-kva.example/a"] {
            let load = await Load.run(loader, url)
            #expect(load.error == nil && load.text == "ok")
            #expect(server.requests.last?.target == "http://xn--bcher-kva.example/a")
        }
    }
}
