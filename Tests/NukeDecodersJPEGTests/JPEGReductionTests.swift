import FoundationEssentials
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@testable import NukeCore

/// Decodes at a reduced size, and turned pictures.
@Suite("JPEG reduction", .timeLimit(.minutes(5)))
struct JPEGReductionTests {
    private func decode(_ data: Data, hint: ImageSize) throws -> ImageContainer {
        var context = JPEGUnderTest.context(data)
        context.hintingProcessor = DecodeHint(size: hint)
        return try ImageDecoders.JPEG(context: context).decode(data)
    }

    private static let picture = try? Picture.gradient(width: 641, height: 480)

    /// A baseline file of 641x480.
    private func photo() throws -> Data {
        let picture = try #require(Self.picture)
        return try #require(ImageEncoders.JPEG().encode(picture))
    }

    @Test(
        "The reduction is the strongest that leaves both sides at least twice the hint",
        arguments: [
            (321.0, 100.0, 641, 480), (320.0, 240.0, 641, 480), (161.0, 100.0, 641, 480), (160.0, 120.0, 321, 240),
            (100.0, 121.0, 641, 480), (81.0, 60.0, 321, 240), (80.0, 60.0, 161, 120), (40.0, 30.0, 81, 60),
            (40.5, 30.0, 81, 60), (40.6, 30.0, 161, 120), (41.0, 10.0, 161, 120), (1.0, 1.0, 81, 60),
            (10.0, 31.0, 161, 120),
        ])
    func divisors(hintWidth: Double, hintHeight: Double, width: Int, height: Int) throws {
        let container = try decode(photo(), hint: ImageSize(width: hintWidth, height: hintHeight))
        #expect((container.image.width, container.image.height) == (width, height))
        #expect(container.originalSize == ImageSize(width: 641, height: 480))
    }

    @Test("A turned picture takes the hint upright", arguments: [5, 6, 7, 8])
    func turnedHint(_ orientation: Int) throws {
        var file = try JPEGFile(photo())
        let tiff = JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, orientation)])
        file.segments.insert(JPEGFile.exif(tiff), at: 0)
        // Upright 480x641; with the sides confused this hint would allow half the size only.
        let container = try decode(file.data, hint: ImageSize(width: 60, height: 80))
        #expect((container.image.width, container.image.height) == (120, 161))
        #expect(container.originalSize == ImageSize(width: 480, height: 641))
    }

    private func resizedSize(
        _ data: Data, _ resize: ImageProcessors.Resize, isHinted: Bool
    ) async throws -> ImageSize {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = nil
        }
        // A closure needs every pixel, so it keeps the hint of what follows it away.
        let whole = ImageProcessors.Anonymous(id: "whole") { $0 }
        let processors: [any ImageProcessing] = isHinted ? [resize] : [whole, resize]
        return try await pipeline.image(for: ImageRequest(id: "photo", data: { data }, processors: processors)).size
    }

    @Test("641x480 to width 320 is 320x240, hinted or not [row 131]", arguments: [true, false])
    func exactHalf(isHinted: Bool) async throws {
        #expect(
            try await resizedSize(photo(), .init(width: 320), isHinted: isHinted) == ImageSize(width: 320, height: 240))
    }

    @Test(
        "641x480 to any width 1…64 is exact, hinted or not [row 131]",
        arguments: [1...16, 17...32, 33...48, 49...64])
    func exactSizes(_ sides: ClosedRange<Int>) async throws {
        for side in sides {
            let expected = ImageSize(width: side, height: Int((Double(side) * 480 / 641).rounded()))
            #expect(try await resizedSize(photo(), .init(width: Double(side)), isHinted: true) == expected)
            guard side == sides.lowerBound else { continue }
            #expect(try await resizedSize(photo(), .init(width: Double(side)), isHinted: false) == expected)
            let tall = ImageSize(width: Int((Double(side) * 641 / 480).rounded()), height: side)
            #expect(try await resizedSize(photo(), .init(height: Double(side)), isHinted: true) == tall)
        }
    }

    @Test("1001x667 to 334 and about is exact, hinted or not, and never made of less [row 131]")
    func oddSizes() async throws {
        let data = try #require(ImageEncoders.JPEG().encode(Picture.gradient(width: 1001, height: 667)))
        for side in [334, 333, 335, 250, 251, 167, 126, 125, 84, 83, 63, 62] {
            let wide = ImageSize(width: side, height: Int((Double(side) * 667 / 1001).rounded()))
            let tall = ImageSize(width: Int((Double(side) * 1001 / 667).rounded()), height: side)
            let resizes: [(ImageProcessors.Resize, ImageSize)] = [
                (.init(width: Double(side)), wide), (.init(height: Double(side)), tall),
            ]
            for (resize, size) in resizes {
                #expect(try await resizedSize(data, resize, isHinted: true) == size)
                let hint = try #require(resize.decodeHint(for: ImageSize(width: 1001, height: 667)))
                let reduced = try decode(data, hint: hint).image
                #expect(reduced.size.width >= size.width && reduced.size.height >= size.height)
            }
        }
        #expect(try await resizedSize(data, .init(width: 334), isHinted: false) == ImageSize(width: 334, height: 223))
        #expect(try await resizedSize(data, .init(height: 334), isHinted: false) == ImageSize(width: 501, height: 334))
    }

    @Test("A thumbnail of each stored orientation is turned once [row 122] [row 127] [THM-07]", arguments: 1...8)
    func turnedThumbnail(_ orientation: Int) throws {
        let data = try Fixture.data("jpeg/gen-o\(orientation).jpg")
        let whole = try JPEGUnderTest.decode(data).image
        let small = try JPEGUnderTest.decode(data, thumbnail: .init(maxPixelSize: 24)).image
        #expect(max(small.width, small.height) == 24)
        #expect((small.width > small.height) == (whole.width > whole.height))
        let (a, b) = (PixelStatistics(small).quadrantMeans, PixelStatistics(whole).quadrantMeans)
        #expect(zip(a, b).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 12 } })
    }

    @Test("Every stored orientation is the stored picture turned [row 127]")
    func turned() throws {
        let stored = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-o1.jpg")).image
        let (right, bottom) = (stored.width - 1, stored.height - 1)
        // Where the stored pixel x, y comes to lie, by the definition of the tag: what the 0th row and column are.
        let places: [(Int, Int) -> (Int, Int)] = [
            { ($0, $1) }, { (right - $0, $1) }, { (right - $0, bottom - $1) }, { ($0, bottom - $1) },
            { ($1, $0) }, { (bottom - $1, $0) }, { (bottom - $1, right - $0) }, { ($1, right - $0) },
        ]
        for (index, place) in places.enumerated() {
            let upright = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-o\(index + 1).jpg")).image
            for y in stride(from: 0, through: bottom, by: 3) {
                for x in stride(from: 0, through: right, by: 5) {
                    let (column, row) = place(x, y)
                    #expect(upright.pixel(column, row) == stored.pixel(x, y), "orientation \(index + 1) at \(x), \(y)")
                }
            }
        }
    }

    @Test(
        "Cancelled while it decodes, a decode ends within 64 rows",
        arguments: ["gen-420", "gen-progressive", "gen-o6", "gen-sequential-3scans"])
    func cancellation(_ name: String) throws {
        let data = try Fixture.data("jpeg/\(name).jpg")
        var context = JPEGUnderTest.context(data)
        let flag = context.cancellation
        context.hintingProcessor = DecodeHint(size: nil) { flag.cancel() }
        let error = #expect(throws: ImageDecodingError.self) { try ImageDecoders.JPEG(context: context).decode(data) }
        #expect(error?.code == .cancelled)
    }

    @Test("Cancelled while scans are taken in, a decode ends before the last of them")
    func cancellationBetweenScans() throws {
        // Cut in its last scan, the file would be found to be truncated if all scans were taken in.
        let file = try JPEGFile(fixture: "gen-progressive.jpg")
        let last = try #require(file.segments.last { $0.marker == JPEGFile.startOfScan })
        let data = file.dataWithoutEnd.dropLast(last.tail.count / 2)
        var context = JPEGUnderTest.context(data)
        let flag = context.cancellation
        context.hintingProcessor = DecodeHint(size: nil) { flag.cancel() }
        let error = #expect(throws: ImageDecodingError.self) { try ImageDecoders.JPEG(context: context).decode(data) }
        #expect(error?.code == .cancelled)
    }

    @Test("The scale of the request becomes the image's [DEC-19]")
    func scale() throws {
        let data = try Fixture.data("jpeg/gen-8x8.jpg")
        var context = JPEGUnderTest.context(data)
        context.request.scale = 7
        let container = try ImageDecoders.JPEG(context: context).decode(data)
        #expect(container.image.scale == 7)
        #expect(container.type == .jpeg && !container.isPreview && container.data == nil && container.userInfo.isEmpty)
    }
}
