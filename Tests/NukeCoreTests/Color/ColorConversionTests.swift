import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite("Colour conversion", .timeLimit(.minutes(5)))
struct ColorConversionTests {
    private typealias Builder = ICCProfileBuilder

    private static let p3 = Builder.rgb(Builder.p3Colorants, Array(repeating: Builder.standardCurve, count: 3))

    /// A picture of these pixels in a row: red, green, blue and alpha, premultiplied.
    private func picture(_ pixels: [[Int]], _ profile: Data, isOpaque: Bool = true) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: pixels.count, height: 1) else { throw ImageDecodingError.unknown }
        buffer.withRow(0) { row in
            for (x, pixel) in pixels.enumerated() {
                for (index, value) in pixel.enumerated() {
                    row.storeBytes(of: UInt8(value), toByteOffset: x * 4 + index, as: UInt8.self)
                }
            }
        }
        let space = try #require(ColorSpace(iccProfile: profile, for: .rgba8))
        return buffer.freeze(isOpaque: isOpaque, colorSpace: space)
    }

    private func converted(_ bitmap: Bitmap, options: ImageRequest.Options = []) -> Bitmap {
        var container = ImageContainer(image: bitmap)
        container.convertToSRGB(for: ImageRequest(url: nil, options: options))
        return container.image
    }

    private func pixels(_ bitmap: Bitmap) -> [[Int]] {
        (0..<bitmap.width).map { x in
            (0..<4).map { Int(bitmap.row(0).unsafeLoad(fromByteOffset: x * 4 + $0, as: UInt8.self)) }
        }
    }

    private func isNear(_ a: [[Int]], _ b: [[Int]]) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= 1 } }
    }

    @Test("Display P3 becomes sRGB: neutral colours stay, what sRGB does not have is cut to it [row 184]")
    func displayP3() throws {
        let source = [
            [0, 0, 0, 255], [255, 255, 255, 255], [128, 128, 128, 255], [255, 0, 0, 255], [200, 100, 50, 255],
        ]
        let result = converted(try picture(source, Self.p3))
        #expect(result.colorSpace == .sRGB && result.isOpaque)
        // The last one by the formulas of both spaces.
        let expected = [
            [0, 0, 0, 255], [255, 255, 255, 255], [128, 128, 128, 255], [255, 0, 0, 255], [215, 93, 31, 255],
        ]
        #expect(isNear(pixels(result), expected), "\(pixels(result))")
    }

    @Test(
        "spaces far wider than sRGB: the tables give what the formulas do, and white stays white [row 184]",
        arguments: [Builder.p3Colorants, Builder.adobeColorants, Builder.proPhotoColorants])
    func wideSpaces(colorants: [Data]) throws {
        let data = Builder.rgb(colorants, Array(repeating: Builder.curve(gamma: 1.8), count: 3))
        let transform = try #require(ICCProfile(data).flatMap { ColorTransform($0) })
        let values = Array(stride(from: 0, through: 255, by: 51))
        let source = values.flatMap { red in values.flatMap { green in values.map { [red, green, $0, 255] } } }
        let expected = source.map { color in
            let exact = transform.convert(SIMD3(Double(color[0]), Double(color[1]), Double(color[2])) / 255) * 255
            return [exact.x, exact.y, exact.z].map { Int($0.rounded()) } + [255]
        }
        let result = pixels(converted(try picture(source, data)))
        #expect(isNear(result, expected))
        #expect(isNear([result[result.count - 1]], [[255, 255, 255, 255]]), "\(result[result.count - 1])")
    }

    @Test("a matrix that no real profile has leaves the colours alone")
    func hugeMatrix() throws {
        let point = Builder.point(30000, 30000, 30000)
        let source = try picture(
            [[200, 100, 50, 255]],
            Builder.rgb([point, point, point], Array(repeating: Builder.curve(gamma: 1), count: 3)))
        #expect(converted(source) === source)
    }

    @Test("what was converted is not converted again [row 184]")
    func once() throws {
        let first = converted(try picture([[200, 100, 50, 255]], Self.p3))
        #expect(converted(first) === first)
    }

    @Test("curves by a power, by a table and by a function with the same meaning give the same colours")
    func curves() throws {
        let table = (0..<1024).map { Int((Double($0) / 1023 * Double($0) / 1023 * 65535).rounded()) }
        let curves = [
            Builder.curve(gamma: 2), Builder.curve(table: table), Builder.parametric(0, [2]),
            Builder.parametric(1, [2, 1, 0]), Builder.parametric(2, [2, 1, 0, 0]),
            Builder.parametric(4, [2, 1, 0, 0, 0, 0, 0]),
        ]
        let source = [[10, 20, 30, 255], [60, 120, 240, 255]]
        let results = try curves.map { curve in
            pixels(converted(try picture(source, Builder.rgb(Builder.p3Colorants, Array(repeating: curve, count: 3)))))
        }
        for result in results { #expect(isNear(result, results[0]), "\(result), \(results[0])") }
        #expect(!isNear(results[0], source))
    }

    @Test("alpha is divided out around it: half a colour is half of the colour's conversion")
    func alpha() throws {
        let whole = pixels(converted(try picture([[200, 100, 50, 255]], Self.p3)))[0]
        let result = pixels(converted(try picture([[100, 50, 25, 128], [0, 0, 0, 0]], Self.p3, isOpaque: false)))
        let half = whole.prefix(3).map { ($0 * 128 + 127) / 255 } + [128]
        #expect(isNear(result, [half, [0, 0, 0, 0]]), "\(result)")
    }

    @Test("a profile within one code value of sRGB counts as sRGB: the pixels are not touched")
    func nearIdentity() throws {
        let profile = Builder.rgb(Builder.standardColorants, Array(repeating: Builder.standardCurve, count: 3))
        let source = [[1, 2, 3, 255], [200, 100, 50, 255]]
        let result = converted(try picture(source, profile))
        #expect(result.colorSpace == .sRGB && pixels(result) == source)
    }

    @Test("with preserveColorSpace colours and profile stay, and it is another image in memory and on disk")
    func preserved() throws {
        let source = try picture([[200, 100, 50, 255]], Self.p3)
        #expect(converted(source, options: .preserveColorSpace) === source)
        let plain = ImageRequest(url: URL(string: "https://example.com/a"), processors: [.resize(width: 10)])
        var preserved = plain
        preserved.options = .preserveColorSpace
        #expect(ImageCacheKey(request: plain) != ImageCacheKey(request: preserved))
        #expect(plain.dataKey != preserved.dataKey)
    }

    @Test("profiles of tables, and damaged ones, stay and leave the colours alone [row 112] [row 185]")
    func unsupported() throws {
        var tables = ICCProfileBuilder()
        tables.tags = [("A2B0", Data(count: 64))]
        let cut = Self.p3.prefix(200)
        var loop = Self.p3
        loop.replaceSubrange(128..<132, with: [0xFF, 0xFF, 0xFF, 0xFF])
        for profile in [tables.data, Data(cut), loop, Self.p3.prefix(128) + Data(count: 4)] {
            let source = try picture([[200, 100, 50, 255]], Data(profile))
            #expect(converted(source) === source)
        }
        // A profile of gray does not suit pixels of colour, and is not taken for theirs.
        #expect(ColorSpace(iccProfile: Builder.gray(Builder.curve(gamma: 2)), for: .rgba8) == nil)
    }

    @Test("no bytes in a profile crash the reader")
    func hostile() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var bytes = Self.p3
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 128..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let profile = ICCProfile(bytes), let transform = ColorTransform(profile) else { continue }
            let result = transform.convert(SIMD3(0.2, 0.5, 0.9))
            #expect((0...1).contains(result.x) && (0...1).contains(result.y) && (0...1).contains(result.z))
        }
    }

    @Test("gray pixels go by the curve of a gray profile")
    func gray() throws {
        guard var buffer = PixelBuffer(width: 3, height: 1, format: .gray8) else { throw ImageDecodingError.unknown }
        buffer.withRow(0) { row in
            for (x, value) in [0, 100, 255].enumerated() {
                row.storeBytes(of: UInt8(value), toByteOffset: x, as: UInt8.self)
            }
        }
        let space = try #require(ColorSpace(iccProfile: Builder.gray(Builder.curve(gamma: 1)), for: .gray8))
        let result = converted(buffer.freeze(colorSpace: space))
        let values = (0..<3).map { result.row(0).unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        // Light of 100 / 255 encoded by sRGB's curve.
        #expect(values == [0, 168, 255] && result.colorSpace == .sRGB && result.format == .gray8)
    }

    @Test("16 bits keep their precision")
    func deep() throws {
        guard var buffer = PixelBuffer(width: 1, height: 1, format: .rgba16) else { throw ImageDecodingError.unknown }
        buffer.withRow(0) { row in
            for (index, value) in [200 * 257, 100 * 257, 50 * 257, 65535].enumerated() {
                row.storeBytes(of: UInt16(value), toByteOffset: index * 2, as: UInt16.self)
            }
        }
        let space = try #require(ColorSpace(iccProfile: Self.p3, for: .rgba16))
        let result = converted(buffer.freeze(isOpaque: true, colorSpace: space))
        let values = (0..<4).map { Double(result.row(0).unsafeLoad(fromByteOffset: $0 * 2, as: UInt16.self)) / 257 }
        let eight = pixels(converted(try picture([[200, 100, 50, 255]], Self.p3)))[0]
        #expect(zip(values, eight).allSatisfy { abs($0 - Double($1)) <= 1 }, "\(values) \(eight)")
    }

    @Test("pixels that nobody else holds are changed in place, others copied")
    func inPlace() throws {
        let source = try picture([[200, 100, 50, 255]], Self.p3)
        _ = converted(source)
        #expect(pixels(source) == [[200, 100, 50, 255]])
        let other = source.withScale(2)
        var lone = try picture([[200, 100, 50, 255]], Self.p3)
        var shared = lone.withScale(2)
        #expect(Bitmap.uniqueStorage(of: &lone) == nil && Bitmap.uniqueStorage(of: &shared) == nil)
        var alone = try picture([[200, 100, 50, 255]], Self.p3)
        #expect(Bitmap.uniqueStorage(of: &alone) != nil)
        _ = other
    }

    @Test("a load gives sRGB, its previews and frames too")
    func pipeline() async throws {
        let source = try picture([[200, 100, 50, 255]], Self.p3)
        let animation = ImageAnimation(storedDurations: [1, 1], playCount: nil, frames: Still(source))
        var container = ImageContainer(image: source)
        container.animation = animation
        container.convertToSRGB(for: ImageRequest(url: nil))
        let frame = try #require(try await container.animation?.frame(at: 1))
        #expect(frame.colorSpace == .sRGB && pixels(frame) == pixels(container.image))
        #expect(try await animation.frame(at: 1) === source)
        let pipeline = ImagePipeline { configuration in
            configuration.dataLoader = MockDataLoader()
            configuration.decoderRegistry = ImageDecoderRegistry()
            configuration.decoderRegistry.register { _ in StillDecoder(image: source) }
        }
        let image = try await pipeline.image(for: "http://test.com/p3")
        #expect(image.colorSpace == .sRGB && pixels(image) == pixels(container.image))
    }

    private struct StillDecoder: ImageDecoding {
        let image: Bitmap

        func decode(_ data: Data) -> ImageContainer { ImageContainer(image: image) }
    }

    /// The same picture at every frame.
    private final class Still: ImageFrameDecoding {
        let image: Bitmap

        init(_ image: Bitmap) { self.image = image }

        func frame(at index: Int) -> Bitmap { image }
    }
}
