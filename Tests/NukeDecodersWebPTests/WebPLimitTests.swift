import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore
@testable import NukeDecodersWebP

/// What ends a decode: limits, time and cancellation.
@Suite("WebP limits", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPLimitTests {
    @Test("A canvas that is too large is refused, still or animated, before any pixel")
    func canvas() throws {
        let image = try Picture.flat([1, 2, 3, 255], width: 1, height: 1)
        var file = AnimationFile(width: 16_000, height: 16_000, frames: [.init(image: image), .init(image: image)])
        #expect(WebPUnderTest.errorCode(try file.data()) == .limitExceeded)
        #expect(try WebPUnderTest.properties(file.data())?.width == 16_000)
        file.width = 1 << 24
        file.height = 1 << 24
        #expect(WebPUnderTest.errorCode(try file.data()) == .limitExceeded)
        // The product of these sides is more than an Int32, and its bytes are more than any limit.
        #expect(WebPUnderTest.errorCode(try file.data()) { $0.limits.sideLength = .max } == .limitExceeded)
        // A few bytes that declare 16383x16383 pixels.
        var still = try WebPFile(fixture: "gen-lossless.webp")
        still.chunks[0].contents.replaceSubrange(1..<5, with: WebPFile.littleEndian(0x0FFF_FFFF, 4))
        #expect(WebPUnderTest.errorCode(still.data) == .limitExceeded)
        #expect(try WebPUnderTest.properties(still.data)?.height == 16_384)
    }

    @Test("Sides, pixels, bytes and frames have limits of their own")
    func each() throws {
        let image = try Picture.flat([1, 2, 3, 255], width: 20, height: 10)
        let still = try Picture.encode(image)
        let animation = try AnimationFile(
            width: 20, height: 10, frames: [.init(image: image), .init(image: image), .init(image: image)]
        ).data()
        func code(_ data: Data, _ change: (inout ImageLimits) -> Void) -> ImageDecodingError.Code? {
            WebPUnderTest.errorCode(data) { change(&$0.limits) }
        }
        for data in [still, animation] {
            #expect(code(data) { $0.sideLength = 20 } == nil)
            #expect(code(data) { $0.sideLength = 19 } == .limitExceeded)
            #expect(code(data) { $0.pixelCount = 200 } == nil)
            #expect(code(data) { $0.pixelCount = 199 } == .limitExceeded)
            #expect(code(data) { $0.workingSetBytes = 799 } == .limitExceeded)
        }
        #expect(code(animation) { $0.frameCount = 3 } == nil)
        #expect(code(animation) { $0.frameCount = 2 } == .limitExceeded)
        #expect(code(still) { $0.frameCount = 0 } == nil)
    }

    @Test("A decode without time left exceeds the limit; frames have the time anew")
    func seconds() async throws {
        for name in ["gen-lossy", "gen-lossless", "gen-anim-offsets"] {
            let data = try Fixture.data("webp/\(name).webp")
            #expect(WebPUnderTest.errorCode(data) { $0.limits.seconds = 0 } == .limitExceeded)
            #expect(WebPUnderTest.errorCode(data) { $0.limits.seconds = .infinity } == nil)
        }
    }

    @Test("Cancelled before it begins, a decode ends so; frames of a load that is over can still be had")
    func cancelled() async throws {
        for name in ["gen-lossy", "gen-lossless", "gen-anim-offsets"] {
            let data = try Fixture.data("webp/\(name).webp")
            #expect(WebPUnderTest.errorCode(data) { $0.cancellation.cancel() } == .cancelled)
        }
        let data = try Fixture.data("webp/gen-anim-offsets.webp")
        let context = WebPUnderTest.context(data)
        let container = try ImageDecoders.WebP(context: context).decode(data)
        context.cancellation.cancel()
        #expect(try await container.animation?.frame(at: 3).width == 101)
    }

    /// Row counts at which a decode looks up, of a whole file.
    private func lookUps(_ data: Data, reduced: (width: Int, height: Int)? = nil) throws -> [Int] {
        let picture = try #require(try WebPHeader(data.bytes, frameLimit: 1).still)
        let (width, height) = reduced ?? (picture.width, picture.height)
        var session = try WebPSession(picture, reduced: reduced, bytesPerRow: width * 4)
        guard var pixels = PixelBuffer(width: width, height: height) else {
            throw ImageDecodingError.outOfMemory("no memory for a picture", codec: "test")
        }
        var rows: [Int] = []
        try pixels.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
            try session.read(data.bytes, into: &bytes) { rows.append($0) }
        }
        #expect(session.isFinished && session.rowCount == height)
        return rows + [session.rowCount]
    }

    @Test("The flag is looked at every 64 rows of a lossy picture, every 16 of one reduced to a quarter")
    func lossyInterval() throws {
        let data = try Picture.encode(Picture.photo(width: 300, height: 2000), quality: 0.7)
        let whole = try lookUps(data)
        #expect(whole.count > 2000 / 64 && zip(whole, whole.dropFirst()).allSatisfy { $1 - $0 <= 64 }, "\(whole)")
        let reduced = try lookUps(data, reduced: (75, 500))
        #expect(zip(reduced, reduced.dropFirst()).allSatisfy { $1 - $0 <= 16 }, "\(reduced)")
    }

    @Test("Of a lossless picture the first eighth comes in one go, then at most about 64 rows")
    func losslessInterval() throws {
        let rows = try lookUps(Picture.encode(Picture.photo(width: 300, height: 2000)))
        let steps = zip(rows, rows.dropFirst()).map { $1 - $0 }
        let first = try #require(steps.firstIndex { $0 > 0 })
        #expect(steps[first] <= 2000 / 4, "\(steps)")
        #expect(steps.count > 16 && steps[(first + 1)...].allSatisfy { $0 <= 96 }, "\(steps)")
    }

    @Test("A flag that is set between two slices ends the decode before the next")
    func cancelledBetween() throws {
        let data = try Picture.encode(Picture.photo(width: 100, height: 1000), quality: 0.7)
        let picture = try #require(try WebPHeader(data.bytes, frameLimit: 1).still)
        var session = try WebPSession(picture, bytesPerRow: 400)
        guard var pixels = PixelBuffer(width: 100, height: 1000) else { return }
        let context = WebPUnderTest.context(data)
        let watch = DecodingWatch(context, codec: "WebP")
        let error = #expect(throws: ImageDecodingError.self) {
            try pixels.withBytes { (bytes: inout MutableRawSpan) throws(ImageDecodingError) in
                try session.read(data.bytes, into: &bytes) { rows throws(ImageDecodingError) in
                    if rows > 200 { context.cancellation.cancel() }
                    try watch.check()
                }
            }
        }
        #expect(error == .cancelled && (200...264).contains(session.rowCount))
    }
}
