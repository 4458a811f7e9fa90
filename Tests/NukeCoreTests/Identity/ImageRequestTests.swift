import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ImageRequestTests {
    let url = URL(string: "http://test.com/example.jpeg")

    @Test("a request with just a URL has the defaults [REQ-01]")
    func defaults() {
        let request = ImageRequest(url: url)
        #expect(request.processors.isEmpty && request.priority == .normal && request.options == [])
        #expect(request.scale == 1 && request.thumbnail == nil && request.userInfo.isEmpty)
        #expect(request.imageID == "http://test.com/example.jpeg" && request.url == url)
    }

    @Test("a request without a URL is a value, and loading it fails with a bad URL [REQ-02]")
    func nilURL() async {
        let request = ImageRequest(url: nil)
        #expect(request.url == nil && request.dataRequest?.url == nil && request.imageID == nil)
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await TestPipeline().pipeline.image(for: request)
        }
        #expect(error?.dataLoadingError as? DataLoadingError == .badURL)
    }

    @Test("a request made of a data request returns it unchanged [REQ-03]")
    func dataRequest() {
        var dataRequest = DataRequest(url: url)
        dataRequest.timeout = 5
        dataRequest.headers = ["Accept": "image/webp"]
        let request = ImageRequest(dataRequest: dataRequest)
        #expect(request.url == url && request.dataRequest == dataRequest)
    }

    @Test("a data request without a URL fails with a bad URL when loaded [REQ-04]")
    func dataRequestWithoutURL() async {
        let request = ImageRequest(dataRequest: DataRequest(url: nil))
        let error = await #expect(throws: ImagePipeline.Error.self) {
            try await TestPipeline().pipeline.image(for: request)
        }
        #expect(error?.dataLoadingError as? DataLoadingError == .badURL)
    }

    @Test("a URL's data request has the default policy and timeout [REQ-05]")
    func synthesisedDataRequest() {
        let dataRequest = ImageRequest(url: url).dataRequest
        #expect(dataRequest == DataRequest(url: url))
        #expect(dataRequest?.cachePolicy == .useProtocolCachePolicy && dataRequest?.timeout == 60)
        #expect(dataRequest?.method == "GET")
    }

    @Test("a data closure runs when the pipeline needs it, not before [REQ-06]")
    func dataClosure() async throws {
        let calls = Lock(0)
        let request = ImageRequest(
            id: "photo",
            data: {
                calls.withLock { $0 += 1 }
                return Data([1])
            })
        #expect(request.url == nil && request.dataRequest == nil && request.imageID == "photo")
        #expect(calls.withLock { $0 } == 0)
        _ = try await TestPipeline().pipeline.image(for: request)
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("an image closure needs no decoder, and nothing of it is stored as data [REQ-07]")
    func imageClosure() async throws {
        let image = Bitmap.mock()
        let request = ImageRequest(id: "photo", image: { ImageContainer(image: image) })
        #expect(request.url == nil && request.dataRequest == nil && request.imageID == "photo")
        let test = TestPipeline(hasDataCache: true)
        #expect(try await test.pipeline.image(for: request) === image)
        #expect(test.decoder.decodeCount == 0 && test.dataCache?.writeCount == 0 && test.loader.loadCount == 0)
    }

    @Test("a string literal is its URL; one that is none fails each time, without harm [REQ-08]")
    func stringLiteral() async throws {
        let request: ImageRequest = "http://test.com/example.jpeg"
        #expect(request.url == url)
        let invalid: ImageRequest = ""
        #expect(invalid.url == nil)
        let test = TestPipeline()
        for _ in 0..<3 {
            let error = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: invalid) }
            #expect(error?.dataLoadingError as? DataLoadingError == .badURL)
        }
        _ = try await test.pipeline.image(for: request)
    }

    @Test("illegal characters of a literal are escaped once, existing escapes stay")
    func literalEscapes() {
        let request: ImageRequest = "http://h/a b%20é|c.jpg"
        #expect(request.imageID == "http://h/a%20b%20%C3%A9%7Cc.jpg")
        let percent: ImageRequest = "http://h/100%.jpg"
        #expect(percent.imageID == "http://h/100%25.jpg")
    }

    @Test("an image ID overrides the default, and nil restores it [REQ-09]")
    func imageID() {
        var request = ImageRequest(url: url)
        request.imageID = "other"
        #expect(request.imageID == "other")
        request.imageID = nil
        #expect(request.imageID == "http://test.com/example.jpeg")
    }

    @Test("changing a copy leaves the original as it is [REQ-10]")
    func copyOnWrite() {
        let original = ImageRequest(url: url)
        var copy = original
        copy.options = [.disableDiskCache]
        copy.userInfo = ["key": 1]
        copy.processors = [MockProcessor("1")]
        copy.priority = .high
        copy.scale = 2
        copy.thumbnail = .init(maxPixelSize: 40)
        copy.imageID = "id"
        #expect(original.options == [] && original.userInfo.isEmpty && original.processors.isEmpty)
        #expect(original.priority == .normal && original.scale == 1 && original.thumbnail == nil)
        #expect(original.imageID == "http://test.com/example.jpeg")
        #expect(copy.options == [.disableDiskCache] && copy.userInfo["key"] as? Int == 1)
        #expect(copy.processors.count == 1 && copy.priority == .high && copy.scale == 2 && copy.imageID == "id")
    }

    @Test("user info that was never set is empty [REQ-11]")
    func userInfo() { #expect(ImageRequest(url: url).userInfo.isEmpty) }

    @Test("user info keys are equal by their text, and literals are keys [REQ-12]")
    func userInfoKeys() {
        let key: ImageRequest.UserInfoKey = "a"
        #expect(key == ImageRequest.UserInfoKey("a") && key.rawValue == "a" && key != "b")
        #expect(Set([key, "a", "b"]).count == 2)
    }

    @Test("there are five priorities, in order [REQ-13]")
    func priorities() {
        let all = ImageRequest.Priority.allCases
        #expect(all == [.veryLow, .low, .normal, .high, .veryHigh])
        #expect(all.map(\.rawValue) == [0, 1, 2, 3, 4] && all == all.sorted())
    }

    @Test("options are independent bits of a 16-bit set [REQ-14]")
    func optionBits() {
        let options: [ImageRequest.Options] = [
            .disableMemoryCacheReads, .disableMemoryCacheWrites, .disableDiskCacheReads, .disableDiskCacheWrites,
            .returnCacheDataDontLoad, .skipDecompression, .skipDataLoadingQueue, .preserveBitDepth,
        ]
        var union: UInt16 = 0
        for option in options {
            #expect(option.rawValue.nonzeroBitCount == 1 && union & option.rawValue == 0)
            union |= option.rawValue
        }
    }

    @Test("the combined options are made of the single ones [REQ-15]")
    func combinedOptions() {
        #expect(ImageRequest.Options.disableMemoryCache == [.disableMemoryCacheReads, .disableMemoryCacheWrites])
        #expect(ImageRequest.Options.disableDiskCache == [.disableDiskCacheReads, .disableDiskCacheWrites])
        #expect(ImageRequest.Options.reloadIgnoringCachedData == [.disableMemoryCacheReads, .disableDiskCacheReads])
    }

    @Test("reloading leaves the HTTP cache policy to the data request [REQ-16]")
    func reload() async throws {
        let test = TestPipeline()
        _ = try await test.pipeline.image(for: ImageRequest(url: url, options: [.reloadIgnoringCachedData]))
        #expect(test.loader.transfers[0].request.cachePolicy == .useProtocolCachePolicy)
        var dataRequest = DataRequest(url: url)
        dataRequest.cachePolicy = .reloadIgnoringLocalCacheData
        let request = ImageRequest(dataRequest: dataRequest, options: [.reloadIgnoringCachedData])
        _ = try await test.pipeline.image(for: request)
        #expect(test.loader.transfers[1].request.cachePolicy == .reloadIgnoringLocalCacheData)
    }

    @Test("scale is kept in single precision [REQ-39]")
    func scale() {
        var request = ImageRequest(url: url)
        request.scale = 7
        #expect(request.scale == 7)
        request.scale = 0.1
        #expect(request.scale == Double(Float(0.1)))
    }

    @Test("the description shows resource, priority, processors, options and user info [REQ-37]")
    func description() {
        var request = ImageRequest(
            url: url, processors: [.resize(width: 100)], priority: .high, options: [.disableDiskCache])
        request.userInfo = ["key": 1]
        let text = "\(request)"
        #expect(text.hasPrefix("ImageRequest("))
        for part in ["http://test.com/example.jpeg", "high", "Resize(", "disableDiskCacheReads", "key"] {
            #expect(text.contains(part))
        }
        let closures = [
            ImageRequest(id: "a", data: { Data() }), ImageRequest(id: "a", image: { throw CancellationError() }),
        ]
        #expect(closures.allSatisfy { "\($0)".contains("<closure>") })
        #expect("\(ImageRequest(url: nil))".contains("nil"))
    }

    @Test("the description shows no header value")
    func descriptionHidesHeaders() {
        var dataRequest = DataRequest(url: url)
        dataRequest.headers["Authorization"] = "Bearer secret"
        #expect(!"\(ImageRequest(dataRequest: dataRequest))".contains("secret"))
    }
}
