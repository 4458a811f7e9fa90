import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("Apple's PNG", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGAppleTests {
    /// The file that Xcode would make of a picture: CgBI first, a bare stream, blue first, colours multiplied by alpha.
    private func file(_ picture: SamplePicture, before: [PNGFile.Chunk] = []) -> PNGFile {
        var rows: [UInt8] = []
        for y in 0..<picture.height {
            rows.append(0)
            for x in 0..<picture.width {
                let pixel = picture.expected(x, y)
                rows += [pixel[2], pixel[1], pixel[0]] + (picture.channels == 4 ? [pixel[3]] : [])
            }
        }
        let stream = Array(PNGFile.zlib(rows).dropFirst(2).dropLast(4))
        let half = stream.count / 2
        return PNGFile(
            [.init(type: "CgBI", contents: [0x50, 0, 0x20, 2]), picture.header] + before + [
                .init(type: "iDOT", contents: [1, 2, 3]), .init(type: "IDAT", contents: Array(stream[..<half])),
                .init(type: "IDAT", contents: Array(stream[half...])), .init(type: "IEND", contents: []),
            ])
    }

    @Test("Apple's CgBI files give the pixels that a standard one would [row 139]", arguments: [2, 6])
    func pixels(_ type: Int) throws {
        let picture = SamplePicture(width: 40, height: 31, colorType: type, depth: 8)
        let image = try Decoding.image(file(picture).data)
        #expect(image.byteArray == picture.expectedBytes)
        #expect(image.isOpaque == (type == 2))
        #expect(try Decoding.properties(file(picture).data)?.width == 40)
    }

    @Test("they are turned upright, and reduced")
    func turned() throws {
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: 6).bytes)
        let data = file(SamplePicture(width: 40, height: 20, colorType: 2, depth: 8), before: [exif]).data
        #expect(try Decoding.image(data).height == 40)
        #expect(try Decoding.container(data) { $0.request.thumbnail = .init(maxPixelSize: 8) }.image.width == 4)
    }

    @Test("damage in them is an error as in others")
    func damage() throws {
        let picture = SamplePicture(colorType: 6, depth: 8)
        let data = file(picture).data
        for count in 0..<data.count - 12 {
            #expect(Decoding.error(data.prefix(count))?.code == .truncated, "\(count) bytes")
        }
        for place in [1, 3, 4] {
            var file = file(picture)
            file.chunks[place].hasRightChecksum = false
            #expect(Decoding.error(file.data)?.code == .corruptData)
        }
        var file = file(picture)
        file.chunks[3].contents[0] = 0xFF
        #expect(Decoding.error(file.data)?.code == .corruptData)
        file.chunks.removeSubrange(3...4)
        #expect(Decoding.error(file.data) != nil)
    }

    @Test(
        "Apple's files of the corpus look as the files that they were made of", .enabled(if: Fixture.corpus != nil))
    func corpus() throws {
        let folder = try #require(Fixture.corpus)
        for name in ["cgbi-PngSuite", "cgbi-f02n2c08"] {
            let image = try Decoding.image(File.read(folder + "/png/\(name).png"))
            #expect(Set(image.byteArray).count > 16, "\(name) is of one colour")
        }
    }
}
