import NukeTestSupport
import Testing

@testable import NukeCore

#if canImport(Glibc)
    import Glibc
#endif

@Suite(.timeLimit(.minutes(5)))
struct GaussianBlurTests {
    /// Samples of a channel as numbers, row by row.
    private func channel(_ image: Bitmap, _ channel: Int) -> [[Double]] {
        (0..<image.height).map { y in (0..<image.width).map { Double(image.pixel($0, y)[channel]) } }
    }

    /// A convolution with a symmetric kernel along rows and columns, with edges extended, the plain way.
    private func convolve(_ rows: [[Double]], _ kernel: [Double]) -> [[Double]] {
        func filter(_ row: [Double]) -> [Double] {
            row.indices.map { x in
                kernel.indices.reduce(0.0) { sum, tap in
                    sum + kernel[tap] * row[min(max(x + tap - kernel.count / 2, 0), row.count - 1)]
                }
            }
        }
        func transpose(_ rows: [[Double]]) -> [[Double]] { rows[0].indices.map { x in rows.map { $0[x] } } }
        return transpose(transpose(rows.map(filter)).map(filter))
    }

    /// The kernel of three boxes one after the other.
    private func tripleBox(_ diameter: Int) -> [Double] {
        var kernel = [1.0]
        for _ in 0..<3 {
            var wider = [Double](repeating: 0, count: kernel.count + diameter - 1)
            for (index, value) in kernel.enumerated() {
                for tap in 0..<diameter { wider[index + tap] += value / Double(diameter) }
            }
            kernel = wider
        }
        return kernel
    }

    private func gaussian(_ deviation: Double) -> [Double] {
        let reach = Int(deviation * 4) + 1
        let values = (-reach...reach).map { exp(-Double($0 * $0) / (2 * deviation * deviation)) }
        let sum = values.reduce(0, +)
        return values.map { $0 / sum }
    }

    private func noise(_ width: Int, _ height: Int, opaque: Bool = false) -> Bitmap {
        var state: UInt32 = 7
        return Bitmap.make(width: width, height: height) { _, _ in
            let pixel = (0..<4).map { _ -> UInt8 in
                state = state &* 1_664_525 &+ 1_013_904_223
                return UInt8(state >> 24)
            }
            let alpha = opaque ? 255 : pixel[3]
            return [min(pixel[0], alpha), min(pixel[1], alpha), min(pixel[2], alpha), alpha]
        }
    }

    private func largestDifference(_ a: [[Double]], _ b: [[Double]]) -> Double {
        zip(a, b).reduce(0.0) { largest, rows in
            zip(rows.0, rows.1).reduce(largest) { max($0, abs($1.0 - $1.1)) }
        }
    }

    @Test("radius 8 by default; 0 and less leave the very same object, under the identifier of 0 [PRC-40]")
    func radii() {
        #expect(ImageProcessors.GaussianBlur() == ImageProcessors.GaussianBlur(radius: 8))
        let image = noise(5, 5)
        for radius in [0, -1, .min] {
            #expect(ImageProcessors.GaussianBlur(radius: radius).process(image) === image)
            #expect(ImageProcessors.GaussianBlur(radius: radius).identifier.hasSuffix("?radius=0"))
        }
        let largest = ImageProcessors.GaussianBlur(radius: .max)
        #expect(largest == ImageProcessors.GaussianBlur(radius: 1000) && largest.process(image) != nil)
    }

    @Test("radii 1, 2 and 3 differ in what they do [PRC-41]")
    func smallRadii() throws {
        let image = noise(20, 20)
        let outputs = try (1...3).map { try #require(ImageProcessors.GaussianBlur(radius: $0).process(image)) }
        func contrast(_ image: Bitmap) -> Double {
            channel(image, 3).joined().reduce(0) { $0 + abs($1 - 128) } / 400
        }
        let values = ([image] + outputs).map(contrast)
        for (before, after) in zip(values, values.dropFirst()) { #expect(after < before * 0.85) }
    }

    @Test("the size stays, and edges are extended: flat pictures stay flat to the last pixel [PRC-42]")
    func edges() throws {
        for (width, height) in [(1, 1), (2, 1), (1, 7), (3, 5), (130, 3), (17, 16)] {
            let image = Bitmap.make(width: width, height: height) { _, _ in [255, 128, 3, 255] }
            for radius in [1, 8, 40, 110, 1000] {
                let output = try #require(ImageProcessors.GaussianBlur(radius: radius).process(image))
                #expect(output.width == width && output.height == height)
                #expect(output.byteArray == image.byteArray)
            }
        }
    }

    @Test("opaque stays opaque; alpha is blurred with the colours, which never exceed it [PRC-43]")
    func opacity() throws {
        let opaque = Bitmap.mock(width: 20, height: 10)
        let blurred = try #require(ImageProcessors.GaussianBlur(radius: 3).process(opaque))
        #expect(
            blurred.isOpaque && blurred.byteArray.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
        let half = Bitmap.make(width: 20, height: 10) { x, _ in x < 10 ? [255, 255, 255, 255] : [0, 0, 0, 0] }
        let output = try #require(ImageProcessors.GaussianBlur(radius: 3).process(half))
        #expect(!output.isOpaque && (100...155).contains(output.pixel(10, 5)[3]))
        #expect(output.pixel(0, 5)[3] > 245 && output.pixel(19, 5)[3] < 10)
        // White stays white under any alpha.
        for x in 0..<20 { #expect(output.pixel(x, 5)[0] == output.pixel(x, 5)[3]) }
        let noisy = try #require(ImageProcessors.GaussianBlur(radius: 2).process(noise(16, 16)))
        for y in 0..<16 {
            for x in 0..<16 { #expect(noisy.pixel(x, y).prefix(3).allSatisfy { $0 <= noisy.pixel(x, y)[3] }) }
        }
    }

    @Test("every format is blurred in its own [PRC-44]", arguments: PixelFormat.allCases)
    func formats(format: PixelFormat) throws {
        let image = Bitmap.gradient(width: 24, height: 9, format: format, scale: 2)
        for radius in [2, 110] {
            let output = try #require(ImageProcessors.GaussianBlur(radius: radius).process(image))
            #expect(output.format == format && output.width == 24 && output.height == 9)
            #expect(output.isOpaque && output.scale == 2)
            let kernel = tripleBox(BoxBlur.diameter(radius: radius))
            // Of 16-bit samples the high bytes are compared.
            #expect(largestDifference(channel(output, 0), convolve(channel(image, 0), kernel)) <= 1.5)
        }
    }

    @Test("the boxes' width: odd, so that three spread as a Gaussian does [PRC-45]")
    func diameters() {
        #expect([1, 2, 3, 4, 8, 10].map { BoxBlur.diameter(radius: $0) } == [3, 5, 7, 9, 15, 19])
    }

    @Test(
        "what comes out is three boxes, and close to a Gaussian of their spread [PRC-45]", arguments: [1, 2, 3, 5, 8])
    func convolution(radius: Int) throws {
        let image = noise(37, 23)
        let output = try #require(ImageProcessors.GaussianBlur(radius: radius).process(image))
        let diameter = BoxBlur.diameter(radius: radius)
        let deviation = (Double(diameter * diameter - 1) / 4).squareRoot()
        for index in 0..<4 {
            let source = channel(image, index)
            // Rounded twice: once each way.
            #expect(largestDifference(channel(output, index), convolve(source, tripleBox(diameter))) <= 1.01)
            #expect(largestDifference(channel(output, index), convolve(source, gaussian(deviation))) < 6)
        }
    }

    @Test("a large radius gives what the plain way gives, where sums need 64 bits [PRC-45]")
    func largeRadius() throws {
        let image = noise(12, 9)
        let output = try #require(ImageProcessors.GaussianBlur(radius: 120).process(image))
        let expected = convolve(channel(image, 0), tripleBox(BoxBlur.diameter(radius: 120)))
        #expect(largestDifference(channel(output, 0), expected) <= 1.01)
    }

    @Test("the blur's texts [PRC-46]")
    func texts() {
        #expect(ImageProcessors.GaussianBlur(radius: 5).identifier == "com.github.kean/nuke/gaussian_blur?radius=5")
        #expect("\(ImageProcessors.GaussianBlur(radius: 5))" == "GaussianBlur(radius: 5)")
    }
}
