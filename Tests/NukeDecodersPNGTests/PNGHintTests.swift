import FoundationEssentials
import NukeDecodersPNG
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite("PNG at a reduced size", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGHintTests {
    /// A smooth picture, so that pictures reduced in different ways can be compared.
    private static func gradient(
        _ width: Int, _ height: Int, isInterlaced: Bool = false, orientation: Int = 1
    ) throws -> Data {
        guard var buffer = PixelBuffer(width: width, height: height) else { throw ImageProcessingError.outOfMemory }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    let alpha = x * 255 / width
                    let colors = [x * alpha / width, y * alpha / height, (x + y) % 40 * alpha / 40, alpha]
                    for (channel, value) in colors.enumerated() {
                        row.storeBytes(of: UInt8(value), toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                }
            }
        }
        let options = ImageEncodingOptions(isProgressive: isInterlaced)
        var bytes = Array(try #require(ImageEncoders.PNG(options: options).encode(buffer.freeze())))
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: orientation).bytes)
        bytes.insert(contentsOf: exif.bytes, at: 8 + 25)
        return Data(bytes)
    }

    private static func resized(_ data: Data, _ processor: ImageProcessors.Resize, isHinted: Bool) throws -> Bitmap {
        let request = ImageRequest(url: nil, processors: [processor])
        let container = try Decoding.container(data, request: request) { context in
            if isHinted { context.hintingProcessor = processor }
        }
        let original = try #require(container.originalSize)
        if isHinted, let hint = processor.decodeHint(for: original) {
            let (width, height) = (Double(container.image.width), Double(container.image.height))
            #expect(width >= min(hint.width * 2, original.width) && height >= min(hint.height * 2, original.height))
            // Reduced indeed, where a quarter of the size is enough.
            if hint.width * 4 <= original.width, hint.height * 4 <= original.height {
                #expect(width <= (original.width / 2).rounded(.up) && height <= (original.height / 2).rounded(.up))
            }
        }
        let response = ImageResponse(container: container, request: request)
        let context = ImageProcessingContext(request: request, response: response, isCompleted: true)
        return try processor.process(container, context: context).image
    }

    @Test(
        "a hinted decode gives the exact size of a full one, and nearly its pixels [row 131] [row 212]",
        arguments: [(false, 1), (false, 6), (true, 1)])
    func exactSizes(_ isInterlaced: Bool, _ orientation: Int) throws {
        // So large that every side is at most a quarter: that is where decoding starts to reduce.
        let data = try Self.gradient(257, 5, isInterlaced: isInterlaced, orientation: orientation)
        for side in 1...64 {
            let square = ImageSize(width: side, height: side)
            let processor = ImageProcessors.Resize(size: square, contentMode: .aspectFit)
            let full = try Self.resized(data, processor, isHinted: false)
            let hinted = try Self.resized(data, processor, isHinted: true)
            #expect((hinted.width, hinted.height) == (full.width, full.height), "side \(side)")
            #expect(max(hinted.width, hinted.height) == side)
            let (a, b) = (PixelStatistics(full).mean, PixelStatistics(hinted).mean)
            #expect(zip(a, b).allSatisfy { abs($0 - $1) < 3 }, "side \(side): \(a) and \(b)")
        }
    }

    @Test("every orientation is applied exactly once to reduced pictures [row 122] [row 127]", arguments: 1...8)
    func orientations(_ orientation: Int) throws {
        for isInterlaced in [false, true] {
            let data = try Self.gradient(60, 40, isInterlaced: isInterlaced, orientation: orientation)
            let processor = ImageProcessors.Resize(width: 8)
            let full = try Self.resized(data, processor, isHinted: false)
            let hinted = try Self.resized(data, processor, isHinted: true)
            #expect((hinted.width, hinted.height) == (full.width, full.height))
            let (a, b) = (PixelStatistics(full).quadrantMeans, PixelStatistics(hinted).quadrantMeans)
            for (quadrant, other) in zip(a, b) {
                #expect(zip(quadrant, other).allSatisfy { abs($0 - $1) < 3 }, "\(quadrant) and \(other)")
            }
        }
    }

    @Test("a thumbnail has its size, upright [THM-02] [THM-07]", arguments: [1, 6])
    func thumbnails(_ orientation: Int) throws {
        let data = try Self.gradient(160, 120, orientation: orientation)
        var request = ImageRequest(url: nil)
        request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 24)
        let container = try Decoding.container(data, request: request)
        let isTurned = orientation == 6
        #expect((container.image.width, container.image.height) == (isTurned ? (18, 24) : (24, 18)))
        #expect(container.originalSize == ImageSize(width: isTurned ? 120 : 160, height: isTurned ? 160 : 120))
    }

    @Test("thumbnail sizes fill and fit [THM-04], and never enlarge [THM-05]")
    func thumbnailSizes() throws {
        let data = try Self.gradient(64, 36)
        func size(_ options: ImageRequest.ThumbnailOptions) throws -> [Int] {
            var request = ImageRequest(url: nil)
            request.thumbnail = options
            let image = try Decoding.container(data, request: request).image
            return [image.width, image.height]
        }
        #expect(try size(.init(size: ImageSize(width: 18, height: 18), contentMode: .aspectFill)) == [32, 18])
        #expect(try size(.init(size: ImageSize(width: 16, height: 16), contentMode: .aspectFit)) == [16, 9])
        #expect(try size(.init(maxPixelSize: 200)) == [64, 36])
    }

    @Test("a reduced decode stays within limits that the whole picture would break")
    func workingSet() throws {
        let data = try Self.gradient(120, 80)
        var limits = ImageLimits()
        limits.workingSetBytes = 20_000
        let hint = ImageProcessors.Resize(width: 6)
        let container = try Decoding.container(data) { context in
            context.limits = limits
            context.hintingProcessor = hint
        }
        #expect(container.image.width >= 12 && container.image.width < 24)
        #expect(Decoding.error(data) { $0.limits = limits }?.code == .limitExceeded)
        // Adam7 holds the stored picture, whatever is made of it.
        let interlaced = try Self.gradient(120, 80, isInterlaced: true)
        let error = Decoding.error(interlaced) { context in
            context.limits = limits
            context.hintingProcessor = hint
        }
        #expect(error?.code == .limitExceeded)
        limits.workingSetBytes = 42_000
        #expect(Decoding.error(interlaced) { $0.limits = limits } == nil)
        // Turning an interlaced picture holds it twice.
        let turned = try Self.gradient(120, 80, isInterlaced: true, orientation: 6)
        #expect(Decoding.error(turned) { $0.limits = limits }?.code == .limitExceeded)
    }
}
