import FoundationEssentials
import Glibc
import NukeKit
import NukeTestSupport
import Testing

@Suite("GIF quality", .timeLimit(.minutes(5)))
struct GIFQualityTests {
    @Test(
        "photographs lose no more to 256 colours than by Pillow's median cut [fixtures]",
        .enabled(if: Fixture.corpus != nil),
        arguments: [
            // Pillow 13's PSNR over red, green and blue, with its default palette and without dithering.
            ("jpeg/dart-testprog.jpg", 34.54), ("jpeg/gen-410.jpg", 35.10), ("jpeg/gen-420.jpg", 35.77),
            ("jpeg/gen-rgb.jpg", 36.49), ("jpeg/ljt-testimgari.jpg", 34.14), ("jpeg/wuffs-bricks-color.jpeg", 31.11),
            ("png/wuffs-red-blue-gradient.gamma1dot8.png", 33.31), ("webp/gen-lossless.webp", 35.55),
            ("webp/pil-hopper.webp", 34.72), ("webp/tv-test.webp", 42.63), ("webp/wuffs-hat.lossy.webp", 35.30),
        ])
    func floor(path: String, floor: Double) throws {
        NukeKit.install()
        let source = try File.read(try #require(Fixture.corpus) + "/" + path)
        let image = try picture(source, options: .preserveColorSpace)
        let file = try #require(ImageEncoders.GIF().encode(image))
        let decoded = try picture(file, options: .preserveColorSpace)
        var sum = 0.0
        for (index, pair) in zip(image.byteArray, decoded.byteArray).enumerated() where index % 4 != 3 {
            sum += (Double(pair.0) - Double(pair.1)) * (Double(pair.0) - Double(pair.1))
        }
        // The floor as a mean of squares, so that the figure above is the one to look at.
        let (limit, mean) = (65_025 / pow(10, floor / 10), sum / Double(image.width * image.height * 3))
        #expect(mean < limit, "\(path): \(mean) against \(limit)")
        // The same again, and not by chance: at least 0.8 dB better than that everywhere.
        #expect(mean < limit * 0.83, "\(path)")
    }

    private func picture(_ data: Data, options: ImageRequest.Options) throws -> Bitmap {
        let context = ImageDecodingContext(request: ImageRequest(url: nil, options: options), data: data)
        return try #require(ImageDecoderRegistry.shared.decoder(for: context)).decode(data).image
    }
}
