import FoundationEssentials
import NukeDecodersWebP
import NukeTestSupport
import Testing

@testable import NukeCore

/// Decodes at a reduced size.
@Suite("WebP reduction", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPReductionTests {
    private struct Hint: ImageProcessing {
        let size: ImageSize?
        var identifier: String { "hint" }
        func process(_ image: PlatformImage) -> PlatformImage? { image }
        func decodeHint(for original: ImageSize) -> ImageSize? { size }
    }

    private func decode(_ data: Data, hint width: Double, _ height: Double) throws -> ImageContainer {
        try WebPUnderTest.decode(data) {
            $0.hintingProcessor = Hint(size: ImageSize(width: width, height: height))
        }
    }

    @Test(
        "The size is the nearest that is at least twice the hint, and no more than half the picture's",
        arguments: [
            (20.0, 15.0, 41, 30), (30.0, 15.0, 61, 45), (20.0, 20.0, 54, 40), (80.0, 60.0, 161, 120),
            (81.0, 60.0, 321, 240), (1.0, 1.0, 3, 2), (0.1, 0.1, 1, 1),
        ], [0.8, 1])
    func sizes(_ example: (Double, Double, Int, Int), quality: Double) throws {
        let data = try Picture.encode(Picture.photo(width: 321, height: 240), quality: quality)
        let container = try decode(data, hint: example.0, example.1)
        #expect((container.image.width, container.image.height) == (example.2, example.3))
        #expect(container.originalSize == ImageSize(width: 321, height: 240) && container.image.isOpaque)
    }

    @Test("Nothing is made larger by the codec: ten pixels asked for as twenty stay ten [row 211]")
    func neverLarger() throws {
        for quality in [0.8, 1] {
            let data = try Picture.encode(Picture.photo(width: 10, height: 10), quality: quality)
            for side in [20.0, 10, 6, 5.01, 3, .infinity] {
                let image = try decode(data, hint: side, side).image
                #expect((image.width, image.height) == (10, 10), "\(side)")
            }
            let image = try decode(data, hint: 2.5, 2.5).image
            #expect((image.width, image.height) == (5, 5))
        }
    }

    @Test("A turned picture takes the hint upright")
    func turned() throws {
        var file = WebPFile(try Picture.encode(Picture.photo(width: 320, height: 240), quality: 0.8))
        file.extend(width: 320, height: 240, flags: 0)
        file.add(exif: WebPFile.exif(.right))
        let container = try decode(file.data, hint: 15, 20)
        #expect((container.image.width, container.image.height) == (30, 40))
        #expect(container.originalSize == ImageSize(width: 240, height: 320))
    }

    @Test("Colours that nobody sees don't show at edges, lossy or not")
    func hiddenColors() throws {
        // White where it is seen, black where it is not: on white all is white, if alpha is as large as colour everywhere.
        let isSeen = { (x: Int, y: Int) in (x / 5 + y / 5) % 2 == 0 }
        let seen = try Picture.make(width: 256, height: 256, isOpaque: false) { x, y in
            isSeen(x, y) ? [255, 255, 255, 255] : [0, 0, 0, 0]
        }
        let colors = try Picture.make(width: 256, height: 256) { x, y in
            isSeen(x, y) ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        // The encoder replaces colours under alpha 0, so they are stored by another picture.
        var lossy = WebPFile(try Picture.encode(seen, quality: 0.9))
        lossy.chunks[2] = WebPFile(try Picture.encode(colors, quality: 0.9)).chunks[0]
        for data in [lossy.data, try Picture.encode(seen)] {
            let mean = PixelStatistics(try decode(data, hint: 16, 16).image).mean
            #expect(mean.prefix(3).allSatisfy { $0 > 250 }, "\(mean)")
        }
    }

    @Test("What a decode holds is told: less for a reduced one, more for a lossless one, alpha and turned ones")
    func workingSet() throws {
        func bytes(_ data: Data, hint: Double? = nil) throws -> Int {
            let properties = try WebPUnderTest.properties(data) {
                if let hint { $0.hintingProcessor = Hint(size: ImageSize(width: hint, height: hint)) }
            }
            return try #require(properties?.workingSetBytes)
        }
        let photo = try Picture.photo(width: 400, height: 300)
        let (lossy, lossless) = (try Picture.encode(photo, quality: 0.8), try Picture.encode(photo))
        let pixels = 400 * 300 * 4
        #expect(try bytes(lossy) >= pixels && bytes(lossy) < pixels * 5 / 4)
        #expect(try bytes(lossy, hint: 10) < pixels / 4)
        #expect(try bytes(lossless) >= pixels * 2)
        #expect(try bytes(lossless, hint: 10) >= pixels && bytes(lossless, hint: 10) < pixels * 3 / 2)
        var turned = WebPFile(lossy)
        turned.extend(width: 400, height: 300, flags: 0)
        turned.add(exif: WebPFile.exif(.down))
        #expect(try bytes(turned.data) >= pixels * 2)
        let alpha = try Picture.encode(Picture.translucent(width: 400, height: 300), quality: 0.8)
        #expect(try bytes(alpha) > pixels + 400 * 300)
        // What the limits allow is what is told.
        for data in [lossy, lossless, turned.data, alpha] {
            let need = try bytes(data)
            #expect(WebPUnderTest.errorCode(data) { $0.limits.workingSetBytes = need } == nil)
            #expect(WebPUnderTest.errorCode(data) { $0.limits.workingSetBytes = need - 1 } == .limitExceeded)
        }
    }
}
