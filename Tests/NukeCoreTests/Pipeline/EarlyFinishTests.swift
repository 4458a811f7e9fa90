import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)), .holdsCodecThreads)
@ImagePipelineActor
struct EarlyFinishTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example"))
    let etag: HTTPHeaders = ["ETag": "\"1\""]

    /// A decoder that is done when 1,000 bytes are there, and counts as one that finishes early.
    private func makeTest(
        hasDataCache: Bool = false, isProgressive: Bool = false, limit: Int? = nil,
        decode: @escaping @Sendable (Data) throws -> ImageContainer?
    ) -> TestPipeline {
        let decoder = MockImageDecoder()
        decoder.decodePartially = { data, _ in try decode(data) }
        let registry = ImageDecoderRegistry()
        registry.register(
            ImageFormat(
                name: "Early", type: "org.example.early", mimeTypes: [], fileExtensions: [],
                capabilities: [.decode, .finishesEarly], sniff: { $0.starts(with: "GIF8") ? .yes : .no },
                makeDecoder: { decoder.makeSession($0) }))
        return TestPipeline(decoder: decoder, hasDataCache: hasDataCache) { configuration in
            configuration.decoderRegistry = registry
            configuration.isProgressiveDecodingEnabled = isProgressive
            configuration.progressiveDecodingInterval = 0
            configuration.maximumResponseDataSize = limit
        }
    }

    private nonisolated static let final = ImageContainer(image: .mock(width: 9))

    @Test(
        "a final image of partial data ends the load: the transfer is cancelled, nothing is stored",
        arguments: [true, false])
    func earlyFinal(isProgressive: Bool) async throws {
        let test = makeTest(hasDataCache: true, isProgressive: isProgressive) { data in
            data.count < 1000 ? nil : Self.final
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 500)
        await waitUntil { test.decoder.partialCounts == [500] }
        await download.send(upTo: 1000)
        let response = try await download.outcome().get()
        #expect(response.image.width == 9 && !response.isPreview && download.previews.isEmpty)
        #expect(download.transfer.isCancelled && test.decoder.decodeCount == 0)
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.isEmpty == true && test.pipeline.fetchDataPool.count == 0)
        #expect(test.imageCache.count == 1)
    }

    @Test("if somebody else needs the bytes the transfer goes on, and is stored")
    func sharedTransfer() async throws {
        let test = makeTest(hasDataCache: true) { $0.count < 1000 ? nil : Self.final }
        let download = await PartialDownload(test, request)
        let data = Task { try await test.pipeline.data(for: request).0.count }
        await waitUntil { test.pipeline.fetchDataPool.allNodes.map(\.imageTasks.count) == [2] }
        await download.send(upTo: 1000)
        _ = try await download.outcome().get()
        #expect(!download.transfer.isCancelled)
        await download.finish()
        #expect(try await data.value == 3000)
    }

    @Test("without previews a format that finishes early shows none")
    func noPreviews() async throws {
        let test = makeTest { _ in ImageContainer(image: .mock(), isPreview: true) }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { test.decoder.partialCounts == [1000] }
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty && test.decoder.decodeCount == 1)
    }

    @Test("data of other formats is not decoded early")
    func otherFormats() async throws {
        let test = makeTest { _ in Self.final }
        let download = await PartialDownload(test, request, body: Data(repeating: 7, count: 3000))
        await download.send(upTo: 1000)
        await download.finish()
        #expect(test.decoder.partialCounts.isEmpty)
    }

    // MARK: Ranges

    /// Answers the newest transfer with a part of the body.
    private func answer(
        _ test: TestPipeline, _ download: PartialDownload, _ range: Range<Int>,
        change: (inout DataResponse) -> Void = { _ in }
    ) async {
        var response = DataResponse(url: request.url, statusCode: 206, headers: etag)
        response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(download.body.count)"
        change(&response)
        let transfer = test.loader.transfers[test.loader.loadCount - 1]
        transfer.send(download.body[range], response)
        transfer.finish()
    }

    /// Asks for the last 100 bytes, then for 100 in the middle, and is done.
    private nonisolated static func decodeRanges(_ data: Data) throws -> ImageContainer? {
        let body = PartialDownload.gif(count: 2900) + Data(repeating: 9, count: 100)
        guard data.count == 3000 else { throw ImageDecodingError.needsRange(2900..<3000, codec: "mock") }
        #expect(data[2900...] == body[2900...] && data[..<1000] == body[..<1000] && data[2000..<2900].max() == 0)
        guard data[1500] == 7 else { throw ImageDecodingError.needsRange(900..<1600, codec: "mock") }
        #expect(data[900..<1600] == body[900..<1600])
        return final
    }

    private var body: Data { PartialDownload.gif(count: 2900) + Data(repeating: 9, count: 100) }

    @Test("ranges that a decoder asks for are loaded while the transfer pauses, and only what is missing of them")
    func ranges() async throws {
        let test = makeTest(hasDataCache: true, decode: Self.decodeRanges)
        let download = await PartialDownload(test, request, body: body, headers: etag)
        await download.send(upTo: 1000)
        await waitUntil { test.loader.loadCount == 2 }
        #expect(download.transfer.isPaused)
        #expect(test.loader.transfers[1].request.headers["Range"] == "bytes=2900-2999")
        #expect(test.loader.transfers[1].request.headers["If-Range"] == "\"1\"")
        await answer(test, download, 2900..<3000)
        await waitUntil { test.loader.loadCount == 3 }
        #expect(test.loader.transfers[2].request.headers["Range"] == "bytes=1000-1599")
        await answer(test, download, 1000..<1600)
        let response = try await download.outcome().get()
        #expect(response.image.width == 9 && download.transfer.isCancelled && test.decoder.decodeCount == 0)
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.entries.isEmpty == true)
    }

    @Test("an answer that is not the range of the same body has the whole loaded", arguments: 0..<5)
    func wrongAnswer(kind: Int) async throws {
        let test = makeTest(decode: Self.decodeRanges)
        let download = await PartialDownload(test, request, body: body, headers: etag)
        await download.send(upTo: 1000)
        await waitUntil { test.loader.loadCount == 2 }
        await answer(test, download, kind == 4 ? 2900..<2990 : 2900..<3000) { response in
            switch kind {
            case 0: response.statusCode = 200
            case 1: response.headers["ETag"] = "\"2\""
            case 2: response.headers["Content-Range"] = "bytes 2900-2999/4000"
            case 3: response.headers["Content-Range"] = nil
            default: response.headers["Content-Range"] = "bytes 2900-2999/3000"
            }
        }
        await waitUntil { !download.transfer.isPaused }
        await download.send(upTo: 2000)
        _ = try await download.finish().get()
        #expect(test.decoder.partialCounts == [1000] && test.decoder.decodeCount == 1)
    }

    @Test(
        "without a strong validator, against the server's word or beyond the limit no range is asked for",
        arguments: [
            [:], ["ETag": "W/\"1\""], ["ETag": "\"1\"", "Accept-Ranges": "none"],
            ["ETag": "\"1\"", "Content-Encoding": "gzip"], ["ETag": "\"1\"", "X-Limit": "3000"],
        ] as [HTTPHeaders])
    func noRange(headers: HTTPHeaders) async throws {
        let isLimited = headers["X-Limit"] != nil
        let test = makeTest(limit: isLimited ? 3000 : nil) { data in
            throw ImageDecodingError.needsRange(isLimited ? 900..<3001 : 2900..<3000, codec: "mock")
        }
        let download = await PartialDownload(test, request, body: body, headers: headers)
        await download.send(upTo: 1000)
        await waitUntil { test.decoder.partialCounts == [1000] }
        await download.send(upTo: 2000)
        _ = try await download.finish().get()
        #expect(test.loader.loadCount == 1 && test.decoder.partialCounts == [1000] && test.decoder.decodeCount == 1)
    }

    @Test("the limit counts what came, in order and not")
    func byteLimit() async throws {
        let loads = RangeLoads(
            loader: MockDataLoader(), request: DataRequest(url: request.url),
            response: DataResponse(url: nil, statusCode: 200, headers: etag, expectedContentLength: 9000), limit: 2000)
        var outcomes: [Bool] = []
        loads.load(8000..<9000, receivedCount: 1001, priority: .normal) { outcomes.append($0 != nil) }
        #expect(outcomes == [false] && loads.isIdle)
        loads.load(8000..<9000, receivedCount: 1000, priority: .normal) { outcomes.append($0 != nil) }
        #expect(outcomes == [false] && !loads.isIdle)
    }

    @Test("at most 8 ranges are asked for in a load, those that had come meanwhile included")
    func rangeCount() async throws {
        let test = makeTest { data in throw ImageDecodingError.needsRange(0..<900, codec: "mock") }
        let download = await PartialDownload(test, request, body: body, headers: etag)
        await download.send(upTo: 1000)
        await waitUntil { test.decoder.partialCounts.count == 9 }
        _ = try await download.finish().get()
        #expect(test.decoder.partialCounts.count == 9 && test.loader.loadCount == 1 && test.decoder.decodeCount == 1)
    }

    @Test("the end of the load stops a range that is under way", arguments: [true, false])
    func cancellation(isCancelled: Bool) async throws {
        let test = makeTest(decode: Self.decodeRanges)
        let download = await PartialDownload(test, request, body: body, headers: etag)
        await download.send(upTo: 1000)
        await waitUntil { test.loader.loadCount == 2 }
        if isCancelled { download.task.cancel() } else { await download.finish() }
        let outcome = await download.outcome()
        await waitUntil { test.loader.transfers[1].isCancelled }
        if case .failure = outcome { #expect(isCancelled) } else { #expect(!isCancelled) }
    }

    @Test("the decoder's whole data after ranges is that of the transfer")
    func wholeAfterRanges() async throws {
        let seen = Locked<Data?>(nil)
        let test = makeTest { data in
            if data.count == 3000 {
                seen.withLock { $0 = data }
                return nil
            }
            throw ImageDecodingError.needsRange(2900..<3000, codec: "mock")
        }
        let download = await PartialDownload(test, request, body: body, headers: etag)
        await download.send(upTo: 1000)
        await waitUntil { test.loader.loadCount == 2 }
        await answer(test, download, 2900..<3000)
        await waitUntil { seen.withLock { $0 } != nil }
        await download.send(upTo: 2950)
        _ = try await download.finish().get()
        let bytes = body
        #expect(test.decoder.decodeCount == 1 && test.decoder.partialCounts == [1000, 3000])
        #expect(seen.withLock { $0 } == bytes[..<1000] + Data(count: 1900) + bytes[2900...])
    }
}
