import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// What is read before any pixel: sizes, kinds, orientation and profile.
@Suite("JPEG header", .timeLimit(.minutes(5)))
struct JPEGHeaderTests {
    private func properties(_ name: String) throws -> ImageProperties {
        try #require(try JPEGUnderTest.properties(Fixture.data("jpeg/\(name).jpg")))
    }

    private func orientation(_ segments: [JPEGFile.Segment]) throws -> ImageOrientation? {
        var file = try JPEGFile(fixture: "gen-8x8.jpg")
        file.segments.insert(contentsOf: segments, at: 0)
        return try JPEGUnderTest.properties(file.data)?.orientation
    }

    @Test("The format has the names, types and capabilities of JPEG, and the library's version")
    func format() {
        let format = ImageFormat.jpeg
        #expect(format.name == "JPEG" && format.type == .jpeg && format.mimeTypes == ["image/jpeg"])
        #expect(format.fileExtensions == ["jpg", "jpeg", "jpe", "jfif"])
        #expect(format.capabilities == [.decode, .encode, .progressive, .scaledDecode])
        #expect(format.libraryVersion()?.hasPrefix("libjpeg-turbo ") == true)
    }

    @Test("Size, depth and colour model are told, and that there is no alpha")
    func kinds() throws {
        let color = try properties("gen-420")
        #expect((color.width, color.height) == (227, 149))
        #expect(color.bitDepth == 8 && color.colorModel == .rgb && !color.hasAlpha && color.frameCount == 1)
        #expect(!color.isProgressive && !color.hasICCProfile && color.orientation == .up && color.type == .jpeg)
        #expect(try properties("gen-gray").colorModel == .gray)
        #expect(try properties("gen-rgb").colorModel == .rgb)
        #expect(try properties("gen-ycck-adobe").colorModel == .cmyk)
    }

    @Test("Progressive files are told from those that only have several scans")
    func progressive() throws {
        #expect(try properties("gen-progressive").isProgressive)
        #expect(try properties("gen-arith-prog").isProgressive)
        #expect(try !properties("gen-sequential-3scans").isProgressive)
    }

    @Test("Sides of turned pictures are told upright")
    func upright() throws {
        let stored = try properties("gen-o1")
        for value in 1...8 {
            let told = try properties("gen-o\(value)")
            #expect(told.orientation.rawValue == value)
            let isTurned = value >= 5
            #expect(told.width == (isTurned ? stored.height : stored.width), "orientation \(value)")
            #expect(told.height == (isTurned ? stored.width : stored.height), "orientation \(value)")
        }
    }

    @Test("Orientation is read in both byte orders, as SHORT and as LONG", arguments: [true, false], [3, 4])
    func orientationTypes(isBigEndian: Bool, type: Int) throws {
        for value in 1...8 {
            let tiff = JPEGFile.tiff(
                isBigEndian: isBigEndian, entries: [(0x010F, 2, 4, 0), (0x0112, type, 1, value)])
            #expect(try orientation([JPEGFile.exif(tiff)])?.rawValue == value)
        }
    }

    @Test("EXIF is found behind other APP1 segments, and the first one counts")
    func exifAmongOthers() throws {
        let xmp = JPEGFile.Segment(marker: JPEGFile.app1, content: Array("http://ns.adobe.com/xap/1.0/\0<x/>".utf8))
        let first = JPEGFile.exif(JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, 6)]))
        let second = JPEGFile.exif(JPEGFile.tiff(isBigEndian: false, entries: [(0x0112, 3, 1, 3)]))
        #expect(try orientation([xmp, first, second]) == .right)
    }

    @Test("Only the first directory counts, not that of the thumbnail")
    func firstDirectory() throws {
        var tiff = JPEGFile.tiff(isBigEndian: true, entries: [(0x010F, 2, 4, 0)])
        let second = tiff.count
        tiff[tiff.count - 1] = UInt8(second)
        tiff += JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, 6)]).dropFirst(8)
        #expect(try orientation([JPEGFile.exif(tiff)]) == .up)
    }

    @Test("Orientation outside 1…8 counts as 1 [row 124]", arguments: [0, 9, 255, 256, 65_535])
    func orientationOutOfRange(_ value: Int) throws {
        let tiff = JPEGFile.tiff(isBigEndian: true, entries: [(0x0112, 3, 1, value)])
        #expect(try orientation([JPEGFile.exif(tiff)]) == .up)
    }

    @Test("EXIF offsets beyond the data are harmless [row 125]", arguments: [0x8765_4321, 0xFFFF_FFFF, 26, 9, 0])
    func orientationOutOfBounds(_ directory: Int) throws {
        for isBigEndian in [true, false] {
            let tiff = JPEGFile.tiff(
                isBigEndian: isBigEndian, entries: [(0x0112, 3, 1, 6)], directory: directory)
            #expect(try orientation([JPEGFile.exif(tiff)]) == .up)
        }
    }

    @Test("EXIF cut at any byte is harmless")
    func exifCut() throws {
        let tiff = JPEGFile.tiff(isBigEndian: false, entries: [(0x010F, 2, 4, 0), (0x0112, 3, 1, 6)])
        for count in 0..<tiff.count {
            let found = try orientation([JPEGFile.exif(Array(tiff.prefix(count)))])
            #expect(found == .up || found == .right && count >= 32, "cut after \(count)")
        }
    }

    @Test("A profile in several segments is put together in any order")
    func profileChain() throws {
        let whole = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-icc-multichunk.jpg")).image.colorSpace.iccProfile
        let reversed = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-icc-multichunk-reversed.jpg"))
        #expect(try #require(whole).count > 65_535)
        #expect(reversed.image.colorSpace.iccProfile == whole)
    }

    @Test("A profile chain with a part missing, repeated or miscounted is ignored")
    func damagedChain() throws {
        let original = try JPEGFile(fixture: "gen-icc-multichunk.jpg")
        let chunks = original.segments.indices.filter { original.segments[$0].marker == JPEGFile.app2 }
        #expect(chunks.count == 3)
        var missing = original
        missing.segments.remove(at: chunks[1])
        var cut = original
        cut.segments.remove(at: chunks[2])
        var repeated = original
        repeated.segments.insert(original.segments[chunks[0]], at: chunks[0])
        var miscounted = original
        miscounted.segments[chunks[2]].content[13] = 4
        var misnumbered = original
        misnumbered.segments[chunks[2]].content[12] = 0
        for file in [missing, cut, repeated, miscounted, misnumbered] {
            #expect(try JPEGUnderTest.properties(file.data)?.hasICCProfile == false)
            #expect(try JPEGUnderTest.decode(file.data).image.colorSpace == .sRGB)
        }
    }

    @Test("The embedded profile becomes the colour space; one that is none does not")
    func colorSpaces() throws {
        let p3 = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-icc-p3.jpg")).image.colorSpace
        #expect(p3.iccProfile != nil)
        let adobe = try JPEGUnderTest.decode(Fixture.data("jpeg/gen-icc-adobergb.jpg")).image.colorSpace
        #expect(adobe.iccProfile != nil && adobe != p3)
        #expect(try JPEGUnderTest.decode(Fixture.data("jpeg/gen-icc-garbage.jpg")).image.colorSpace == .sRGB)
        #expect(try JPEGUnderTest.decode(Fixture.data("jpeg/gen-420.jpg")).image.colorSpace == .sRGB)
    }

    @Test("A gray file with a profile of RGB is sRGB [row 185]")
    func grayWithColorProfile() throws {
        var file = try JPEGFile(fixture: "gen-gray.jpg")
        let donor = try JPEGFile(fixture: "gen-icc-p3.jpg")
        file.segments.insert(contentsOf: donor.segments.filter { $0.marker == JPEGFile.app2 }, at: 0)
        #expect(try JPEGUnderTest.properties(file.data)?.hasICCProfile == true)
        #expect(try JPEGUnderTest.decode(file.data).image.colorSpace == .sRGB)
    }

    @Test("Density is told in pixels an inch, of the JFIF segment, or else of EXIF")
    func density() throws {
        func density(_ jfif: [UInt8], exif: [JPEGFile.Segment] = []) throws -> ImageProperties.Density? {
            var file = try JPEGFile(fixture: "gen-8x8.jpg")
            file.segments.removeAll { $0.marker == 0xE0 }
            let segment = JPEGFile.Segment(marker: 0xE0, content: Array("JFIF".utf8) + [0, 1, 1] + jfif + [0, 0])
            file.segments.insert(contentsOf: (jfif.isEmpty ? [] : [segment]) + exif, at: 0)
            return try JPEGUnderTest.properties(file.data)?.density
        }
        #expect(try density([1, 0, 72, 1, 44]) == ImageProperties.Density(x: 72, y: 300))
        #expect(try density([2, 0, 100, 0, 50]) == ImageProperties.Density(x: 254, y: 127))
        #expect(try density([0, 0, 1, 0, 1]) == nil)
        #expect(try density([1, 0, 0, 0, 72]) == nil)
        #expect(try density([]) == nil)
        // RATIONALs of 600/2 and 150/1, which stand behind the directory.
        let entries = [(0x011A, 5, 1, 62), (0x011B, 5, 1, 70), (0x0128, 3, 1, 2), (0x0131, 4, 1, 0)]
        let tiff =
            JPEGFile.tiff(isBigEndian: true, entries: entries) + [0, 0, 2, 88, 0, 0, 0, 2, 0, 0, 0, 150, 0, 0, 0, 1]
        #expect(try density([], exif: [JPEGFile.exif(tiff)]) == ImageProperties.Density(x: 300, y: 150))
        #expect(try density([0, 0, 1, 0, 1], exif: [JPEGFile.exif(tiff)]) == ImageProperties.Density(x: 300, y: 150))
        #expect(try density([1, 0, 72, 0, 72], exif: [JPEGFile.exif(tiff)]) == ImageProperties.Density(x: 72, y: 72))
        #expect(try density([], exif: [JPEGFile.exif(tiff.dropLast(17) + Array(repeating: 0, count: 17))]) == nil)
    }

    @Test("Whether a thumbnail is embedded is told")
    func embeddedThumbnail() throws {
        #expect(try properties("gen-exif-thumb").hasEmbeddedThumbnail)
        #expect(try !properties("gen-420").hasEmbeddedThumbnail)
        #expect(try !properties("gen-exif-loop").hasEmbeddedThumbnail)
        #expect(try !properties("gen-exif-truncated").hasEmbeddedThumbnail)
    }
}
