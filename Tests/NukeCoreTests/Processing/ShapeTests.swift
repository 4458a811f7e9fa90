import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.timeLimit(.minutes(5)))
struct ShapeTests {
    private let color: [UInt8] = [200, 100, 50, 255]

    private func flat(_ width: Int, _ height: Int) -> Bitmap {
        let color = color
        return Bitmap.make(width: width, height: height) { _, _ in color }
    }

    private func alphaSum(_ image: Bitmap) -> Double {
        (0..<image.height).reduce(0.0) { sum, y in
            (0..<image.width).reduce(sum) { $0 + Double(image.pixel($1, y)[3]) / 255 }
        }
    }

    // MARK: Circle

    @Test("a circle: the middle square, corners transparent, the middle as it was [PRC-32]")
    func circle() throws {
        let image = Bitmap.make(width: 31, height: 21) { x, _ in
            (5..<26).contains(x) ? [200, 100, 50, 255] : [0, 255, 0, 255]
        }
        let output = try #require(ImageProcessors.Circle().process(image))
        #expect(output.width == 21 && output.height == 21 && !output.isOpaque)
        for (x, y) in [(0, 0), (20, 0), (0, 20), (20, 20), (2, 2)] { #expect(output.pixel(x, y) == [0, 0, 0, 0]) }
        #expect(output.pixel(10, 10) == color && output.pixel(10, 1) == color && output.pixel(1, 10) == color)
        // Nothing of what was cropped shows, and edges are blended: colour in proportion to alpha.
        for y in 0..<21 {
            for x in 0..<21 {
                let pixel = output.pixel(x, y).map(Double.init)
                for channel in 0..<3 {
                    #expect(abs(pixel[channel] - pixel[3] * Double(color[channel]) / 255) <= 1)
                }
            }
        }
        let tall = try #require(ImageProcessors.Circle().process(flat(20, 31)))
        #expect(tall.width == 20 && tall.height == 20)
    }

    @Test("a circle's pixels cover its area, for even and odd sides", arguments: [1, 2, 3, 9, 10, 33, 64])
    func area(side: Int) throws {
        let output = try #require(ImageProcessors.Circle().process(flat(side, side)))
        let radius = Double(side) / 2
        // Each pixel is rounded to a 255th.
        #expect(abs(alphaSum(output) - Double.pi * radius * radius) < 0.002 * Double(8 * side))
        for y in 0..<side {
            for x in 0..<side {
                let alpha = output.pixel(x, y)[3]
                #expect(alpha == output.pixel(side - 1 - x, y)[3] && alpha == output.pixel(y, x)[3])
                #expect(alpha == output.pixel(x, side - 1 - y)[3])
            }
        }
    }

    @Test("circles' texts [PRC-33]")
    func circleTexts() {
        let circle = ImageProcessors.Circle()
        #expect(circle.identifier == "com.github.kean/nuke/circle" && "\(circle)" == "Circle(border: nil)")
        let bordered = ImageProcessors.Circle(border: .init(color: .red, width: 4, unit: .pixels))
        #expect(
            bordered.identifier == "com.github.kean/nuke/circle?border=Border(color: #FF0000, width: 4.0 pixels)")
        #expect("\(bordered)" == "Circle(border: Border(color: #FF0000, width: 4.0 pixels))")
        #expect(circle.hashableIdentifier != bordered.hashableIdentifier)
    }

    // MARK: Round corners

    @Test("round corners: size kept, corners transparent, the rest as it was [PRC-34]")
    func roundedCorners() throws {
        let image = Bitmap.make(width: 40, height: 30) { x, y in [UInt8(x * 5), UInt8(y * 7), 50, 255] }
        let output = try #require(ImageProcessors.RoundedCorners(radius: 8).process(image))
        #expect(output.width == 40 && output.height == 30 && !output.isOpaque)
        for (x, y) in [(0, 0), (39, 0), (0, 29), (39, 29)] { #expect(output.pixel(x, y) == [0, 0, 0, 0]) }
        for (x, y) in [(20, 0), (0, 15), (39, 15), (20, 29), (20, 15), (8, 8), (3, 3), (36, 26)] {
            #expect(output.pixel(x, y) == image.pixel(x, y))
        }
        #expect(abs(alphaSum(output) - (1200 - (4 - Double.pi) * 64)) < 0.1)
        let processor = ImageProcessors.RoundedCorners(radius: 16, unit: .pixels)
        #expect(processor.identifier == "com.github.kean/nuke/rounded_corners?radius=16.0")
        #expect("\(processor)" == "RoundedCorners(radius: 16.0 pixels, border: nil)")
        let bordered = ImageProcessors.RoundedCorners(radius: 16, border: .init(color: .red))
        #expect(
            bordered.identifier
                == "com.github.kean/nuke/rounded_corners?radius=16.0,border=Border(color: #FF0000, width: 1.0 pixels)")
    }

    @Test("any radius is at most half the shorter side; none leaves the very same object; no number fails")
    func radii() throws {
        let image = flat(12, 8)
        let capsule = try #require(ImageProcessors.RoundedCorners(radius: 1e300).process(image))
        #expect(abs(alphaSum(capsule) - (32 + Double.pi * 16)) < 0.05)
        for radius in [0, -5, -Double.infinity] {
            #expect(ImageProcessors.RoundedCorners(radius: radius).process(image) === image)
            #expect(
                ImageProcessors.RoundedCorners(radius: radius).identifier.hasSuffix("?radius=0.0"))
        }
        for radius in [Double.nan, .infinity] {
            #expect(ImageProcessors.RoundedCorners(radius: radius).process(image) == nil)
        }
        #expect(ImageProcessors.RoundedCorners(radius: 3).process(flat(1, 1))?.pixel(0, 0)[3] == 200)
        #expect(ImageProcessors.RoundedCorners(radius: 3).process(flat(1, 9))?.pixel(0, 4) == color)
    }

    @Test("exact areas: every pixel's coverage agrees with counting points in it")
    func coverage() {
        let shapes: [(Int, Int, Double, Double)] = [
            (9, 9, 0, 4.5), (10, 10, 0, 3.3), (11, 7, 1.5, 2), (8, 8, 3.9, 0.1), (7, 7, 3.5, 0), (12, 9, 0.5, 100),
            (5, 5, 0.25, 1.2),
        ]
        for (width, height, inset, radius) in shapes {
            let shape = RoundedRectangle(width: width, height: height, inset: inset, radius: radius)
            let rounding = min(radius, Double(min(width, height)) / 2 - inset)
            for y in 0..<height {
                let row = shape.row(y)
                for x in 0..<width {
                    let counted = Self.count(x, y, width, height, inset, rounding)
                    let computed = shape.coverage(x, y)
                    #expect(abs(counted - computed) < 0.01)
                    let column = min(x, width - 1 - x)
                    if column < row.partial.lowerBound { #expect(computed < 1e-9) }
                    if column >= row.partial.upperBound { #expect(abs(computed - row.middle) < 1e-9) }
                }
            }
        }
    }

    /// The share of 32 × 32 points in a pixel that lie in the shape.
    private static func count(
        _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ inset: Double, _ radius: Double
    ) -> Double {
        var hits = 0
        for index in 0..<1024 {
            let px = Double(x) + (Double(index % 32) + 0.5) / 32
            let py = Double(y) + (Double(index / 32) + 0.5) / 32
            let (left, top) = (min(px, Double(width) - px) - inset, min(py, Double(height) - py) - inset)
            if left < 0 || top < 0 { continue }
            let (a, b) = (max(0, radius - left), max(0, radius - top))
            if a * a + b * b <= radius * radius { hits += 1 }
        }
        return Double(hits) / 1024
    }

    // MARK: Borders

    @Test("a border is drawn along the edge, inside, as wide as it says [PRC-35]")
    func border() throws {
        let border = ImageProcessingOptions.Border(color: .red, width: 2, unit: .pixels)
        let corners = try #require(ImageProcessors.RoundedCorners(radius: 5, border: border).process(flat(30, 20)))
        for (x, y) in [(15, 0), (15, 1), (0, 10), (1, 10), (29, 10), (28, 10), (15, 19), (15, 18)] {
            #expect(corners.pixel(x, y) == [255, 0, 0, 255])
        }
        for (x, y) in [(15, 2), (2, 10), (27, 10), (15, 17), (5, 5)] { #expect(corners.pixel(x, y) == color) }
        #expect(corners.pixel(0, 0) == [0, 0, 0, 0])
        // Along the outer edge there is border only, thinned: none of the picture shows through.
        for x in 0..<5 { #expect(corners.pixel(x, 0)[1] == 0 && corners.pixel(x, 0)[0] == corners.pixel(x, 0)[3]) }
        // By default it is a point wide.
        let circle = try #require(ImageProcessors.Circle(border: .init(color: .blue)).process(flat(20, 20)))
        #expect(circle.pixel(0, 10)[2] > 240 && circle.pixel(2, 10) == color)
        let scaled = try #require(
            ImageProcessors.Circle(border: .init(color: .blue)).process(flat(20, 20).withScale(3)))
        #expect(scaled.pixel(1, 10) == [0, 0, 255, 255] && scaled.pixel(4, 10) == color)
        // Square, half transparent, and wider than the picture.
        let square = ImageProcessors.RoundedCorners(
            radius: 0, border: .init(color: .white.withAlpha(0.5), width: 1, unit: .pixels))
        #expect(square.process(flat(5, 5))?.pixel(0, 0) == [228, 178, 153, 255])
        let wide = ImageProcessors.Circle(border: .init(color: .black, width: 1e9))
        #expect(wide.process(flat(9, 9))?.pixel(4, 4) == [0, 0, 0, 255])
        for width in [0, -1, .nan, .infinity] {
            let processor = ImageProcessors.RoundedCorners(radius: 0, border: .init(color: .black, width: width))
            let image = flat(5, 5)
            #expect(processor.process(image) === image)
        }
    }

    @Test("gray pictures get an alpha channel, 16-bit ones keep their depth [PRC-36]", arguments: PixelFormat.allCases)
    func formats(format: PixelFormat) throws {
        let image = Bitmap.gradient(width: 16, height: 16, format: format, scale: 2)
        let border = ImageProcessingOptions.Border(color: .green, width: 1, unit: .pixels)
        let processors: [any ImageProcessing] = [
            .circle(border: border), .roundedCorners(radius: 4, unit: .pixels, border: border),
        ]
        for processor in processors {
            let output = try #require(processor.process(image))
            #expect(output.format == (format == .rgba16 ? .rgba16 : .rgba8) && output.scale == 2)
            #expect(output.pixel(0, 0)[3] == 0 && output.pixel(8, 8) == image.pixel(8, 8))
            #expect(output.pixel(8, 8)[3] == 255 && output.pixel(8, 0)[1] > 240 && output.pixel(8, 0)[0] < 16)
        }
    }

    @Test("transparent pictures stay so under a mask")
    func transparency() throws {
        let image = Bitmap.make(width: 9, height: 9) { _, _ in [60, 30, 0, 120] }
        let output = try #require(ImageProcessors.RoundedCorners(radius: 3).process(image))
        #expect(output.pixel(4, 4) == [60, 30, 0, 120])
        for x in 0..<9 {
            let pixel = output.pixel(x, 0)
            #expect(pixel[0] <= pixel[3] && pixel[3] <= 120)
        }
    }

    @Test("points-based shapes at scale 1 equal pixel-based ones [PRC-49]")
    func units() {
        func border(_ unit: ImageProcessingOptions.Unit) -> ImageProcessingOptions.Border {
            .init(color: .red, width: 2, unit: unit)
        }
        #expect(ImageProcessors.Circle(border: border(.points)) == .init(border: border(.pixels)))
        let points = ImageProcessors.RoundedCorners(radius: 4, unit: .points, border: border(.points))
        let pixels = ImageProcessors.RoundedCorners(radius: 4, unit: .pixels, border: border(.pixels))
        #expect(points == pixels && points.identifier == pixels.identifier)
        #expect(points.process(flat(20, 20))?.byteArray == pixels.process(flat(20, 20))?.byteArray)
        #expect(
            points.inPixels(scale: 2).identifier
                == "com.github.kean/nuke/rounded_corners?radius=8.0,border=Border(color: #FF0000, width: 4.0 pixels)")
    }
}
