import FoundationEssentials
import NukeCore
import NukeCurlLoader
import NukeTestSupport
import Testing

@Suite(
    "CurlLoader: nginx", .enabled(if: NginxServer.current != nil, "NUKE_TEST_HTTP names no server"),
    .timeLimit(.minutes(5)))
struct NginxTests {
    private let server: NginxServer
    private let loader: CurlLoader

    init() throws {
        let server = try #require(NginxServer.current)
        self.server = server
        loader = .direct { $0.caCertificatePath = server.certificatePath }
    }

    private func load(
        _ url: URL?, _ loader: CurlLoader? = nil, _ change: (inout DataRequest) -> Void = { _ in }
    ) async -> Load {
        var request = DataRequest(url: url)
        change(&request)
        return await Load.run(loader ?? self.loader, request)
    }

    @Test("files arrive whole, with their type and length")
    func files() async throws {
        let entries = try Fixture.manifest()
        #expect(!entries.isEmpty)
        for entry in entries {
            let load = await load(server.url(entry.path))
            // FoundationEssentials leaks a page for every empty file that it reads.
            let data = load.body.isEmpty ? Data() : try Fixture.data(entry.path)
            #expect(load.error == nil && load.body == data, "\(entry.path)")
            // nginx tells the length of an empty file too.
            #expect(load.response?.expectedContentLength == Int64(data.count), "\(entry.path)")
        }
        #expect(await load(server.url("jpeg/gen-420.jpg")).response?.mimeType == "image/jpeg")
    }

    @Test("what is not there is a response too")
    func notFound() async {
        let load = await load(server.url("nothing.jpg"))
        #expect(load.error == nil && load.response?.statusCode == 404)
        #expect(load.text.contains("404"))
    }

    @Test("a compressed file arrives plain (pitfall 10)")
    func compressed() async throws {
        let load = await load(server.url("MANIFEST.json"))
        #expect(load.response?.headers["Content-Encoding"] == "gzip")
        #expect(load.response?.expectedContentLength == -1)
        #expect(load.error == nil)
        let plain = try Fixture.data("MANIFEST.json")
        #expect(load.body == plain)
    }

    @Test("a part of a file arrives as it is; a revalidated one brings no body")
    func rangesAndValidators() async throws {
        let whole = try Fixture.data("MANIFEST.json")
        let part = await load(server.url("MANIFEST.json")) { $0.headers["Range"] = "bytes=100-199" }
        #expect(part.response?.statusCode == 206)
        #expect(part.response?.headers["Content-Range"] == "bytes 100-199/\(whole.count)")
        #expect(part.body == whole[100..<200])
        let tag = await load(server.url("jpeg/gen-420.jpg")).response?.headers["ETag"]
        let same = await load(server.url("jpeg/gen-420.jpg")) { $0.headers["If-None-Match"] = tag }
        #expect(same.error == nil && same.response?.statusCode == 304 && same.body.isEmpty)
    }

    @Test("HTTP/2 carries many loads on one connection")
    func multiplexed() async throws {
        let loads = (0..<100).map { _ in PendingLoad() }
        for (number, pending) in loads.enumerated() {
            pending.start(loader, DataRequest(url: server.secureURL("request?\(number)")))
        }
        var connections: Set<String> = []
        for pending in loads {
            let load = await pending.end()
            let lines = load.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(load.error == nil && lines.first == "HTTP/2.0")
            connections.insert(lines.count > 1 ? String(lines[1]) : "")
        }
        #expect(connections.count == 1)
    }

    @Test("HTTP/2 can be left out")
    func notMultiplexed() async throws {
        let server = server
        let loader = CurlLoader.direct { configuration in
            configuration.caCertificatePath = server.certificatePath
            configuration.isHTTP2Enabled = false
        }
        let load = await load(server.secureURL("request"), loader)
        #expect(load.text.hasPrefix("HTTP/1.1\n"))
    }

    @Test("big and small bodies come through HTTP/2, with priorities and pauses")
    func multiplexedBodies() async throws {
        let paths = ["MANIFEST.json", "png/gen-rgb16.png", "jpeg/gen-420.jpg", "png/gen-1x1.png"]
        let loads = (0..<60).map { _ in PendingLoad() }
        for (number, pending) in loads.enumerated() {
            let handle = pending.start(loader, DataRequest(url: server.secureURL(paths[number % 4])))
            let transfer = try #require(handle as? any DataTransfer)
            transfer.priority = ImageRequest.Priority.allCases[number % 5]
            if number.isMultiple(of: 7) {
                transfer.pause()
                Task { transfer.resume() }
            }
        }
        for (number, pending) in loads.enumerated() {
            let load = await pending.end()
            let file = try Fixture.data(paths[number % 4])
            #expect(load.error == nil && load.body == file)
        }
    }

    @Test("cancelling one stream leaves the others of its connection alone")
    func cancelStream() async throws {
        let first = PendingLoad()
        let transfer = first.start(loader, DataRequest(url: server.secureURL("slow/endless.bin")))
        await first.received(0)
        let others = (0..<10).map { _ in PendingLoad() }
        for other in others { other.start(loader, DataRequest(url: server.secureURL("request"))) }
        transfer.cancel()
        for other in others { #expect(await other.end().error == nil) }
        #expect(!first.isOver, "\(first.load)")
    }

    @Test("a certificate that nobody vouches for is refused")
    func unknownCertificate() async {
        let load = await load(server.secureURL("jpeg/gen-420.jpg"), .direct())
        #expect(load.error?.code == .secureConnectionFailed)
        #expect(load.error?.reason.contains("127.0.0.1") == true)
        #expect(load.callCount == 0)
    }

    @Test("redirects are followed from http to https, without the credentials (pitfall 29)")
    func redirectToHTTPS() async throws {
        let load = await load(server.url("to-https/request")) { request in
            request.headers = ["Authorization": "Bearer secret", "Cookie": "a=secret"]
        }
        #expect(load.error == nil)
        let lines = load.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "HTTP/2.0" && lines.dropFirst(2).allSatisfy(\.isEmpty))
        #expect(load.response?.url == server.secureURL("request"))
        let kept = await self.load(server.url("redirect/request")) { $0.headers = ["Authorization": "Bearer a"] }
        #expect(kept.text.contains("Bearer a"))
        #expect(await self.load(server.url("redirect-loop")).error?.code == .tooManyRedirects)
    }
}
