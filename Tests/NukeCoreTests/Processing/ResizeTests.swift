import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ResizeTests {
    private func size(
        _ image: Bitmap, _ resize: ImageProcessors.Resize
    ) -> [Int]? { resize.process(image).map { [$0.width, $0.height] } }

    private func pixels(
        _ width: Double, _ height: Double, _ mode: ImageProcessingOptions.ContentMode = .aspectFill,
        crop: Bool = false, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        .init(
            size: ImageSize(width: width, height: height), unit: .pixels, contentMode: mode, crop: crop,
            upscale: upscale)
    }

    /// Gray, since one channel is resampled in a fourth of the time: here the size counts.
    let vga: Bitmap

    init() throws {
        let buffer = PixelBuffer(width: 640, height: 480, format: .gray8)
        guard let buffer else { throw ImageProcessingError.outOfMemory }
        vga = buffer.freeze()
    }

    @Test("defaults: points, fill, no crop, no upscaling [PRC-13]")
    func defaults() {
        let resize = ImageProcessors.Resize(size: ImageSize(width: 400, height: 400))
        #expect(resize == pixels(400, 400))
        #expect(
            resize.identifier == "com.github.kean/nuke/resize?s=(400.0, 400.0),cm=.aspectFill,crop=false,upscale=false")
    }

    @Test("sizes for fill, fit, width and height [PRC-14]")
    func sizes() {
        #expect(size(vga, pixels(400, 400)) == [533, 400])
        #expect(size(vga, pixels(480, 480, .aspectFit)) == [480, 360])
        #expect(size(vga, .init(width: 400)) == [400, 300] && size(vga, .init(height: 300)) == [400, 300])
    }

    @Test("a larger target without upscaling gives the very same object [PRC-15]")
    func sameObject() {
        #expect(pixels(960, 960).process(vga) === vga && ImageProcessors.Resize(width: 640).process(vga) === vga)
    }

    @Test("upscaling enlarges [PRC-16]")
    func upscaling() { #expect(size(vga, pixels(960, 960, upscale: true)) == [1280, 960]) }

    @Test("cropping gives the exact size, or its shape where nothing may be enlarged [PRC-17] [PRC-18] [PRC-19]")
    func cropping() {
        #expect(size(vga, pixels(400, 400, crop: true)) == [400, 400])
        #expect(size(vga, pixels(960, 960, crop: true)) == [480, 480])
        #expect(size(.mock(width: 100, height: 200), pixels(500, 500, crop: true)) == [100, 100])
        #expect(size(vga, pixels(960, 960, crop: true, upscale: true)) == [960, 960])
        #expect(size(vga, pixels(100, 50, crop: true, upscale: true)) == [100, 50])
        #expect(size(vga, pixels(641, 100, crop: true)) == [640, 100])
    }

    @Test("cropping has no effect when fitting [PRC-20]")
    func cropWhenFitting() { #expect(size(vga, pixels(400, 400, .aspectFit, crop: true)) == [400, 300]) }

    @Test("sides are rounded to the nearest pixel, at least 1 [PRC-21]")
    func rounding() {
        #expect(size(.mock(width: 641, height: 480), .init(width: 320)) == [320, 240])
        #expect(size(.mock(width: 3, height: 1000), .init(height: 10)) == [1, 10])
        #expect(size(.mock(width: 1, height: 1), .init(width: 1)) == [1, 1])
    }

    @Test(
        "a size that is no positive, finite number fails and never traps [PRC-22] [PRC-23]",
        arguments: [0, -1, .nan, .infinity, -.infinity, 1e300, 2_000_000_000] as [Double])
    func invalidSizes(side: Double) {
        for resize in [
            pixels(side, 100), pixels(100, side), pixels(side, side, .aspectFit),
            pixels(side, 100, crop: true, upscale: true),
        ] {
            #expect(resize.process(vga) == nil)
            #expect(resize.decodeHint(for: vga.size) == nil)
        }
    }

    @Test("one side given: the other is 9999, and it fits [PRC-24]")
    func oneSide() {
        let text = "Resize(size: (100.0, 9999.0) pixels, contentMode: .aspectFit, crop: false, upscale: false)"
        #expect("\(ImageProcessors.Resize(width: 100))" == text)
    }

    @Test("points and pixels that mean the same share an identifier; modes do not [PRC-26] [PRC-27] [PRC-49]")
    func identifiers() {
        let points = ImageProcessors.Resize(size: ImageSize(width: 30, height: 20))
        #expect(
            points.identifier == pixels(30, 20).identifier
                && points.hashableIdentifier == pixels(30, 20).hashableIdentifier)
        #expect(pixels(30, 20).identifier != pixels(30, 20, .aspectFit).identifier)
        #expect(pixels(30, 20).identifier != pixels(30, 20, crop: true).identifier)
        #expect(pixels(30, 20).identifier != pixels(30, 20, upscale: true).identifier)
    }

    @Test("sizes are written as plain pairs of numbers [PRC-25]")
    func formatting() {
        let size = ImageSize(width: 100, height: 9999)
        #expect("\(size)" == "(100.0, 9999.0)")
        #expect(ImageProcessors.Resize(size: size).identifier.contains("?s=(100.0, 9999.0),cm="))
        #expect("\(ImageProcessors.Resize(size: size))".hasPrefix("Resize(size: (100.0, 9999.0) pixels, "))
    }

    @Test("sizes are those of the picture as it is seen: it is upright before it is resized [PRC-29]")
    func orientation() {
        // Stored 480x640 and seen 640x480: a decoder has turned it.
        #expect(size(vga, pixels(320, 1000, .aspectFit)) == [320, 240])
        #expect(size(vga, pixels(320, 80, crop: true)) == [320, 80])
    }

    @Test("every format is resized in its own [PRC-31]", arguments: PixelFormat.allCases)
    func formats(format: PixelFormat) throws {
        let image = Bitmap.gradient(width: 8, height: 8, format: format)
        let output = try #require(ImageProcessors.Resize(width: 4).process(image))
        #expect(output.format == format && output.width == 4)
        let (left, right) = (Int(output.pixel(0, 1)[0]), Int(output.pixel(3, 1)[0]))
        #expect((10...60).contains(left) && right > left + 100)
    }

    @Test("points are pixels times the scale: the image's, or the request's in a pipeline [PRC-48]")
    func scale() throws {
        let points = ImageProcessors.Resize(width: 20)
        #expect(size(.mock(width: 100, height: 50).withScale(2), points) == [40, 20])
        #expect(size(.mock(width: 100, height: 50).withScale(2), .init(width: 20, unit: .pixels)) == [20, 10])
        for scale in [0, -1, .nan, .infinity] {
            #expect(size(.mock(width: 100, height: 50).withScale(scale), points) == [20, 10])
        }
        var request = ImageRequest(url: nil)
        request.scale = 3
        let container = ImageContainer(image: .mock(width: 100, height: 50))
        let context = ImageProcessingContext(
            request: request, response: ImageResponse(container: container, request: request), isCompleted: true)
        #expect(try points.process(container, context: context).image.width == 60)
    }

    @Test("sizes are kept in single precision [PRC-28]")
    func precision() { #expect(pixels(0.1, 1) == pixels(Double(Float(0.1)), 1)) }

    @Test("scale, colour space, format and opacity are kept [PRC-30]")
    func keeps() {
        var header = [UInt8](repeating: 0, count: 128)
        header.replaceSubrange(36..<40, with: Array("acsp".utf8))
        header.replaceSubrange(16..<20, with: Array("GRAY".utf8))
        let space = ColorSpace(iccProfile: Data(header), for: .gray8)
        #expect(space != nil && ColorSpace(iccProfile: Data(header), for: .rgba8) == nil)
        for format in PixelFormat.allCases {
            guard let buffer = PixelBuffer(width: 20, height: 10, format: format) else { return }
            let image = buffer.freeze(isOpaque: true, colorSpace: space ?? .sRGB, scale: 2)
            let output = ImageProcessors.Resize(width: 10, unit: .pixels).process(image)
            #expect(output?.width == 10 && output?.scale == 2 && output?.isOpaque == true)
            #expect(output?.colorSpace == space && output?.format == format)
        }
    }

    @Test("the shorthands give the same identifiers as the initialisers [PRC-50]")
    func shorthands() {
        let size = ImageSize(width: 30, height: 20)
        let processors: [any ImageProcessing] = [
            .resize(size: size, contentMode: .aspectFit, crop: true, upscale: true), .resize(width: 5),
            .resize(height: 6),
            .process(id: "x") { $0 },
        ]
        let made: [any ImageProcessing] = [
            ImageProcessors.Resize(size: size, contentMode: .aspectFit, crop: true, upscale: true),
            ImageProcessors.Resize(width: 5), ImageProcessors.Resize(height: 6),
            ImageProcessors.Anonymous(id: "x") { $0 },
        ]
        #expect(processors.map(\.identifier) == made.map(\.identifier))
    }

    // MARK: Pixels

    @Test("flat areas stay flat, at any ratio", arguments: [1, 7, 33, 63, 64, 100, 200])
    func flat(width: Int) {
        let image = Bitmap.make(width: 64, height: 48) { _, _ in [40, 80, 120, 160] }
        let output = ImageProcessors.Resize(width: Double(width), upscale: true).process(image)
        let bytes = output?.byteArray ?? []
        #expect(output?.width == width && !bytes.isEmpty)
        #expect(bytes.enumerated().allSatisfy { abs(Int($0.element) - [40, 80, 120, 160][$0.offset % 4]) <= 1 })
    }

    @Test("transparent pixels' colours never bleed: no fringe [PITFALLS 133]")
    func noFringe() {
        // White, opaque on the left; transparent on the right, premultiplied to nothing whatever its colour was.
        let image = Bitmap.make(width: 64, height: 64) { x, _ in x < 32 ? [255, 255, 255, 255] : [0, 0, 0, 0] }
        guard let output = ImageProcessors.Resize(width: 15).process(image) else { return }
        for x in 0..<output.width {
            let pixel = output.pixel(x, 7)
            #expect(pixel[0] == pixel[3] && pixel[1] == pixel[3] && pixel[2] == pixel[3])
        }
        #expect(output.pixel(0, 7)[3] == 255 && output.pixel(14, 7)[3] == 0)
    }

    @Test("shrinking averages what it leaves out: no aliasing")
    func antialiasing() {
        let checkers = Bitmap.make(width: 64, height: 64) { x, y in
            (x + y) % 2 == 0 ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        guard let output = ImageProcessors.Resize(width: 16).process(checkers) else { return }
        let values = output.byteArray.enumerated().filter { $0.offset % 4 != 3 }.map { Int($0.element) }
        #expect(values.allSatisfy { (112...144).contains($0) })
    }

    @Test("a picture keeps its place: the centre of mass stays, in both directions")
    func geometry() {
        let image = Bitmap.make(width: 90, height: 60) { x, y in
            (30..<60).contains(x) && (20..<40).contains(y) ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        for width in [9.0, 30, 45, 89, 91, 180] {
            guard let output = ImageProcessors.Resize(width: width, upscale: true).process(image) else { return }
            var (sum, x0, y0) = (0.0, 0.0, 0.0)
            for y in 0..<output.height {
                for x in 0..<output.width {
                    let value = Double(output.pixel(x, y)[0])
                    sum += value
                    x0 += value * (Double(x) + 0.5) / Double(output.width)
                    y0 += value * (Double(y) + 0.5) / Double(output.height)
                }
            }
            #expect(abs(x0 / sum - 0.5) < 0.01 && abs(y0 / sum - 0.5) < 0.01)
        }
    }

    @Test("cropping takes the middle")
    func cropMiddle() {
        let image = Bitmap.make(width: 60, height: 20) { x, _ in
            (20..<40).contains(x) ? [9, 9, 9, 255] : [200, 0, 0, 255]
        }
        let output = pixels(20, 20, crop: true).process(image)
        #expect(output?.pixel(10, 10) == [9, 9, 9, 255])
        #expect(abs(Int(output?.pixel(1, 10)[1] ?? 0) - 9) < 4)
    }

    // MARK: Hints

    @Test("the hint is the size before any crop, and none where nothing is made smaller")
    func hints() {
        let original = ImageSize(width: 4000, height: 3000)
        #expect(ImageProcessors.Resize(width: 320).decodeHint(for: original) == ImageSize(width: 320, height: 240))
        #expect(pixels(100, 100, crop: true).decodeHint(for: original) == ImageSize(width: 133, height: 100))
        #expect(ImageProcessors.Resize(width: 4000).decodeHint(for: original) == nil)
        #expect(ImageProcessors.Resize(width: 8000, upscale: true).decodeHint(for: original) == nil)
        let composed = ImageProcessors.Composition([.resize(width: 320), MockProcessor("1")])
        #expect(composed.decodeHint(for: original) == ImageSize(width: 320, height: 240))
    }

    @Test(
        "a reduced original gives exactly the size of the whole one", arguments: [1, 2, 3, 7, 13, 31, 32, 33, 63, 64])
    func hintedSizes(side: Int) async throws {
        for (width, height) in [(side, 64), (64, side), (131, side + 2)] {
            let original = ImageSize(width: width, height: height)
            let whole = Bitmap.mock(width: width, height: height)
            for resize in [
                ImageProcessors.Resize(width: Double(side)), .init(height: Double(side)),
                pixels(Double(side), 20, crop: true),
                pixels(23, Double(side)),
            ] {
                guard let expected = resize.process(whole) else { continue }
                var reduced = whole
                if let hint = resize.decodeHint(for: original),
                    let size = RowShrinker.reducedSize(of: original, for: hint)
                {
                    #expect(Double(size.width) >= 2 * hint.width && Double(size.height) >= 2 * hint.height)
                    reduced = .mock(width: size.width, height: size.height)
                }
                var container = ImageContainer(image: reduced)
                container.originalSize = original
                let response = ImageResponse(container: container, request: ImageRequest(url: nil))
                let context = ImageProcessingContext(request: response.request, response: response, isCompleted: true)
                let output = try resize.process(container, context: context).image
                #expect(output.width == expected.width && output.height == expected.height)
            }
        }
    }
}
