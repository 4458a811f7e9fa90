import FoundationEssentials
import NukeCore
import NukeSVG
import NukeTestSupport
import Testing

@Suite("Sizes of SVG", .needsLibrary, .timeLimit(.minutes(5)))
struct SVGSizeTests {
    /// Width, height and view box as told, and the size in pixels.
    private static let sizes: [(String?, String?, String?, [Int])] = [
        ("40", "30", nil, [40, 30]),
        ("40px", "30px", "0 0 4 3", [40, 30]),
        ("1in", "2.54cm", nil, [96, 96]),
        ("25.4mm", "101.6Q", nil, [96, 96]),
        ("72pt", "6pc", nil, [96, 96]),
        ("10em", "10ex", nil, [120, 60]),
        ("1.5e2", "+.5e+2px", nil, [150, 50]),
        ("33.3", "21.7", nil, [34, 22]),
        (nil, nil, "0 0 130 70", [130, 70]),
        (nil, nil, " -5,-5 , 130\n70 ", [130, 70]),
        ("100%", "100%", "0 0 130 70", [130, 70]),
        ("65", nil, "0 0 130 70", [65, 35]),
        ("65", "auto", "0 0 130 70", [65, 35]),
        (nil, "35", "0 0 130 70", [65, 35]),
        ("50%", "35", "0 0 130 70", [65, 35]),
        (nil, nil, nil, [300, 150]),
        ("100%", "100%", nil, [300, 150]),
        ("100", nil, nil, [100, 150]),
        (nil, nil, "0 0 0 70", [300, 150]),
        (nil, nil, "0 0 130", [300, 150]),
    ]

    @Test("A document's own size is that of CSS at 96 dots an inch", arguments: 0..<sizes.count)
    func ownSize(_ index: Int) throws {
        let (width, height, box, expected) = Self.sizes[index]
        let data = SVGUnderTest.document(
            width: width, height: height, attributes: box.map { "viewBox=\"\($0)\"" } ?? "")
        #expect(try SVGUnderTest.size(data) == expected)
        let image = try SVGUnderTest.decode(data).image
        #expect([image.width, image.height] == expected)
    }

    @Test("The style of the root element goes before its attributes")
    func style() throws {
        let data = SVGUnderTest.document(attributes: "style=\"fill:red; width : 2in;height:10px\"")
        #expect(try SVGUnderTest.size(data) == [192, 10])
    }

    @Test("What has no size at all is a typed error")
    func nothing() {
        #expect(SVGUnderTest.error(SVGUnderTest.document(width: "0"))?.code == .corruptData)
        #expect(SVGUnderTest.error(SVGUnderTest.document(height: "0mm"))?.code == .corruptData)
    }

    @Test("The scale of a request makes more pixels of the same document")
    func scale() throws {
        let data = SVGUnderTest.document("<rect x=\"20\" width=\"20\" height=\"30\" fill=\"red\"/>")
        let container = try SVGUnderTest.decode(data) { $0.request.scale = 2 }
        #expect(container.image.size == ImageSize(width: 80, height: 60) && container.image.scale == 2)
        #expect(container.image.pixel(39, 30) == [0, 0, 0, 0] && container.image.pixel(40, 30) == [255, 0, 0, 255])
        #expect(try SVGUnderTest.size(data) { $0.request.scale = 2 } == [80, 60])
    }

    @Test("Pixels are premultiplied RGBA, and opaque if all of them are")
    func pixels() throws {
        let half = try SVGUnderTest.decode(
            SVGUnderTest.document("<rect width=\"40\" height=\"30\" fill=\"#ff8000\" fill-opacity=\".5\"/>")
        ).image
        #expect(half.format == .rgba8 && !half.isOpaque)
        let pixel = half.pixel(5, 5).map(Int.init)
        for (seen, wanted) in zip(pixel, [128, 64, 0, 128]) { #expect(abs(seen - wanted) <= 1, "\(pixel)") }
        let whole = try SVGUnderTest.decode(
            SVGUnderTest.document("<rect width=\"40\" height=\"30\" fill=\"#123456\"/>"))
        #expect(whole.image.isOpaque && whole.image.pixel(39, 29) == [0x12, 0x34, 0x56, 255])
    }

    @Test("[row 190] A view box of 355572² is drawn at 128 pixels, with no more memory than that takes")
    func hugeViewBox() async throws {
        let side = 355_572
        let data = SVGUnderTest.document(
            "<rect width=\"\(side / 2)\" height=\"\(side)\" fill=\"blue\"/>", width: nil, height: nil,
            attributes: "viewBox=\"0 0 \(side) \(side)\"")
        #expect(SVGUnderTest.error(data)?.code == .limitExceeded)
        let pipeline = SVGUnderTest.pipeline(.svg)
        for request in [
            ImageRequest(id: "hint", data: { data }, processors: [.resize(width: 128, unit: .pixels)]),
            {
                var request = ImageRequest(id: "thumbnail", data: { data })
                request.thumbnail = .init(maxPixelSize: 128)
                return request
            }(),
        ] {
            let image = try await pipeline.image(for: request)
            #expect(image.size == ImageSize(width: 128, height: 128))
            #expect(image.pixel(63, 64) == [0, 0, 255, 255] && image.pixel(64, 64) == [0, 0, 0, 0])
        }
        let vector = try #require(
            try SVGUnderTest.decode(data) { $0.request.thumbnail = .init(maxPixelSize: 16) }.vector)
        #expect(try await vector.image(size: ImageSize(width: 64, height: 64)).pixel(31, 0) == [0, 0, 255, 255])
    }

    @Test("What the first processor makes is drawn at once and not blurred: smaller, larger, cropped")
    func hints() async throws {
        let data = SVGUnderTest.document("<rect x=\"20\" width=\"20\" height=\"30\" fill=\"red\"/>")
        let pipeline = SVGUnderTest.pipeline(.svg)
        func image(_ resize: ImageProcessors.Resize) async throws -> PlatformImage {
            try await pipeline.image(for: ImageRequest(id: "picture", data: { data }, processors: [resize]))
        }
        let cases: [(ImageProcessors.Resize, Int, Int, Int)] = [
            (.init(width: 20, unit: .pixels), 20, 15, 10),
            (.init(width: 400, unit: .pixels, upscale: true), 400, 300, 200),
            (
                .init(size: ImageSize(width: 300, height: 300), unit: .pixels, crop: true, upscale: true), 300, 300, 150
            ),
            (.init(width: 400, unit: .pixels), 40, 30, 20),
        ]
        for (resize, width, height, edge) in cases {
            let image = try await image(resize)
            #expect(image.size == ImageSize(width: width, height: height), "\(resize)")
            #expect(image.pixel(edge - 1, 5) == [0, 0, 0, 0], "\(resize)")
            #expect(image.pixel(edge, 5) == [255, 0, 0, 255], "\(resize)")
        }
    }

    @Test("A picture is kept as shapes, which can be drawn again, sharper, at any size")
    func vector() async throws {
        let data = SVGUnderTest.document("<rect x=\"20\" width=\"20\" height=\"30\" fill=\"red\"/>")
        let container = try SVGUnderTest.decode(data) { $0.request.thumbnail = .init(maxPixelSize: 8) }
        #expect(container.image.size == ImageSize(width: 8, height: 6))
        #expect(container.originalSize == ImageSize(width: 40, height: 30))
        #expect(container.memoryCost == container.image.byteCount + data.count)
        let vector = try #require(container.vector)
        #expect(vector.size == ImageSize(width: 40, height: 30))
        let image = try await vector.image(size: ImageSize(width: 1000, height: 300))
        #expect(image.size == ImageSize(width: 1000, height: 300))
        #expect(image.pixel(499, 299) == [0, 0, 0, 0] && image.pixel(500, 299) == [255, 0, 0, 255])
        for side in [0, -1, .nan, .infinity, 1e9, 40_000] {
            await #expect(throws: ImageDecodingError.self, "\(side)") {
                try await vector.image(size: ImageSize(width: side, height: 10))
            }
        }
    }

    @Test("One's own renderer gets the data by a decoder that decodes nothing")
    func ownRenderer() async throws {
        let data = SVGUnderTest.document()
        let empty = ImageFormat(
            name: "SVG", type: .svg, mimeTypes: [], fileExtensions: [], capabilities: .decode,
            sniff: ImageFormat.svg.sniff,
            makeDecoder: { _ in ImageDecoders.Empty(assetType: .svg) })
        let pipeline = SVGUnderTest.pipeline(.svg, empty)
        let container = try await pipeline.imageTask(with: ImageRequest(id: "raw", data: { data })).response.container
        #expect(container.data == data && container.type == .svg && container.vector == nil)
    }
}
