import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

@Suite("HEIF colours", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFColorTests {
    private static let color = [200, 60, 90]

    /// A flat picture, coded with the matrix of BT.601 in full range, said to be coded otherwise.
    private func file(_ codings: [HEIFFile.Box], _ type: AssetType = .avif) throws -> Data {
        try CodedPicture(try Picture.flat(64, 64, Self.color), type, quality: 1).file(codings).data
    }

    /// What luma and the differences of BT.601 in full range are by another matrix, told by Kr and Kb.
    private func expected(red: Double, blue: Double, isFullRange: Bool) -> [Int] {
        let (r, g, b) = (Double(Self.color[0]), Double(Self.color[1]), Double(Self.color[2]))
        var luma = 0.299 * r + 0.587 * g + 0.114 * b
        var (cb, cr) = ((b - luma) / 1.772, (r - luma) / 1.402)
        if !isFullRange { (luma, cb, cr) = ((luma - 16) * 255 / 219, cb * 255 / 224, cr * 255 / 224) }
        let (newRed, newBlue) = (luma + 2 * (1 - red) * cr, luma + 2 * (1 - blue) * cb)
        let green = (luma - red * newRed - blue * newBlue) / (1 - red - blue)
        return [newRed, green, newBlue].map { Int(min(max($0, 0), 255).rounded()) }
    }

    @Test(
        "The matrix and range of the file's code points count [row 178]",
        arguments: [(1, 0.2126, 0.0722), (9, 0.2627, 0.0593), (6, 0.299, 0.114), (2, 0.299, 0.114), (7, 0.212, 0.087)],
        [true, false])
    func matrices(_ matrix: (code: Int, red: Double, blue: Double), _ isFullRange: Bool) throws {
        let data = try file([.coding(1, 13, matrix.code, isFullRange: isFullRange)])
        let wanted = expected(red: matrix.red, blue: matrix.blue, isFullRange: isFullRange)
        let image = try HEIFUnderTest.image(data)
        #expect(image.isNear(wanted, 32, 32, by: 3), "\(image.samples(32, 32)), not \(wanted)")
        #expect(image.colorSpace == .sRGB)
    }

    @Test("Matrix 0 is green, blue and red as they are; one that is not known is a typed error [row 178]")
    func otherMatrices() throws {
        let coded = try HEIFUnderTest.image(try file([.coding(1, 13, 0, isFullRange: true)]))
        let (r, g, b) = (200.0, 60.0, 90.0)
        let luma = 0.299 * r + 0.587 * g + 0.114 * b
        let wanted = [(r - luma) / 1.402 + 128, luma, (b - luma) / 1.772 + 128].map { Int($0.rounded()) }
        #expect(coded.isNear(wanted, 32, 32, by: 3), "\(coded.samples(32, 32)), not \(wanted)")
        let data = try file([.coding(9, 16, 14, isFullRange: true)])
        #expect(HEIFUnderTest.error(data)?.code == .unsupported)
    }

    @Test("Without code points a file has the colours that MIAF defines [row 178]", arguments: HEIFUnderTest.types)
    func noCoding(_ type: AssetType) throws {
        let image = try HEIFUnderTest.image(try file([], type))
        #expect(image.isNear(Self.color, 32, 32, by: 4), "\(image.samples(32, 32))")
        #expect(image.colorSpace == .sRGB)
    }

    @Test("PQ keeps its code values, in a colour space whose light fits a screen [row 179]")
    func perceptualQuantizer() throws {
        let image = try HEIFUnderTest.image(try file([.coding(9, 16, 9, isFullRange: true)]))
        #expect(image.isNear(expected(red: 0.2627, blue: 0.0593, isFullRange: true), 32, 32, by: 3))
        let profile = try ProfileReader(image.colorSpace.iccProfile)
        #expect(profile.isSizeRight)
        // Code values of SMPTE ST 2084 for 0, 20, 100 and 10,000 cd/m², where diffuse white is at 203.
        #expect(try profile.curve(0) == 0 && profile.curve(1) == 1)
        #expect(abs(try profile.curve(0.3570) - 20 / 203.0) < 0.002)
        #expect(abs(try profile.curve(0.5081) - 100 / 203.0) < 0.003)
        #expect(try (0.7...0.9).contains(profile.curve(0.5807)), "diffuse white stays bright, with room above it")
        let steps = try (0...64).map { try profile.curve(Double($0) / 64) }
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test("HLG likewise: half the signal is dim, three quarters are diffuse white [row 179]")
    func hybridLogGamma() throws {
        let image = try HEIFUnderTest.image(try file([.coding(9, 18, 9, isFullRange: true)]))
        let profile = try ProfileReader(image.colorSpace.iccProfile)
        #expect(try profile.curve(0) == 0 && profile.curve(1) == 1)
        // (0.5² ÷ 3)^1.2 of 1,000 cd/m².
        #expect(abs(try profile.curve(0.5) - 50.7 / 203) < 0.004)
        #expect(try (0.7...0.9).contains(profile.curve(0.75)))
    }

    @Test("Other primaries and curves become the profile of them; equal ones are equal")
    func displayP3() throws {
        let data = try file([.coding(12, 13, 6, isFullRange: true)])
        let image = try HEIFUnderTest.image(data)
        let profile = try ProfileReader(image.colorSpace.iccProfile)
        // The columns of Display P3 at D50, as colour engines have them.
        for (name, wanted) in [
            ("rXYZ", [0.5151, 0.2412, -0.0011]), ("gXYZ", [0.2920, 0.6922, 0.0419]),
            ("bXYZ", [0.1571, 0.0666, 0.7841]),
        ] {
            let light = try profile.light(name)
            #expect(zip(light, wanted).allSatisfy { abs($0 - $1) < 0.0006 }, "\(name) \(light)")
        }
        #expect(try profile.tag("rTRC").count == 32)
        #expect(try HEIFUnderTest.image(data).colorSpace == image.colorSpace)
        let linear = try HEIFUnderTest.image(try file([.coding(1, 8, 6, isFullRange: true)]))
        #expect(try ProfileReader(linear.colorSpace.iccProfile).curve(0.25) == 0.25)
    }

    @Test("An ICC profile counts more than code points; one that is not for RGB counts nothing")
    func profile() throws {
        func profile(_ space: String) -> [UInt8] {
            var bytes = [UInt8](repeating: 7, count: 200)
            bytes.replaceSubrange(16..<20, with: space.utf8)
            bytes.replaceSubrange(36..<40, with: "acsp".utf8)
            return bytes
        }
        func box(_ space: String) -> HEIFFile.Box {
            .init(type: "colr", contents: Array("prof".utf8) + profile(space))
        }
        let data = try file([.coding(12, 13, 6, isFullRange: true), box("RGB ")])
        #expect(try HEIFUnderTest.image(data).colorSpace.iccProfile == Data(profile("RGB ")))
        #expect(try HEIFUnderTest.properties(data).hasICCProfile)
        #expect(try HEIFUnderTest.image(try file([box("GRAY")])).colorSpace == .sRGB)
        let limited = try HEIFUnderTest.container(try file([box("RGB ")])) { $0.limits.metadataBytes = 199 }
        #expect(limited.image.colorSpace == .sRGB)
    }

    @Test("10 bits a sample become 8, over the whole range [row 187]")
    func deep() throws {
        let data = try DeepPicture.data()
        #expect(try HEIFUnderTest.properties(data).bitDepth == 10)
        let image = try HEIFUnderTest.image(data)
        #expect(image.size == ImageSize(width: 64, height: 64) && image.isOpaque && image.format == .rgba8)
        for (x, y) in [(0, 0), (63, 0), (0, 63), (63, 63), (32, 16), (10, 50)] {
            let wanted = [x * 255 / 63, y * 255 / 63, 128, 255]
            #expect(image.isNear(wanted, x, y, by: 8), "\(image.samples(x, y)), not \(wanted)")
        }
        // Reduced as well: a mean of 16-bit samples.
        let small = try HEIFUnderTest.container(data) { $0.request.thumbnail = .init(maxPixelSize: 8) }.image
        #expect(small.isNear([127, 127, 128, 255], 4, 4, by: 24) && small.width == 8)
    }

    @Test("Gray pictures are gray")
    func gray() throws {
        for type in HEIFUnderTest.types {
            let picture = try Picture.make(64, 32, format: .gray8) { x, _ in [x * 4] }
            let image = try HEIFUnderTest.image(try HEIFUnderTest.encoded(picture, type))
            for x in [0, 20, 63] { #expect(image.isNear([x * 4, x * 4, x * 4, 255], x, 16, by: 6)) }
        }
    }
}
