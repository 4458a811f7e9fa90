import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

/// Addresses that look as if they were of a format that finishes early: the first megabyte is asked for alone.
@Suite(.timeLimit(.minutes(5)))
@ImagePipelineActor
struct HeadRequestTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.EARLY?a=b"))
    let body = PartialDownload.gif(count: 1 << 20) + Data(repeating: 9, count: 1000)

    /// A decoder that is done when so many bytes are there, or only with all of them.
    private func makeTest(needed: Int?, hasDataCache: Bool = false) -> TestPipeline {
        let decoder = MockImageDecoder()
        decoder.decodePartially = { data, _ in
            needed.map { data.count >= $0 } == true ? ImageContainer(image: .mock(width: 9)) : nil
        }
        let registry = ImageDecoderRegistry()
        registry.register(
            ImageFormat(
                name: "Early", type: "org.example.early", mimeTypes: [], fileExtensions: ["early"],
                capabilities: [.decode, .finishesEarly], sniff: { $0.starts(with: "GIF8") ? .yes : .no },
                makeDecoder: { decoder.makeSession($0) }))
        let test = TestPipeline(decoder: decoder, hasDataCache: hasDataCache) { $0.decoderRegistry = registry }
        test.loader.answerEverything(with: nil)
        return test
    }

    private func response(_ range: Range<Int>, etag: String? = "\"1\"") -> DataResponse {
        var headers: HTTPHeaders = ["Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"]
        headers["ETag"] = etag
        return DataResponse(
            url: request.url, statusCode: 206, headers: headers, expectedContentLength: Int64(range.count))
    }

    /// Waits for a transfer.
    private func transfer(_ number: Int, of test: TestPipeline) async -> MockTransfer {
        await waitUntil { test.loader.loadCount > number }
        return test.loader.transfers[number]
    }

    private func sendHead(_ transfer: MockTransfer, etag: String? = "\"1\"") {
        transfer.send(body.prefix(1 << 20), response(0..<1 << 20, etag: etag))
        transfer.finish()
    }

    @Test("where the head is enough nothing more is asked for, and the response is that of the whole")
    func headAlone() async throws {
        let test = makeTest(needed: 1000)
        let task = test.pipeline.imageTask(with: request)
        let transfer = await transfer(0, of: test)
        #expect(transfer.request.headers["Range"] == "bytes=0-1048575")
        transfer.send(body.prefix(2000), response(0..<1 << 20))
        let image = try await task.response
        #expect(image.image.width == 9 && task.status.progress.total == Int64(body.count))
        #expect(image.dataResponse?.statusCode == 200 && image.dataResponse?.headers["Content-Range"] == nil)
        #expect(transfer.isCancelled && test.loader.loadCount == 1)
    }

    @Test("where it is not, the rest is asked for, and the whole is decoded and stored")
    func rest() async throws {
        let test = makeTest(needed: nil, hasDataCache: true)
        let task = test.pipeline.imageTask(with: request)
        sendHead(await transfer(0, of: test))
        let transfer = await transfer(1, of: test)
        #expect(transfer.request.headers["Range"] == "bytes=1048576-\(body.count - 1)")
        #expect(transfer.request.headers["If-Range"] == "\"1\"")
        transfer.send(body.suffix(1000), response(1 << 20..<body.count))
        transfer.finish()
        _ = try await task.response
        #expect(test.decoder.decodeCount == 1 && test.loader.loadCount == 2)
        await test.pipeline.dataStores.completion()
        #expect(test.pipeline.cache.cachedData(for: request) == body)
    }

    @Test("while the head is looked at the rest waits; somebody who needs all of it gets it after that")
    func sharedTransfer() async throws {
        let test = makeTest(needed: 1 << 20)
        let task = test.pipeline.imageTask(with: request)
        let first = await transfer(0, of: test)
        async let data = test.pipeline.data(for: request).0
        await waitUntil { test.pipeline.fetchDataPool.allNodes.map(\.imageTasks.count) == [2] }
        sendHead(first)
        #expect(try await task.response.image.width == 9)
        let second = await transfer(1, of: test)
        second.send(body.suffix(1000), response(1 << 20..<body.count))
        second.finish()
        #expect(try await data == body)
    }

    @Test("a server that sends the whole is let do so")
    func whole() async throws {
        let test = makeTest(needed: nil)
        let task = test.pipeline.imageTask(with: request)
        let transfer = await transfer(0, of: test)
        let response = DataResponse(url: request.url, statusCode: 200, expectedContentLength: Int64(body.count))
        transfer.send(body.prefix(1 << 20), response)
        transfer.send(body.suffix(1000), response)
        transfer.finish()
        _ = try await task.response
        #expect(test.loader.loadCount == 1 && test.decoder.decodeCount == 1)
    }

    @Test("what is no beginning of a body of which the rest can be had is loaded again whole", arguments: 0..<4)
    func restart(kind: Int) async throws {
        let test = makeTest(needed: nil)
        let task = test.pipeline.imageTask(with: request)
        let first = await transfer(0, of: test)
        switch kind {
        case 0: sendHead(first, etag: nil)
        case 1: sendHead(first, etag: "W/\"1\"")
        case 2: first.send(Data("no".utf8), DataResponse(url: request.url, statusCode: 416))
        default:
            sendHead(first)
            let rest = await transfer(1, of: test)
            rest.send(body.suffix(1000), response(1 << 20..<body.count, etag: "\"2\""))
        }
        let again = await transfer(kind < 3 ? 1 : 2, of: test)
        #expect(again.request.headers["Range"] == nil && again.request.headers["If-Range"] == nil)
        let response = DataResponse(url: request.url, statusCode: 200, expectedContentLength: Int64(body.count))
        again.send(body, response)
        again.finish()
        _ = try await task.response
        #expect(test.decoder.decodeCount == 1)
    }

    @Test(
        "a range that is none is no beginning of anything",
        arguments: [
            "bytes 0-9223372036854775807/9223372036854775807", "bytes 0-9223372036854775807/5", "bytes 0--1/0",
            "bytes 0--6/-5", "bytes 0-1048575/-9223372036854775808", "bytes 0-1048575/*", "bytes 0-", "bytes 0-5",
        ])
    func noRange(field: String) throws {
        let early = ImageFormat(
            name: "Early", type: "org.example.early", mimeTypes: [], fileExtensions: ["early"],
            capabilities: [.decode, .finishesEarly], sniff: { _ in .no })
        let head = try #require(HeadRequest(of: DataRequest(url: request.url), formats: [early]))
        let headers: HTTPHeaders = ["Content-Range": field, "ETag": "\"1\""]
        #expect(head.whole(DataResponse(url: nil, statusCode: 206, headers: headers)) == nil)
    }

    @Test("a small file comes with one request, and needs no validator")
    func small() async throws {
        let test = makeTest(needed: nil)
        let task = test.pipeline.imageTask(with: request)
        let transfer = await transfer(0, of: test)
        let data = PartialDownload.gif(count: 500)
        transfer.send(
            data,
            DataResponse(
                url: nil, statusCode: 206, headers: ["Content-Range": "bytes 0-499/500"], expectedContentLength: 500))
        transfer.finish()
        _ = try await task.response
        #expect(test.loader.loadCount == 1 && test.decoder.decodeCount == 1)
    }

    @Test("data tasks, other addresses, methods and requests with a range of their own ask as they did")
    func others() async throws {
        let test = makeTest(needed: nil)
        var requests = [request, ImageRequest(url: URL(string: "http://test.com/a.png?x.early"))]
        var own = DataRequest(url: request.url)
        own.headers["Range"] = "bytes=5-"
        requests.append(ImageRequest(dataRequest: own))
        own.headers["Range"] = nil
        own.method = "POST"
        requests.append(ImageRequest(dataRequest: own))
        for (index, request) in requests.enumerated() {
            let task = index == 0 ? nil : test.pipeline.imageTask(with: request)
            let data = index == 0 ? Task { try await test.pipeline.data(for: request) } : nil
            let transfer = await transfer(index, of: test)
            #expect(transfer.request.headers["Range"] == (index == 2 ? "bytes=5-" : nil))
            task?.cancel()
            data?.cancel()
        }
    }
}
