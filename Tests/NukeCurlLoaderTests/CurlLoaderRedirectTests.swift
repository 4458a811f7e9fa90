import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite("CurlLoader: redirects", .timeLimit(.minutes(5)))
struct CurlLoaderRedirectTests {
    /// `/N` redirects to `/N-1`, and `/0` answers.
    private func countdown() throws -> ScriptedServer {
        try ScriptedServer { request in
            guard let number = Int(request.target.dropFirst()), number > 0 else {
                return [.response(body: Array("there".utf8))]
            }
            return [.response(302, headers: [("Location", "/\(number - 1)")], body: Array("moved".utf8))]
        }
    }

    @Test("a chain is followed to its end, whose response alone is delivered [DAT-42]")
    func chain() async throws {
        let server = try countdown()
        let load = await Load.run(.direct(), server.url("/10"))
        #expect(load.error == nil && load.text == "there")
        #expect(load.response?.statusCode == 200)
        #expect(load.response?.url?.absoluteString == server.url("/0"))
        #expect(server.requests.count == 11)
        #expect(server.connectionCount == 1)
    }

    @Test("one redirect more than allowed is an error, and no response", arguments: [1, 3, 10])
    func tooMany(limit: Int) async throws {
        let server = try countdown()
        let loader = CurlLoader.direct { $0.maximumRedirectCount = limit }
        #expect(await Load.run(loader, server.url("/\(limit)")).text == "there")
        let load = await Load.run(loader, server.url("/\(limit + 1)"))
        #expect(load.error?.code == .tooManyRedirects)
        #expect(load.error?.reason.contains("127.0.0.1") == true)
        #expect(load.callCount == 0)
    }

    @Test("with a limit of 0 the redirecting response itself is delivered (pitfall 28)", arguments: [0, -1])
    func none(limit: Int) async throws {
        let server = try countdown()
        let load = await Load.run(.direct { $0.maximumRedirectCount = limit }, server.url("/5"))
        #expect(load.error == nil && load.text == "moved")
        #expect(load.response?.statusCode == 302)
        #expect(load.response?.headers["Location"] == "/4")
        #expect(server.requests.count == 1)
    }

    @Test("a redirect to itself goes round until the limit (pitfall 26)")
    func loop() async throws {
        let server = try ScriptedServer { _ in [.response(302, headers: [("Location", "/"), ("Set-Cookie", "a=b")])] }
        let load = await Load.run(.direct(), server.url("/"))
        #expect(load.error?.code == .tooManyRedirects)
        #expect(server.requests.count == 11)
        #expect(server.requests.allSatisfy { $0.headers["Cookie"] == nil })
    }

    @Test("only http and https are redirected to", arguments: ["ftp://127.0.0.1/a", "file:///etc/passwd", "data:,a"])
    func schemes(location: String) async throws {
        let server = try ScriptedServer { _ in [.response(302, headers: [("Location", location)])] }
        let load = await Load.run(.direct(), server.url("/"))
        #expect(load.error?.code == .unsupportedScheme)
        #expect(load.callCount == 0 && load.body.isEmpty)
    }

    @Test("a redirect to nowhere is an error", arguments: ["http://", "http://a b/", "http://[::zz]/"])
    func badLocation(location: String) async throws {
        let server = try ScriptedServer { _ in [.response(302, headers: [("Location", location)])] }
        let load = await Load.run(.direct(), server.url("/"))
        #expect(load.error?.code == .badURL)
    }

    @Test("a redirect to a server that does not speak HTTP is that server's fault")
    func noHTTP() async throws {
        let target = try ScriptedServer { _ in [.send("SSH-2.0-OpenSSH_9.2\r\n"), .close] }
        let server = try ScriptedServer { _ in [.response(302, headers: [("Location", target.url("/"))])] }
        let load = await Load.run(.direct(), server.url("/"))
        #expect(load.error?.code == .badServerResponse)
    }

    @Test("a redirect without a location is a response", arguments: [300, 301, 304, 307])
    func noLocation(status: Int) async throws {
        let server = try ScriptedServer { _ in [.send(ScriptedServer.head(status, headers: [("Content-Length", "0")]))]
        }
        let load = await Load.run(.direct(), server.url("/"))
        #expect(load.error == nil)
        #expect(load.response?.statusCode == status)
    }

    @Test("credentials go to no other host or port (pitfall 29)")
    func credentials() async throws {
        let target = try ScriptedServer { _ in [.response(body: Array("there".utf8))] }
        let server = try ScriptedServer { request in
            switch request.target {
            case "/same": [.response(302, headers: [("Location", "/there")])]
            case "/host":
                // The same machine and port, by another name.
                [.response(302, headers: [("Location", "http://localhost:\(request.headers["X-Port"] ?? "")/there")])]
            case "/port": [.response(302, headers: [("Location", target.url("/there"))])]
            default: [.response(body: Array("there".utf8))]
            }
        }
        for (path, isKept) in [("/same", true), ("/host", false), ("/port", false)] {
            var request = DataRequest(url: URL(string: server.url(path)))
            request.headers = ["Authorization": "Bearer secret", "Cookie": "a=secret", "X-Port": "\(server.port)"]
            let load = await Load.run(.direct(), request)
            #expect(load.error == nil && load.text == "there", "\(path): \(load)")
            let last = try #require(path == "/port" ? target.requests.last : server.requests.last)
            #expect(last.target == "/there")
            #expect((last.headers["Authorization"] != nil) == isKept, "\(path)")
            #expect((last.headers["Cookie"] != nil) == isKept, "\(path)")
            #expect(last.headers["X-Port"] != nil)
        }
    }

    @Test("a password in the URL goes to no other host or port")
    func passwordInURL() async throws {
        let target = try ScriptedServer { _ in [.response()] }
        let server = try ScriptedServer { _ in [.response(302, headers: [("Location", target.url("/"))])] }
        let load = await Load.run(.direct(), "http://user:secret@127.0.0.1:\(server.port)/")
        #expect(load.error == nil)
        #expect(server.requests.last?.headers["Authorization"] != nil)
        #expect(target.requests.last?.headers["Authorization"] == nil)
    }

    @Test("a POST becomes a GET after 303, and stays one after 307", arguments: [(303, "GET"), (307, "POST")])
    func post(status: Int, method: String) async throws {
        let server = try ScriptedServer { request in
            request.target == "/"
                ? [.response(status, headers: [("Location", "/there")])] : [.response(body: Array("there".utf8))]
        }
        var request = DataRequest(url: URL(string: server.url("/")))
        request.method = "POST"
        request.body = Data([1, 2, 3])
        let load = await Load.run(.direct(), request)
        #expect(load.error == nil && load.text == "there")
        #expect(server.requests.last?.method == method)
        #expect(server.requests.last?.body == (method == "POST" ? [1, 2, 3] : []))
    }

    @Test("methods that do something are not redirected", arguments: ["PUT", "DELETE"])
    func otherMethods(method: String) async throws {
        let server = try countdown()
        var request = DataRequest(url: URL(string: server.url("/1")))
        request.method = method
        let load = await Load.run(.direct(), request)
        #expect(load.error == nil && load.response?.statusCode == 302)
        #expect(server.requests.count == 1)
    }

    @Test("HEAD is redirected as HEAD")
    func head() async throws {
        let server = try ScriptedServer { request in
            let location = request.target == "/" ? [("Location", "/there")] : []
            return [
                .send(ScriptedServer.head(location.isEmpty ? 200 : 301, headers: location + [("Content-Length", "9")]))
            ]
        }
        var request = DataRequest(url: URL(string: server.url("/")))
        request.method = "HEAD"
        let load = await Load.run(.direct(), request)
        #expect(load.error == nil && load.response?.statusCode == 200)
        #expect(server.requests.map(\.method) == ["HEAD", "HEAD"])
    }
}
