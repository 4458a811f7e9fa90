import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

/// Inks and other components than three.
@Suite("JPEG colour", .timeLimit(.minutes(5)))
struct JPEGColorTests {
    private func color(_ file: JPEGFile) throws -> [Int] {
        let image = try JPEGUnderTest.decode(file.data).image
        #expect((image.width, image.height) == (8, 8) && image.isOpaque)
        return image.pixel(3, 5).map { Int($0) }
    }

    private func isNear(_ a: [Int], _ b: [Int]) -> Bool { zip(a, b).allSatisfy { abs($0 - $1) <= 2 } }

    @Test(
        "Inks, stored as what they leave, are those of Adobe's files, said so or not [row 109]",
        arguments: [nil, UInt8(0)])
    func inks(adobe: UInt8?) throws {
        // No ink; cyan; magenta; yellow; black; half of black on cyan.
        #expect(try color(.flat([255, 255, 255, 255], adobe: adobe)) == [255, 255, 255, 255])
        #expect(try color(.flat([0, 255, 255, 255], adobe: adobe)) == [0, 255, 255, 255])
        #expect(try color(.flat([255, 0, 255, 255], adobe: adobe)) == [255, 0, 255, 255])
        #expect(try color(.flat([255, 255, 0, 255], adobe: adobe)) == [255, 255, 0, 255])
        #expect(try color(.flat([255, 255, 255, 0], adobe: adobe)) == [0, 0, 0, 255])
        #expect(try color(.flat([0, 255, 255, 128], adobe: adobe)) == [0, 128, 128, 255])
        #expect(try color(.flat([200, 100, 50, 51], adobe: adobe)) == [40, 20, 10, 255])
    }

    @Test("Luma and chroma of inks with black: all four channels have the right polarity [row 109] [row 110]")
    func lumaAndChroma() throws {
        // The luma and chroma of red stand for cyan, those of green for magenta.
        #expect(isNear(try color(.flat([76, 85, 255, 255], adobe: 2)), [0, 255, 255, 255]))
        #expect(isNear(try color(.flat([150, 44, 21, 255], adobe: 2)), [255, 0, 255, 255]))
        #expect(isNear(try color(.flat([0, 128, 128, 255], adobe: 2)), [255, 255, 255, 255]))
        #expect(isNear(try color(.flat([0, 128, 128, 0], adobe: 2)), [0, 0, 0, 255]))
        #expect(isNear(try color(.flat([0, 128, 128, 100], adobe: 2)), [100, 100, 100, 255]))
    }

    @Test("The container says how inks became colours, and the properties that they were inks")
    func flagged() throws {
        let container = try JPEGUnderTest.decode(JPEGFile.flat([1, 2, 3, 4]).data)
        #expect(container.userInfo[.colorConversionKey] as? ImageContainer.ColorConversion == .plainCMYK)
        #expect(try JPEGUnderTest.properties(JPEGFile.flat([1, 2, 3, 4]).data)?.colorModel == .cmyk)
        #expect(try JPEGUnderTest.decode(JPEGFile.flat([1, 2, 3]).data).userInfo.isEmpty)
    }

    @Test("A profile for RGB in a file of inks is not taken for the pixels' own [row 112]")
    func mismatchedProfile() throws {
        let donor = try JPEGFile(fixture: "gen-icc-p3.jpg")
        var file = try JPEGFile(fixture: "gen-cmyk-adobe.jpg")
        file.segments.insert(contentsOf: donor.segments.filter { $0.marker == JPEGFile.app2 }, at: 0)
        #expect(try JPEGUnderTest.properties(file.data)?.hasICCProfile == true)
        #expect(try JPEGUnderTest.decode(file.data).image.colorSpace == .sRGB)
    }

    @Test("Inks are reduced and turned like other pictures")
    func reduced() throws {
        var file = try JPEGFile(fixture: "gen-cmyk-adobe.jpg")
        let whole = PixelStatistics(try JPEGUnderTest.decode(file.data).image)
        file.segments.insert(
            JPEGFile.exif(JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, 3)])), at: 0)
        let small = try JPEGUnderTest.decode(file.data, thumbnail: .init(maxPixelSize: 50)).image
        #expect((small.width, small.height) == (50, 33))
        let quadrants = zip(PixelStatistics(small).quadrantMeans, whole.quadrantMeans.reversed())
        #expect(quadrants.allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) < 12 } })
    }

    @Test("Two components and five are unsupported", arguments: [2, 5])
    func unknownComponents(_ count: Int) {
        let file = JPEGFile.flat(Array(repeating: 100, count: count), isProgressive: true)
        let error = #expect(throws: ImageDecodingError.self) { try JPEGUnderTest.decode(file.data) }
        #expect(error?.code == .unsupported)
    }
}
