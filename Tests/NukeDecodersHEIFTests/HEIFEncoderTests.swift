import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

@Suite("HEIF encoding", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFEncoderTests {
    @Test("A picture comes back, of its type and size, near its colours", arguments: HEIFUnderTest.types)
    func roundTrip(_ type: AssetType) throws {
        for (width, height) in [(64, 48), (65, 33), (1, 1), (3, 200), (130, 2)] {
            let picture = try Picture.gradient(width, height)
            let data = try HEIFUnderTest.encoded(picture, type)
            #expect(AssetType(data) == type)
            let image = try HEIFUnderTest.image(data)
            #expect(image.size == picture.size && image.isOpaque && image.colorSpace == .sRGB)
            let (means, wanted) = (PixelStatistics(image).mean, PixelStatistics(picture).mean)
            #expect(zip(means, wanted).allSatisfy { abs($0 - $1) < 4 }, "\(width)x\(height): \(means), not \(wanted)")
        }
    }

    @Test("Equal images give equal bytes", arguments: HEIFUnderTest.types)
    func deterministic(_ type: AssetType) throws {
        let picture = try Picture.make(200, 150, isOpaque: false) { x, y in
            let alpha = 255 - x
            return [(x * y) % 256, x, (x ^ y) % 256].map { $0 * alpha / 255 } + [alpha]
        }
        let first = try HEIFUnderTest.encoded(picture, type, quality: 0.6)
        for _ in 0..<3 { #expect(try HEIFUnderTest.encoded(picture, type, quality: 0.6) == first) }
    }

    @Test("Quality and chroma count", arguments: HEIFUnderTest.types)
    func options(_ type: AssetType) throws {
        let picture = try Picture.make(128, 128) { x, y in [(x * 31 ^ y * 17) % 256, (x * y) % 256, (x + y) % 256, 255]
        }
        func count(_ options: ImageEncodingOptions) throws -> Int {
            try #require(ImageEncoders.HEIF(type: type, options: options).encode(picture)).count
        }
        let sizes = try [0, 0.3, 0.8, 1].map { try count(.init(quality: $0)) }
        #expect(zip(sizes, sizes.dropFirst()).allSatisfy { $0 < $1 }, "\(sizes)")
        #expect(try count(.init(quality: .nan)) == sizes[0] && count(.init(quality: 7)) == sizes[3])
        let stripes = try Picture.make(64, 64) { x, _ in x % 2 == 0 ? [255, 0, 0, 255] : [0, 0, 255, 255] }
        func red(_ sampling: ImageEncodingOptions.ChromaSubsampling) throws -> Int {
            let encoder = ImageEncoders.HEIF(type: type, options: .init(quality: 0.95, chromaSubsampling: sampling))
            return try HEIFUnderTest.image(try #require(encoder.encode(stripes))).samples(32, 32)[0]
        }
        #expect(try red(.none) > 200 && red(.half) < 190)
    }

    @Test("Alpha is stored beside colours that it is divided out of; 16 bits become 8", arguments: HEIFUnderTest.types)
    func alpha(_ type: AssetType) throws {
        for format in [PixelFormat.rgba8, .rgba16] {
            let picture = try Picture.make(64, 64, format: format, isOpaque: false) { x, _ in
                x < 32 ? [100, 50, 25, 128] : [200, 100, 50, 255]
            }
            let image = try HEIFUnderTest.image(try HEIFUnderTest.encoded(picture, type))
            #expect(!image.isOpaque)
            #expect(image.isNear([100, 50, 25, 128], 10, 32) && image.isNear([200, 100, 50, 255], 54, 32))
        }
        let clear = try Picture.make(64, 64, isOpaque: false) { _, _ in [0, 0, 0, 0] }
        #expect(try HEIFUnderTest.image(try HEIFUnderTest.encoded(clear, type)).isNear([0, 0, 0, 0], 30, 30, by: 1))
    }

    @Test("The profile is written, and nothing that turns the picture", arguments: HEIFUnderTest.types)
    func profile(_ type: AssetType) throws {
        var profile = Data(repeating: 3, count: 300)
        profile.replaceSubrange(16..<20, with: "RGB ".utf8)
        profile.replaceSubrange(36..<40, with: "acsp".utf8)
        let space = try #require(ColorSpace(iccProfile: profile, for: .rgba8))
        let picture = try Picture.make(64, 64, colorSpace: space) { x, _ in [x * 4, 90, 200, 255] }
        let data = try HEIFUnderTest.encoded(picture, type)
        let image = try HEIFUnderTest.image(data)
        #expect(image.colorSpace == space && image.isNear([128, 90, 200, 255], 32, 32))
        #expect(try HEIFUnderTest.properties(data).hasICCProfile)
        #expect(["irot", "imir", "Exif"].allSatisfy { !data.contains(text: $0) })
    }

    @Test("What can't be encoded is a typed error")
    func unsupported() throws {
        let long = try Picture.flat(70_000, 1, [1, 2, 3])
        for type in HEIFUnderTest.types {
            #expect(throws: ImageEncodingError.self) { try HEIFUnderTest.encoded(long, type) }
            #expect(ImageEncoders.HEIF(type: type).encode(long) == nil)
        }
    }
}
