import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct RequestIdentityTests {
    let url = URL(string: "http://test.com/example.jpeg")

    private func key(_ request: ImageRequest) -> ImageCacheKey { ImageCacheKey(request: request) }

    private func loadKey(_ request: ImageRequest) -> LoadImageKey {
        LoadImageKey(request, hintedBy: request.hintingProcessor)
    }

    private func originalKey(_ request: ImageRequest) -> OriginalImageKey {
        OriginalImageKey(request, hintedBy: request.hintingProcessor)
    }

    private func request(_ headers: HTTPHeaders = [:], method: String = "GET", body: Data? = nil) -> ImageRequest {
        var dataRequest = DataRequest(url: url)
        dataRequest.headers = headers
        dataRequest.method = method
        dataRequest.body = body
        return ImageRequest(dataRequest: dataRequest)
    }

    @Test("the memory key is image ID, scale, thumbnail and processors, and nothing else [REQ-17]")
    func memoryKeyParts() {
        let plain = ImageRequest(url: url)
        var other = plain
        other.priority = .high
        other.options = [.disableDiskCache]
        other.userInfo = ["a": 1]
        #expect(key(plain) == key(other))
        other = plain
        other.imageID = "x"
        #expect(key(plain) != key(other))
        other = plain
        other.scale = 2
        #expect(key(plain) != key(other))
        other = plain
        other.thumbnail = .init(maxPixelSize: 10)
        #expect(key(plain) != key(other))
        other = plain
        other.processors = [MockProcessor("1")]
        #expect(key(plain) != key(other))
    }

    @Test("varying header fields, method and body are part of every key; neutral fields are not")
    func varyingParts() {
        let plain = request()
        #expect(key(plain) == key(ImageRequest(url: url)) && plain.dataKey == "http://test.com/example.jpeg")
        let varied = [
            request(["Authorization": "a"]), request(["Authorization": "b"]), request(["Accept": "image/webp"]),
            request(method: "POST"), request(method: "POST", body: Data([1])), request(method: "POST", body: Data([2])),
        ]
        let all = [plain] + varied
        #expect(Set(all.map(key)).count == all.count)
        #expect(Set(all.map(\.downloadKey)).count == all.count)
        #expect(Set(all.map(\.dataKey)).count == all.count)
        let neutral: HTTPHeaders = [
            "Range": "bytes=1-", "If-None-Match": "x", "If-Range": "y", "Cache-Control": "no-cache", "Pragma": "z",
            "Accept-Encoding": "br", "Connection": "close", "TE": "trailers", "User-Agent": "u", "traceparent": "t",
            "tracestate": "s", "baggage": "b", "X-Request-ID": "1",
        ]
        #expect(key(plain) == key(request(neutral)) && plain.downloadKey == request(neutral).downloadKey)
        #expect(key(request(["AUTHORIZATION": "a"])) == key(request(["authorization": "a"])))
        #expect(key(request(["A": "1", "B": "2"])) == key(request(["B": "2", "A": "1"])))
        #expect(key(request(["A": "12"])) != key(request(["A": "1", "B": "2"])))
    }

    @Test("no header value and no body stands in a key")
    func noSecretsInKeys() {
        let secret = request(
            ["Authorization": "Bearer hunter2", "X-Token": "hunter3"], method: "POST", body: Data("hunter4".utf8))
        var processed = secret
        processed.processors = [MockProcessor("1")]
        for text in [secret.dataKey, secret.originalDataKey, processed.dataKey, secret.resourceID] {
            #expect(!text.contains("hunter"))
        }
    }

    @Test("a URL and a data request for it have equal memory keys [REQ-18]")
    func urlAndDataRequest() {
        #expect(key(ImageRequest(url: url)) == key(ImageRequest(dataRequest: DataRequest(url: url))))
    }

    @Test("cache policy and timeout are not in the memory key [REQ-19]")
    func policyAndTimeout() {
        var dataRequest = DataRequest(url: url)
        dataRequest.cachePolicy = .reloadIgnoringLocalCacheData
        dataRequest.timeout = 1
        #expect(key(ImageRequest(url: url)) == key(ImageRequest(dataRequest: dataRequest)))
    }

    @Test("equal processors made apart give equal keys; others, another count or order do not [REQ-20]")
    func processors() {
        func processed(_ ids: String...) -> ImageCacheKey {
            key(ImageRequest(url: url, processors: ids.map { MockProcessor($0) }))
        }
        #expect(processed("1", "2") == processed("1", "2"))
        #expect(processed("1", "2").hashValue == processed("1", "2").hashValue)
        #expect(processed("1") != processed("2") && processed("1") != processed("1", "1"))
        #expect(processed("1", "2") != processed("2", "1"))
    }

    @Test("one image ID on two URLs gives equal memory and disk keys [REQ-21]")
    func sharedImageID() {
        var a = ImageRequest(url: URL(string: "http://test.com/1"))
        var b = ImageRequest(url: URL(string: "http://test.com/2"))
        a.imageID = "same"
        b.imageID = "same"
        #expect(key(a) == key(b) && a.dataKey == b.dataKey && a.originalDataKey == b.originalDataKey)
    }

    @Test("one image ID on two URLs still makes two downloads [REQ-22]")
    func imageIDAndDownloads() async throws {
        var a = ImageRequest(url: URL(string: "http://test.com/1"))
        var b = ImageRequest(url: URL(string: "http://test.com/2"))
        a.imageID = "same"
        b.imageID = "same"
        #expect(a.downloadKey != b.downloadKey)
        let test = TestPipeline()
        test.loader.isSuspended = true
        let tasks = [test.pipeline.imageTask(with: a), test.pipeline.imageTask(with: b)]
        await waitUntil { test.loader.loadCount == 2 }
        test.loader.isSuspended = false
        for task in tasks { _ = try await task.image }
    }

    @Test("the download is identified by resource and cache policy [REQ-23]")
    func downloadKey() {
        var dataRequest = DataRequest(url: url)
        #expect(ImageRequest(dataRequest: dataRequest).downloadKey == ImageRequest(url: url).downloadKey)
        dataRequest.timeout = 3
        #expect(ImageRequest(dataRequest: dataRequest).downloadKey == ImageRequest(url: url).downloadKey)
        dataRequest.cachePolicy = .returnCacheDataElseLoad
        #expect(ImageRequest(dataRequest: dataRequest).downloadKey != ImageRequest(url: url).downloadKey)
        let closure = ImageRequest(id: "a", data: { Data() })
        #expect(closure.downloadKey.cachePolicy == .useProtocolCachePolicy)
    }

    @Test("the timeout is not in the load identity; header fields, method and body are [REQ-24]")
    func loadIdentity() {
        #expect(request(["Accept": "a"]).downloadKey != request(["Accept": "b"]).downloadKey)
        #expect(request(method: "POST").downloadKey != request().downloadKey)
        var slow = DataRequest(url: url)
        slow.timeout = 1000
        #expect(ImageRequest(dataRequest: slow).downloadKey == request().downloadKey)
    }

    @Test("processors, thumbnail, scale and options are not in the download's identity [REQ-25]")
    func downloadIgnores() {
        var request = ImageRequest(url: url, processors: [MockProcessor("1")], options: [.disableDiskCache])
        request.thumbnail = .init(maxPixelSize: 10)
        request.scale = 3
        #expect(request.downloadKey == ImageRequest(url: url).downloadKey)
    }

    @Test("the decode is identified by download, scale, thumbnail and hint [REQ-26]")
    func originalImageKey() {
        let plain = ImageRequest(url: url)
        var scaled = plain
        scaled.scale = 2
        var thumbnail = plain
        thumbnail.thumbnail = .init(maxPixelSize: 10)
        let hinted = ImageRequest(url: url, processors: [.resize(width: 320), MockProcessor("1")])
        let hintedAlike = ImageRequest(url: url, processors: [.resize(width: 320)])
        let hintedOtherwise = ImageRequest(url: url, processors: [.resize(width: 100)])
        let unhinted = ImageRequest(url: url, processors: [MockProcessor("1"), .resize(width: 320)])
        #expect(Set([plain, scaled, thumbnail, hinted, hintedOtherwise].map(originalKey)).count == 5)
        #expect(originalKey(hinted) == originalKey(hintedAlike) && originalKey(unhinted) == originalKey(plain))
        let composed = ImageRequest(
            url: url, processors: [ImageProcessors.Composition([.resize(width: 320), MockProcessor("1")])])
        #expect(originalKey(composed) == originalKey(hinted))
    }

    @Test("different options make separate final images of one download [REQ-27]")
    func finalKey() {
        let plain = ImageRequest(url: url)
        let other = ImageRequest(url: url, options: [.disableDiskCache])
        #expect(loadKey(plain) != loadKey(other) && plain.downloadKey == other.downloadKey)
        #expect(loadKey(plain) == loadKey(ImageRequest(url: url)))
        let processed = ImageRequest(url: url, processors: [MockProcessor("1")])
        #expect(loadKey(processed) != loadKey(plain))
    }

    @Test("keeping the bit depth is part of what is decoded, and of every key but the original data's")
    func bitDepth() {
        let plain = ImageRequest(url: url, processors: [MockProcessor("1")])
        var deep = plain
        let keyBefore = key(deep)
        deep.options = [.preserveBitDepth, .disableDiskCacheReads]
        #expect(originalKey(deep) != originalKey(plain) && deep.downloadKey == plain.downloadKey)
        #expect(key(deep) != key(plain) && keyBefore == key(plain))
        #expect(deep.dataKey != plain.dataKey && deep.originalDataKey == plain.originalDataKey)
        deep.options = [.disableDiskCacheReads]
        #expect(key(deep) == key(plain) && deep.dataKey == plain.dataKey)
    }

    @Test("a closure's id that reads like a URL is not taken for that URL [REQ-28]")
    func closureNamespace() {
        let closure = ImageRequest(id: "http://test.com/example.jpeg", data: { Data() })
        let plain = ImageRequest(url: url)
        #expect(closure.downloadKey != plain.downloadKey && key(closure) != key(plain))
        #expect(closure.dataKey != plain.dataKey)
    }

    @Test("a key of one's own never equals one made of a request [REQ-29]")
    func customAndRequestKeys() {
        let request = ImageRequest(url: url)
        #expect(ImageCacheKey(key: "http://test.com/example.jpeg") != key(request))
    }

    @Test("keys of one's own are equal by their text [REQ-30]")
    func customKeys() {
        let keys: Set = [ImageCacheKey(key: "a"), ImageCacheKey(key: "a"), ImageCacheKey(key: "b")]
        #expect(keys.count == 2 && keys.contains(ImageCacheKey(key: "b")))
        #expect([ImageCacheKey(key: "a"): 1][ImageCacheKey(key: "a")] == 1)
    }

    @Test("the hash counts the processors only, equality compares them [REQ-31]")
    func storedHash() {
        let a = key(ImageRequest(url: url, processors: [MockProcessor("1")]))
        let b = key(ImageRequest(url: url, processors: [MockProcessor("2")]))
        let c = key(ImageRequest(url: url, processors: [MockProcessor("1"), MockProcessor("2")]))
        #expect(a.storedHash == b.storedHash && a != b && a.storedHash != c.storedHash)
    }

    @Test("the disk key is image ID, thumbnail and processors [REQ-32]")
    func diskKey() {
        #expect(ImageRequest(url: url).dataKey == "http://test.com/example.jpeg")
        let processed = ImageRequest(url: url, processors: [MockProcessor("1")])
        #expect(processed.dataKey == "parts:28:http://test.com/example.jpeg0:1:1")
        #expect(processed.originalDataKey == "http://test.com/example.jpeg")
        var thumbnail = ImageRequest(url: url)
        thumbnail.thumbnail = .init(maxPixelSize: 400)
        #expect(thumbnail.dataKey.contains("maxPixelSize=400.0") && thumbnail.dataKey != ImageRequest(url: url).dataKey)
    }

    @Test("no two lists of parts share a disk key [REQ-33]")
    func injectiveDiskKeys() {
        func processed(_ ids: String...) -> String {
            ImageRequest(url: url, processors: ids.map { MockProcessor($0) }).dataKey
        }
        #expect(processed("1", "2") != processed("12") && processed("1", "") != processed("1"))
        #expect(processed("", "1") != processed("1", ""))
        // An image ID that reads like a joined key is not taken for one.
        var forged = ImageRequest(url: url)
        forged.imageID = processed("1")
        #expect(forged.dataKey != processed("1"))
    }

    @Test("scale is not in the disk key [REQ-34]")
    func scaleInDiskKey() {
        var scaled = ImageRequest(url: url)
        scaled.scale = 3
        #expect(scaled.dataKey == ImageRequest(url: url).dataKey)
    }

    @Test("thumbnail options have a text of their own, flags included [REQ-35] [REQ-36]")
    func thumbnailIdentifiers() {
        var options = ImageRequest.ThumbnailOptions(maxPixelSize: 400)
        #expect(options.identifier == "com.github/kean/nuke/thumbnail?maxPixelSize=400.0,options=truetruetruetrue")
        options = .init(size: ImageSize(width: 400, height: 400), unit: .pixels, contentMode: .aspectFit)
        let start = "com.github/kean/nuke/thumbnail?width=400.0,height=400.0,contentMode=.aspectFit,options="
        #expect(options.identifier == start + "truetruetruetrue")
        options.createThumbnailFromImageIfAbsent = false
        #expect(options.identifier == start + "falsetruetruetrue")
        options.createThumbnailFromImageAlways = false
        options.createThumbnailWithTransform = false
        options.shouldCacheImmediately = false
        #expect(options.identifier == start + "falsefalsefalsefalse")
    }

    @Test("a token in the URL makes another picture, unless the image ID says otherwise [REQ-38]")
    func tokens() {
        let plain = ImageRequest(url: url)
        var token = ImageRequest(url: URL(string: "http://test.com/example.jpeg?token=1"))
        #expect(key(plain) != key(token) && plain.dataKey != token.dataKey && plain.downloadKey != token.downloadKey)
        token.imageID = "http://test.com/example.jpeg"
        #expect(key(plain) == key(token) && plain.dataKey == token.dataKey && plain.downloadKey != token.downloadKey)
    }

    @Test(
        "scheme and host are compared in lower case, the host in Unicode, the rest as it is",
        arguments: [
            ("HTTP://Test.COM/A", "http://test.com/A"), ("http://u:P@H.com:80/x", "http://u:P@h.com:80/x"),
            ("http://xn--bcher-kva.de/x", "http://bücher.de/x"), ("http://b%C3%BCcher.de/%20", "http://bücher.de/%20"),
            ("http://h/%41b", "http://h/%41b"), ("DATA:image/png;base64,AA", "data:image/png;base64,AA"),
            ("http://h?Q=A", "http://h?Q=A"), ("http://XN--MNCHEN-3YA.de", "http://münchen.de"),
            ("http://xn--fiqs8s/", "http://中国/"), ("http://xn--a/", "http://xn--a/"), ("/relative", "/relative"),
            // What would end the host, if its escapes were taken for characters, and what no encoder makes.
            ("http://a%2Fb/x", "http://a%2fb/x"), ("http://a%2541/x", "http://a%2541/x"),
            ("http://xn--xn--bcher-kva-/x", "http://xn--xn--bcher-kva-/x"), ("http://xn--3ba/x", "http://xn--3ba/x"),
        ])
    func normalization(text: String, expected: String) {
        #expect(URLIdentity.normalized(text) == expected)
    }

    @Test("the digest is SHA-256")
    func sha256() {
        // The examples of FIPS 180-2, and one that needs two blocks of padding.
        #expect(SHA256.hexDigest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(SHA256.hexDigest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        #expect(SHA256.hexDigest(text) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        let million = String(repeating: "a", count: 1_000_000)
        #expect(SHA256.hexDigest(million) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
