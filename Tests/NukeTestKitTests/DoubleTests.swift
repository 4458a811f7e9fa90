import FoundationEssentials
import NukeCore
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("Test doubles", .timeLimit(.minutes(5)))
struct DoubleTests {
    /// What a load's callbacks brought.
    private final class Record: Sendable {
        struct Contents: Sendable {
            var chunks: [Data] = []
            var responses: [DataResponse] = []
            var ends: [(any Error)?] = []

            var body: Data { chunks.reduce(Data(), +) }
        }

        private let contents = Lock(Contents())
        let isOver = AsyncGate()

        var now: Contents { contents.withLock { $0 } }

        @discardableResult
        func start(_ loader: any DataLoading, _ url: String?) -> any Cancellable {
            loader.loadData(
                with: DataRequest(url: url.flatMap { URL(string: $0) }),
                didReceiveData: { data, response in
                    self.contents.withLock { contents in
                        if !data.isEmpty { contents.chunks.append(data) }
                        contents.responses.append(response)
                    }
                },
                completion: { error in
                    self.contents.withLock { $0.ends.append(error) }
                    self.isOver.open()
                })
        }
    }

    private struct Failure: Error {}

    @Test("A scripted loader answers as told, and keeps what it was asked")
    func scripted() async {
        let loader = ScriptedLoader()
        loader.answer("https://example.com/a", with: .init(chunks: [Data([1, 2]), Data([3])], error: Failure()))
        let record = Record()
        record.start(loader, "https://example.com/a")
        await record.isOver.wait()
        #expect(record.now.chunks == [Data([1, 2]), Data([3])])
        #expect(record.now.responses.first?.expectedContentLength == 3)
        #expect(record.now.ends.count == 1 && record.now.ends[0] is Failure)
        #expect(loader.transfers.map(\.request.url?.path) == ["/a"])
    }

    @Test("A suspended scripted loader sends nothing until it goes on, and nothing of what was cancelled")
    func suspended() async {
        let loader = ScriptedLoader()
        loader.isSuspended = true
        let (first, second) = (Record(), Record())
        first.start(loader, "https://example.com/a").cancel()
        second.start(loader, "https://example.com/b")
        #expect(second.now.responses.isEmpty)
        loader.isSuspended = false
        await second.isOver.wait()
        #expect(first.now.responses.isEmpty && first.now.ends.isEmpty)
        #expect(loader.cancelCount == 1)
    }

    @Test("A throttled loader brings bytes when their time has come")
    func throttled() async {
        let clock = ManualClock()
        let source = ScriptedLoader()
        source.answerEverything(with: .init(chunks: [Data(repeating: 1, count: 1500), Data(repeating: 2, count: 700)]))
        let loader = ThrottledLoader(
            source, bytesPerSecond: 1000, chunkSize: 1000, latency: .seconds(3), clock: clock)
        let record = Record()
        record.start(loader, "https://example.com/a")
        var sizes: [[Int]] = []
        // The latency, then 1,000 bytes, 500 bytes and 700 bytes; a moment before each nothing has come.
        for duration in [Duration.seconds(3), .seconds(1), .seconds(0.5), .seconds(0.7)] {
            while clock.sleeperCount == 0 { await Task.yield() }
            clock.advance(by: duration - .nanoseconds(1))
            #expect(clock.sleeperCount == 1)
            sizes.append(record.now.chunks.map(\.count))
            clock.advance(by: .nanoseconds(1))
        }
        await record.isOver.wait()
        #expect(sizes == [[], [], [1000], [1000, 500]])
        #expect(record.now.chunks.map(\.count) == [1000, 500, 700])
        #expect(record.now.body == Data(repeating: 1, count: 1500) + Data(repeating: 2, count: 700))
        #expect(clock.sleeps == [.seconds(3), .seconds(1), .seconds(0.5), .seconds(0.7)])
    }

    @Test("A throttled load that is cancelled brings nothing more, and cancels the other loader's")
    func cancelledThrottle() async {
        let (clock, source) = (ManualClock(), ScriptedLoader())
        let record = Record()
        let transfer = record.start(ThrottledLoader(source, bytesPerSecond: 1, clock: clock), "https://example.com/a")
        while clock.sleeperCount == 0 { await Task.yield() }
        transfer.cancel()
        while clock.sleeperCount > 0 { await Task.yield() }
        clock.advance(by: .seconds(1_000_000))
        #expect(record.now.chunks.isEmpty && record.now.ends.isEmpty)
        #expect(source.cancelCount == 1)
    }

    @Test("A fixture loader answers with the files of a folder")
    func fixtures() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.file("a"), withIntermediateDirectories: true)
        let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        try bytes.write(to: URL(filePath: folder.file("a/b c.png")))
        let loader = FixtureLoader(folder: folder.path, chunkSize: 300)
        let record = Record()
        record.start(loader, "https://example.com/a/b%20c.png?size=3")
        await record.isOver.wait()
        #expect(record.now.body == bytes)
        #expect(record.now.chunks.map(\.count) == [300, 300, 300, 100])
        #expect(record.now.responses.allSatisfy { $0.statusCode == 200 && $0.expectedContentLength == 1000 })
        #expect(record.now.responses.first?.mimeType == "image/png")
        #expect(record.now.ends.count == 1 && record.now.ends[0] == nil)
        #expect(loader.requests.map(\.url?.path) == ["/a/b c.png"])
    }

    @Test(
        "A fixture loader has status 404 for what is not in its folder",
        arguments: [
            "https://example.com/none.png", "https://example.com/../../etc/passwd", "https://example.com",
            "https://example.com/%2e%2e/x",
        ])
    func missingFixture(_ url: String) async throws {
        let folder = try TemporaryFolder()
        let record = Record()
        record.start(FixtureLoader(folder: folder.path), url)
        await record.isOver.wait()
        #expect(record.now.responses.map(\.statusCode) == [404])
        #expect(record.now.body.isEmpty && record.now.ends.count == 1 && record.now.ends[0] == nil)
    }

    @Test("A pipeline over a fixture loader says that the status is unacceptable")
    func fixturesInPipeline() async throws {
        let folder = try TemporaryFolder()
        let loaders = DataLoaderRegistry()
        loaders.register(FixtureLoader(folder: folder.path), for: ["https"])
        let pipeline = ImagePipeline {
            $0.dataLoaderRegistry = loaders
            $0.imageCache = nil
        }
        let url = try #require(URL(string: "https://example.com/none.png"))
        await #expect(throws: ImagePipeline.Error.self) { try await pipeline.data(for: ImageRequest(url: url)) }
    }

    @Test("A clock wakes sleepers in the order in which they went to sleep, and those who are cancelled")
    func clock() async throws {
        let clock = ManualClock()
        let early = Task { try await clock.sleep(for: .seconds(1)) }
        let late = Task { try await clock.sleep(for: .seconds(2)) }
        while clock.sleeperCount < 2 { await Task.yield() }
        clock.advance(by: .seconds(1))
        try await early.value
        #expect(clock.sleeperCount == 1)
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .seconds(1))
    }
}
