import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// The switches are the process's: events of other suites' loads are told apart by the host.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DiagnosticsTests {
    private let host = "diagnostics-\(UInt64.random(in: 0...UInt64.max)).test"

    /// Collects the events of this test's loads while `body` runs, with steps told.
    private func collect(_ body: () async throws -> Void) async rethrows -> [Diagnostics.Event] {
        let events = Locked<[Diagnostics.Event]>([])
        let host = host
        let sink = Diagnostics.sink
        Diagnostics.sink = { event in
            if case .text(let url) = event["url"], url.contains(host) { events.withLock { $0.append(event) } }
        }
        Diagnostics.isTracingEnabled = true
        defer {
            Diagnostics.isTracingEnabled = false
            Diagnostics.sink = sink
        }
        try await body()
        return events.withLock { $0 }
    }

    private func request(_ path: String = "a", _ processors: String...) -> ImageRequest {
        ImageRequest(url: URL(string: "http://\(host)/\(path)"), processors: processors.map { MockProcessor($0) })
    }

    @Test(
        "nothing is told by default; the switch works at once for pipelines that exist, and changes no result [DIA-01]")
    func switching() async throws {
        #expect(!Diagnostics.isTracingEnabled && !ImagePipeline.Configuration.isSignpostLoggingEnabled)
        let test = TestPipeline { $0.imageCache = nil }
        let plain = try await test.pipeline.imageTask(with: request("a", "p")).response
        let events = try await collect {
            #expect(ImagePipeline.Configuration.isSignpostLoggingEnabled)
            let traced = try await test.pipeline.imageTask(with: request("b", "p")).response
            #expect(traced.image.size == plain.image.size && traced.cacheType == plain.cacheType)
        }
        #expect(!events.isEmpty)
        #expect(events.allSatisfy { $0["url"] == .text("http://\(host)/b") })
        _ = try await test.pipeline.image(for: request("c"))
        #expect(!Diagnostics.isTracingEnabled)
    }

    @Test("the switch may be thrown by any thread while images load [DIA-02]")
    func togglesWhileLoading() async throws {
        let test = TestPipeline { $0.imageCache = nil }
        let sink = Diagnostics.sink
        Diagnostics.sink = { _ in }
        defer { Diagnostics.sink = sink }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask { _ = try? await test.pipeline.image(for: request("\(index)", "p")) }
                group.addTask { ImagePipeline.Configuration.isSignpostLoggingEnabled = index % 2 == 0 }
            }
        }
        ImagePipeline.Configuration.isSignpostLoggingEnabled = false
        #expect(test.decoder.decodeCount == 200)
    }

    @Test("every step is told with its name, place and outcome; those of previews have names of their own [DIA-03]")
    @ImagePipelineActor
    func steps() async throws {
        let delegate = HookedDelegate {
            $0.shouldDecompress = { _ in true }
            $0.decompress = { $0 }
        }
        let test = TestPipeline(delegate: delegate) {
            $0.isProgressiveDecodingEnabled = true
            $0.progressiveDecodingInterval = 0
        }
        test.decoder.enablePreviews()
        let events = try await collect {
            let download = await PartialDownload(test, request("a", "p"))
            await download.send(upTo: 1000)
            await waitUntil { download.previews.count == 1 }
            _ = try await download.finish().get()
            test.loader.answerEverything(with: .init(chunks: [Data(count: 10)]))
            _ = try await test.pipeline.image(for: request("plain"))
        }
        let names = events.filter { $0.level == .trace }.map(\.name)
        for name in ["data-load", "decode", "progressive-decode", "process", "progressive-process", "decompress"] {
            #expect(names.contains(name), "\(name)")
        }
        let load = try #require(events.first { $0.name == "data-load" })
        #expect(load["url"] == .text("http://\(host)/a") && load["bytes"] == .integer(3000))
        #expect(load["resumed_bytes"] == .integer(0) && load["outcome"] == .text("success"))
    }

    @Test("a load that fails or is cancelled says so [DIA-03]")
    @ImagePipelineActor
    func failedSteps() async throws {
        let test = TestPipeline()
        let events = await collect {
            test.loader.answerEverything(with: .init(chunks: [], error: DataLoadingError.badURL))
            _ = try? await test.pipeline.image(for: request("failing"))
            test.loader.answerEverything(with: nil)
            let task = test.pipeline.imageTask(with: request("cancelled"))
            await waitUntil { test.loader.loadCount == 2 }
            task.cancel()
            _ = try? await task.response
        }
        let loads = events.filter { $0.name == "data-load" }
        #expect(
            loads.map { $0["outcome"] } == [
                .text("\(ImagePipeline.Error.dataLoadingFailed(error: DataLoadingError.badURL))"), .text("cancelled"),
            ])
    }

    @Test("encoding is told as a step [DIA-03]")
    func encoding() async throws {
        let test = TestPipeline { $0.makeImageEncoder = { _ in MockEncoder() } }
        let id = host
        let events = try await collect {
            let request = ImageRequest(id: id, image: { ImageContainer(image: .mock()) })
            _ = try await test.pipeline.data(for: request)
        }
        let encode = try #require(events.first { $0.name == "encode" })
        #expect(encode["bytes"] == .integer(7) && encode["outcome"] == .text("success"))
    }

    @Test("every task is told once, as one object of JSON on one line, hits too, and without secrets of the address")
    func tasks() async throws {
        let test = TestPipeline { $0.isReportingTasks = true }
        let secret = ImageRequest(url: URL(string: "http://user:word@\(host)/a?token=word#f"))
        let events = try await collect {
            _ = try await test.pipeline.image(for: secret)
            _ = try await test.pipeline.image(for: secret)
        }
        let tasks = events.filter { $0.name == "task" }
        #expect(tasks.count == 2)
        #expect(tasks.map { $0["cache"] } == [.text("none"), .text("memory")])
        #expect(tasks[0]["outcome"] == .text("success") && tasks[0]["size"] == .text("640x480"))
        let json = tasks[0].json
        #expect(json.hasPrefix(#"{"event": "task", "id": "#) && json.hasSuffix("}"))
        #expect(json.contains("\"data-load_ms\": ") && !json.contains("word") && !json.contains("\n"))
    }

    @Test("numbers of bytes are written for people, alike for every kind of integer [DIA-04]")
    func byteCounts() {
        #expect(Diagnostics.formatted(byteCount: 0) == "0 bytes")
        #expect(Diagnostics.formatted(byteCount: 1024) == "1 KiB")
        #expect(Diagnostics.formatted(byteCount: 1_572_864) == "1.5 MiB")
        for count in [0, 1, 1023, 1024, 1 << 40, .max, .min] {
            #expect(Diagnostics.formatted(byteCount: count) == Diagnostics.formatted(byteCount: Int64(count)))
        }
    }
}
