import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)), .holdsCodecThreads)
struct LocalResourceTests {
    private func parse(_ url: String) throws -> (String, String) {
        let (data, type) = try DataURL.parse(url)
        return (String(decoding: data, as: UTF8.self), type)
    }

    @Test(
        "data URLs in all their forms, parsed by hand (RFC 2397) [LOC-05]",
        arguments: [
            ("data:,A%20brief%20note", "A brief note", "text/plain;charset=US-ASCII"),
            ("data:text/html,<p>", "<p>", "text/html"),
            ("DATA:text/plain;charset=utf-8;base64,aGVsbG8=", "hello", "text/plain;charset=utf-8"),
            ("data:;base64,aGVsbG8", "hello", "text/plain;charset=US-ASCII"),
            ("data:;charset=x,a", "a", "text/plain;charset=x"),
            ("data:;base64,aGVs%62G8%3D", "hello", "text/plain;charset=US-ASCII"),
            ("data:image/png;base64, aGVs\n bG8=", "hello", "image/png"),
            ("data:;BASE64,Pj4-Pz8_", ">>>???", "text/plain;charset=US-ASCII"),
            ("data:;base64,Pj4+Pz8/", ">>>???", "text/plain;charset=US-ASCII"),
            ("data:,a#fragment", "a", "text/plain;charset=US-ASCII"),
            ("data:,a,b", "a,b", "text/plain;charset=US-ASCII"),
            ("data:,", "", "text/plain;charset=US-ASCII"), ("data:;base64,YQ==", "a", "text/plain;charset=US-ASCII"),
        ])
    func dataURLs(url: String, text: String, type: String) throws {
        let parsed = try parse(url)
        #expect(parsed.0 == text && parsed.1 == type)
    }

    @Test(
        "malformed data URLs are typed errors",
        arguments: [
            "data:", "data:text/plain", "data:;base64,a", "data:;base64,a===", "data:;base64,aGVsbG8==",
            "data:;base64,aG*s", "data:,%4", "data:,%zz", "data:;base64,YQ=a", "date:,a", "",
        ])
    func malformed(url: String) {
        let error = #expect(throws: DataLoadingError.self) { try DataURL.parse(url) }
        #expect(error?.code == .malformedDataURL)
    }

    @Test("only file and data URLs are local, in any letter case [LOC-02]")
    func schemes() {
        for text in ["file:///a", "FILE:///a", "data:,a", "Data:,a"] {
            #expect(URL(string: text).flatMap { LocalResource($0) } != nil)
        }
        for text in ["http://a/b", "https://a", "ftp://a", "filesystem:a", "database:a", "/a", "//a/b"] {
            #expect(URL(string: text).flatMap { LocalResource($0) } == nil)
        }
    }

    /// A folder that is gone at the end.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/nuke-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    @Test(
        "file names are decoded once, as bytes [PITFALLS 40, 41, 43, 44]",
        arguments: [
            ("a b#.png", "a%20b%23.png"), ("a%41.png", "a%2541.png"), ("100%.png", "100%25.png"),
            ("ß.png", "%C3%9F.png"),
            ("é€.png", "é€.png"),
        ])
    func fileNames(name: String, escaped: String) async throws {
        try await withFolder { folder in
            try Data("content".utf8).write(to: URL(filePath: folder + "/" + name))
            let test = TestPipeline()
            let data = try await test.pipeline.data(for: ImageRequest(url: URL(string: "file://\(folder)/\(escaped)")))
                .0
            #expect(data == Data("content".utf8) && test.loader.loadCount == 0)
        }
    }

    @Test("a missing file, a folder, a NUL and another host are typed errors that say so [LOC-03] [PITFALLS 50]")
    func unreadable() async throws {
        try await withFolder { folder in
            let cases: [(String, DataLoadingError.Code)] = [
                ("file://\(folder)/missing", .fileNotFound), ("file://\(folder)", .fileUnreadable),
                ("file://\(folder)/a%00b", .fileUnreadable), ("file://elsewhere/a", .fileUnreadable),
                ("file:///dev/null", .fileUnreadable),
            ]
            for (url, code) in cases {
                let error = await #expect(throws: ImagePipeline.Error.self) {
                    try await TestPipeline().pipeline.data(for: ImageRequest(url: URL(string: url)))
                }
                #expect((error?.dataLoadingError as? DataLoadingError)?.code == code)
            }
        }
    }

    @Test("the byte limit and the empty check hold for local resources too [LOC-11] [DAT-27]")
    func limits() async throws {
        try await withFolder { folder in
            try Data(count: 100).write(to: URL(filePath: folder + "/hundred"))
            try Data().write(to: URL(filePath: folder + "/empty"))
            let test = TestPipeline { $0.maximumResponseDataSize = 99 }
            for url in ["file://\(folder)/hundred", "data:,\(String(repeating: "a", count: 100))"] {
                let error = await #expect(throws: ImagePipeline.Error.self) {
                    try await test.pipeline.data(for: ImageRequest(url: URL(string: url)))
                }
                guard case .dataDownloadExceededMaximumSize? = error else {
                    Issue.record("not too large: \(url)")
                    return
                }
            }
            for url in ["file://\(folder)/empty", "data:,"] {
                let error = await #expect(throws: ImagePipeline.Error.self) {
                    try await test.pipeline.data(for: ImageRequest(url: URL(string: url)))
                }
                guard case .dataIsEmpty? = error else {
                    Issue.record("not empty: \(url)")
                    return
                }
            }
        }
    }

    @Test("with local resources off, the loader is asked [LOC-06]")
    func supportOff() async throws {
        let test = TestPipeline(hasDataCache: true) { $0.isLocalResourcesSupportEnabled = false }
        _ = try await test.pipeline.image(for: ImageRequest(url: URL(string: "data:,a")))
        await test.pipeline.dataStores.completion()
        #expect(test.loader.loadCount == 1 && test.dataCache?.writeCount == 0)
    }

    // MARK: In a pipeline

    @Test("local URLs, in any letter case, need no loader, no turn and no slot [LOC-01]")
    func noLoader() async throws {
        try await withFolder { folder in
            try Data("content".utf8).write(to: URL(filePath: folder + "/a"))
            let clock = TestClock()
            let test = TestPipeline {
                $0.isRateLimiterEnabled = true
                $0.clock = clock
                $0.dataLoadingQueue.isSuspended = true
            }
            for _ in 0..<25 { await test.pipeline.rateLimiter?.execute { true } }
            for url in ["file://\(folder)/a", "FILE://\(folder)/a", "data:,a", "DATA:,a"] {
                _ = try await test.pipeline.data(for: ImageRequest(url: URL(string: url)))
            }
            #expect(test.loader.loadCount == 0 && clock.sleeps.isEmpty)
        }
    }

    @Test("malformed base64 fails the load [LOC-04]")
    func malformedBase64() async {
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await TestPipeline().pipeline.image(for: "data:;base64,aG*s")
        }
        #expect((error?.dataLoadingError as? DataLoadingError)?.code == .malformedDataURL)
    }

    @Test("local data is never copied to disk [LOC-07]")
    func notStored() async throws {
        try await withFolder { folder in
            try Data("content".utf8).write(to: URL(filePath: folder + "/a"))
            let test = TestPipeline(hasDataCache: true)
            for url in ["file://\(folder)/a", "data:,a"] {
                _ = try await test.pipeline.image(for: ImageRequest(url: URL(string: url)))
                _ = try await test.pipeline.data(for: ImageRequest(url: URL(string: url)))
            }
            await test.pipeline.finishDataStores()
            #expect(test.dataCache?.writeCount == 0)
        }
    }

    @Test("local images are merged, made small, processed and kept in memory like others [LOC-08]")
    func asUsual() async throws {
        let gate = ThreadGate()
        let counter = MockProcessor.Counter()
        let test = TestPipeline(decoder: MockImageDecoder(willDecode: { gate.wait() }))
        var request: ImageRequest = "data:,a"
        request.thumbnail = .init(maxPixelSize: 64)
        request.processors = [MockProcessor("p", counter: counter)]
        let tasks = (0..<2).map { _ in test.pipeline.imageTask(with: request) }
        await waitUntil { test.pipeline.taskCount == 2 }
        gate.open()
        for task in tasks {
            let image = try await task.image
            #expect(image.width == 64 && image.height == 48)
        }
        #expect(test.decoder.decodeCount == 1 && counter.total == 1)
        #expect(test.imageCache[ImageCacheKey(request: request)] != nil)
    }

    @Test("a file that is slow to read holds up nothing but itself [LOC-09]")
    func readOffActor() async throws {
        try await withFolder { folder in
            try Data("content".utf8).write(to: URL(filePath: folder + "/a"))
            let gate = ThreadGate()
            let blocked = Locked(0)
            for _ in 0..<CodecThreads.disk.count {
                CodecThreads.disk.enqueue(priority: .veryHigh) {
                    blocked.withLock { $0 += 1 }
                    gate.wait()
                }
            }
            await waitUntil { blocked.withLock { $0 } == CodecThreads.disk.count }
            let test = TestPipeline()
            let slow = test.pipeline.imageTask(with: ImageRequest(url: URL(string: "file://\(folder)/a")))
            await waitUntil { test.pipeline.taskCount == 1 }
            _ = try await test.pipeline.image(for: "http://test.com/a")
            #expect(slow.status.result == nil)
            gate.open()
            _ = try await slow.image
        }
    }

    @Test("where caches only are allowed, a local file is not read [LOC-10]")
    func cacheOnly() async {
        let request = ImageRequest(url: URL(string: "file:///missing"), options: [.returnCacheDataDontLoad])
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await TestPipeline().pipeline.image(for: request)
        }
        guard case .dataMissingInCache? = error else {
            Issue.record("not missing: \(String(describing: error))")
            return
        }
    }
}
