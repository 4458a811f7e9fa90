import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("PNG metadata", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGMetadataTests {
    private let picture = SamplePicture(width: 5, height: 3, colorType: 2, depth: 8)

    private func exif(_ orientation: Int) -> PNGFile.Chunk {
        PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: orientation).bytes)
    }

    /// Where a stored pixel stands in the upright picture (EXIF 2.32, tag 0x0112).
    private func place(_ x: Int, _ y: Int, _ orientation: ImageOrientation) -> (x: Int, y: Int) {
        let (right, bottom) = (picture.width - 1 - x, picture.height - 1 - y)
        switch orientation {
        case .up: return (x, y)
        case .upMirrored: return (right, y)
        case .down: return (right, bottom)
        case .downMirrored: return (x, bottom)
        case .leftMirrored: return (y, x)
        case .right: return (bottom, x)
        case .rightMirrored: return (bottom, right)
        case .left: return (y, right)
        }
    }

    @Test(
        "each orientation is applied once, wherever eXIf stands [DEC-28]", arguments: ImageOrientation.allCases,
        [false, true])
    func orientations(_ orientation: ImageOrientation, _ isBehind: Bool) throws {
        for picture in [picture, picture.interlaced] {
            let chunks = [exif(orientation.rawValue)]
            let file = PNGFile(picture, before: isBehind ? [] : chunks, behind: isBehind ? chunks : [])
            let image = try Decoding.image(file.data)
            #expect((image.width, image.height) == (orientation.swapsSides ? (3, 5) : (5, 3)))
            for y in 0..<picture.height {
                for x in 0..<picture.width {
                    let upright = place(x, y, orientation)
                    #expect(image.pixel(upright.x, upright.y) == picture.expected(x, y))
                }
            }
            let properties = try #require(try Decoding.properties(file.data))
            #expect(properties.orientation == orientation)
            #expect((properties.width, properties.height) == (image.width, image.height))
        }
    }

    @Test("eXIf with a wrong checksum, or behind the end, does not count")
    func damagedExif() throws {
        var chunk = exif(6)
        chunk.hasRightChecksum = false
        let damaged = PNGFile(picture, before: [chunk]).data
        #expect(try Decoding.image(damaged).byteArray == picture.expectedBytes)
        #expect(try Decoding.properties(damaged)?.orientation == .up)
        var late = PNGFile(picture)
        late.chunks.append(exif(6))
        #expect(try Decoding.image(late.data).byteArray == picture.expectedBytes)
    }

    @Test("a thumbnail without transform keeps the stored layout [THM-08]")
    func storedLayout() throws {
        var request = ImageRequest(url: nil)
        request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 100)
        request.thumbnail?.createThumbnailWithTransform = false
        let data = PNGFile(picture, before: [exif(6)]).data
        #expect(try Decoding.container(data, request: request).image.byteArray == picture.expectedBytes)
        request.thumbnail?.createThumbnailWithTransform = true
        let upright = try Decoding.container(data, request: request)
        #expect((upright.image.width, upright.image.height) == (3, 5))
        #expect(upright.originalSize == ImageSize(width: 3, height: 5))
    }

    @Test("properties tell what the header declares", arguments: SamplePicture.all)
    func properties(_ picture: SamplePicture) throws {
        let properties = try #require(try Decoding.properties(PNGFile(picture).data))
        #expect(properties.type == .png)
        #expect((properties.width, properties.height) == (picture.width, picture.height))
        #expect(properties.bitDepth == picture.depth)
        #expect(
            properties.colorModel == (picture.colorType == 3 ? .indexed : picture.colorType & 2 == 2 ? .rgb : .gray))
        #expect(properties.hasAlpha == (picture.colorType >= 4))
        #expect(properties.isProgressive == picture.isInterlaced)
        #expect(properties.frameCount == 1 && properties.loopCount == nil && properties.frameDurations.isEmpty)
        #expect(!properties.hasICCProfile)
    }

    @Test("properties and opacity follow a tRNS chunk that holds, and no other")
    func transparency() throws {
        let gray = SamplePicture(colorType: 0, depth: 8)
        let palette = SamplePicture(colorType: 3, depth: 2)
        let cases: [(SamplePicture, [UInt8], Bool)] = [
            (gray, [0, 7], true), (gray, [0], false), (gray, [0, 7, 0], false),
            (palette, [1, 2, 3, 4], true), (palette, [1], true), (palette, [], false),
            (palette, [1, 2, 3, 4, 5], false),
            (SamplePicture(colorType: 2, depth: 8), [0, 1, 0, 2, 0, 3], true),
            (SamplePicture(colorType: 6, depth: 8), [0, 1, 0, 2, 0, 3], true),
        ]
        for (picture, contents, hasAlpha) in cases {
            var file = PNGFile(picture)
            let chunk = PNGFile.Chunk(type: "tRNS", contents: contents)
            file.chunks.insert(chunk, at: picture.colorType == 3 ? 2 : 1)
            #expect(try Decoding.properties(file.data)?.hasAlpha == hasAlpha, "\(picture), \(contents)")
            #expect(try Decoding.image(file.data).isOpaque == !hasAlpha, "\(picture), \(contents)")
            file.chunks[picture.colorType == 3 ? 2 : 1].hasRightChecksum = false
            #expect(try Decoding.image(file.data).isOpaque == (picture.colorType != 6))
        }
    }

    @Test("a sound RGB profile becomes the colour space; nothing of the pixels changes")
    func profile() throws {
        let data = PNGFile(picture, before: [ProfileData.chunk(space: "RGB ")]).data
        let image = try Decoding.image(data)
        #expect(image.colorSpace.iccProfile == Data(ProfileData.bytes(space: "RGB ")))
        #expect(image.byteArray == picture.expectedBytes)
        #expect(try Decoding.properties(data)?.hasICCProfile == true)
    }

    @Test(
        "profiles that are broken or of another colour space don't count [row 112] [row 185]",
        arguments: [
            ProfileData.chunk(space: "CMYK"), ProfileData.chunk(space: "GRAY"), ProfileData.chunk(stream: [1, 2, 3]),
            ProfileData.chunk(stream: PNGFile.zlib([1, 2, 3])), ProfileData.chunk(stream: []),
            ProfileData.chunk(stream: PNGFile.zlib(ProfileData.bytes(space: "RGB ", count: 4096).dropLast(3000))),
        ])
    func brokenProfile(_ chunk: PNGFile.Chunk) throws {
        let image = try Decoding.image(PNGFile(picture, before: [chunk]).data)
        #expect(image.colorSpace == .sRGB)
        #expect(image.byteArray == picture.expectedBytes)
    }

    @Test("a profile counts, though an sRGB chunk stands before it", arguments: [false, true])
    func profileBesideSRGB(_ isBehind: Bool) throws {
        let space = PNGFile.Chunk(type: "sRGB", contents: [0])
        let profile = ProfileData.chunk(space: "RGB ")
        let file = PNGFile(picture, before: isBehind ? [profile, space] : [space, profile])
        #expect(try Decoding.image(file.data).colorSpace.iccProfile != nil)
    }

    @Test("a gray profile on gray pixels does not count, as they are decoded to RGBA")
    func grayProfile() throws {
        let gray = SamplePicture(colorType: 0, depth: 8)
        let image = try Decoding.image(PNGFile(gray, before: [ProfileData.chunk(space: "GRAY")]).data)
        #expect(image.colorSpace == .sRGB)
        #expect(image.byteArray == gray.expectedBytes)
    }

    @Test("gAMA, cHRM, sBIT and bKGD change no pixel [row 188]")
    func ignoredChunks() throws {
        let chunks = [
            PNGFile.Chunk(type: "gAMA", contents: PNGFile.bigEndian(100_000)),
            PNGFile.Chunk(type: "cHRM", contents: (1...8).flatMap { PNGFile.bigEndian($0 * 4000) }),
            PNGFile.Chunk(type: "sBIT", contents: [5, 6, 5]),
            PNGFile.Chunk(type: "bKGD", contents: [0, 9, 0, 8, 0, 7]),
        ]
        for order in [chunks, chunks.reversed()] {
            #expect(try Decoding.image(PNGFile(picture, before: order).data).byteArray == picture.expectedBytes)
        }
    }

    @Test("type, scale and original size are in the container [DEC-12] [DEC-19]")
    func container() throws {
        var request = ImageRequest(url: nil)
        request.scale = 7
        let container = try Decoding.container(PNGFile(picture).data, request: request)
        #expect(container.type == .png && !container.isPreview && container.data == nil && container.userInfo.isEmpty)
        #expect(container.image.scale == 7)
        #expect(container.originalSize == ImageSize(width: 5, height: 3))
    }
}
