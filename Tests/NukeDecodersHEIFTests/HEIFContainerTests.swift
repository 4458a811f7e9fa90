import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

/// What the container says of a picture, by files written box by box.
@Suite("HEIF containers", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFContainerTests {
    private static let red = [220, 30, 40]
    private static let blue = [20, 60, 200]

    /// Red on the left, blue on the right.
    private func halves(_ width: Int, _ height: Int) throws -> Bitmap {
        try Picture.make(width, height) { x, _ in (x * 2 < width ? Self.red : Self.blue) + [255] }
    }

    @Test("A grid of 48 tiles, as phones write, is decoded whole [row 169]", arguments: HEIFUnderTest.types)
    func grid(_ type: AssetType) throws {
        let tiles = try [Self.red, Self.blue].map { try CodedPicture(try Picture.flat(64, 64, $0), type) }
        var file = HEIFFile(type)
        for index in 0..<48 { _ = file.add(tiles[(index / 8 + index) % 2].item()) }
        // Rows and columns less one, then the size: less than the tiles cover.
        let grid: [UInt8] = [0, 0, 5, 7] + Bytes.big(500, 2) + Bytes.big(380, 2)
        file.primary = file.add(.init(type: "grid", data: grid, properties: [.size(500, 380)]))
        file.references = [("dimg", file.primary, Array(1...48))]
        let image = try HEIFUnderTest.image(file.data)
        #expect(image.size == ImageSize(width: 500, height: 380))
        #expect(try HEIFUnderTest.properties(file.data).size == image.size)
        for (row, column) in [(0, 0), (0, 7), (3, 4), (5, 0), (5, 7)] {
            let color = (row + column) % 2 == 0 ? Self.red : Self.blue
            #expect(image.isNear(color, column * 64 + 30, row * 64 + 30), "tile \(column), \(row)")
        }
    }

    @Test("Limits look at the coded size, not at the part that is shown [row 170]", arguments: HEIFUnderTest.types)
    func codedSize(_ type: AssetType) throws {
        let data = try CodedPicture(try Picture.flat(320, 192, Self.red), type).file([.crop(30, 30)]).data
        #expect(try HEIFUnderTest.image(data).size == ImageSize(width: 30, height: 30))
        #expect(HEIFUnderTest.error(data) { $0.limits.pixelCount = 320 * 192 - 1 }?.code == .limitExceeded)
        #expect(HEIFUnderTest.error(data) { $0.limits.sideLength = 319 }?.code == .limitExceeded)
        #expect(HEIFUnderTest.error(data) { $0.limits.pixelCount = 320 * 192 } == nil)
    }

    @Test("The size is the one that is shown, wherever the turn stands [row 172]", arguments: [false, true])
    func order(_ isTurnFirst: Bool) throws {
        let coded = try CodedPicture(try halves(32, 24), .avif)
        let turn = [HEIFFile.Box.rotation(1)]
        let data = isTurnFirst ? coded.file(before: turn).data : coded.file(turn).data
        let upright = ImageSize(width: 24, height: 32)
        #expect(try HEIFUnderTest.properties(data).size == upright)
        let image = try HEIFUnderTest.image(data)
        // Counter-clockwise: what was on the left is below.
        #expect(image.size == upright && image.isNear(Self.red, 12, 28) && image.isNear(Self.blue, 12, 4))
    }

    @Test(
        "The container's turn is applied once, EXIF's never [row 173]", arguments: HEIFUnderTest.types, [0, 1, 2, 3])
    func orientation(_ type: AssetType, _ turns: Int) throws {
        var file = try CodedPicture(try halves(64, 48), type).file(turns > 0 ? [.rotation(turns)] : [])
        // A TIFF header, one entry: orientation 6.
        let exif: [UInt8] =
            [0, 0, 0, 0] + Array("MM".utf8) + [
                0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
            ]
        let item = file.add(.init(type: "Exif", data: exif))
        file.references = [("cdsc", item, [1])]
        let image = try HEIFUnderTest.image(file.data)
        let isTurned = turns % 2 == 1
        #expect(image.size == (isTurned ? ImageSize(width: 48, height: 64) : ImageSize(width: 64, height: 48)))
        let places = [[(8, 24), (56, 24)], [(24, 56), (24, 8)], [(56, 24), (8, 24)], [(24, 8), (24, 56)]][turns]
        #expect(image.isNear(Self.red, places[0].0, places[0].1) && image.isNear(Self.blue, places[1].0, places[1].1))
        let properties = try HEIFUnderTest.properties(file.data)
        #expect(properties.orientation == .up && properties.size == image.size)
    }

    @Test("Sides that are no multiples of a block are cropped, not padded [row 175]", arguments: HEIFUnderTest.types)
    func odd(_ type: AssetType) throws {
        let picture = try Picture.gradient(9, 9)
        let image = try HEIFUnderTest.image(try HEIFUnderTest.encoded(picture, type, quality: 1))
        #expect(image.size == picture.size)
        for place in 0..<9 {
            #expect(image.isNear(picture.samples(8, place), 8, place, by: 12), "\(image.samples(8, place))")
            #expect(image.isNear(picture.samples(place, 8), place, 8, by: 12), "\(image.samples(place, 8))")
        }
    }

    @Test(
        "Where picture and alpha differ by a row, what both have is shown [row 176]", arguments: [(66, 65), (65, 66)])
    func alphaHeight(_ codedHeight: Int, _ alphaHeight: Int) throws {
        let color = try CodedPicture(try Picture.flat(64, codedHeight, Self.red), .avif)
        let alpha = try CodedPicture(try Picture.flat(64, alphaHeight, [128, 128, 128]), .avif)
        var file = HEIFFile(.avif)
        var item = color.item()
        item.properties[1] = .size(64, 65)
        var alphaItem = alpha.item([.auxiliary("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")])
        alphaItem.properties[1] = .size(64, 65)
        file.items = [item, alphaItem]
        file.references = [("auxl", 2, [1])]
        let image = try HEIFUnderTest.image(file.data)
        #expect(image.size == ImageSize(width: 64, height: 65) && !image.isOpaque)
        #expect(image.isNear([110, 15, 20, 128], 32, 64))
        #expect(try HEIFUnderTest.properties(file.data).hasAlpha)
    }

    @Test("Gain maps, depth maps and second pictures are left alone; nothing is an animation [row 181]")
    func otherPictures() throws {
        for type in HEIFUnderTest.types {
            let main = try CodedPicture(try Picture.flat(64, 64, Self.red), type)
            let other = try CodedPicture(try Picture.flat(128, 64, Self.blue), type)
            var file = main.file()
            file.items += [
                other.item([.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")]),
                other.item([.auxiliary("urn:mpeg:hevc:2015:auxid:2")]), other.item(),
            ]
            file.references = [("auxl", 2, [1]), ("auxl", 3, [1])]
            let container = try HEIFUnderTest.container(file.data)
            #expect(container.image.size == ImageSize(width: 64, height: 64) && container.image.isOpaque)
            #expect(container.image.isNear(Self.red, 32, 32) && container.animation == nil)
            let properties = try HEIFUnderTest.properties(file.data)
            #expect(properties.frameCount == 1 && !properties.hasAlpha && !properties.hasEmbeddedThumbnail)
            // The primary item is the picture, wherever it stands.
            file.primary = 4
            #expect(try HEIFUnderTest.image(file.data).size == ImageSize(width: 128, height: 64))
        }
    }

    @Test("Alpha is multiplied in, unless the file says that this was done", arguments: [false, true])
    func premultiplied(_ isPremultiplied: Bool) throws {
        let color = try CodedPicture(try Picture.flat(64, 64, [100, 50, 80]), .avif)
        let alpha = try CodedPicture(try Picture.flat(64, 64, [128, 128, 128]), .avif)
        var file = color.file()
        file.items.append(alpha.item([.auxiliary("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")]))
        file.references = [("auxl", 2, [1])] + (isPremultiplied ? [("prem", 1, [2])] : [])
        let image = try HEIFUnderTest.image(file.data)
        #expect(image.isNear(isPremultiplied ? [100, 50, 80, 128] : [50, 25, 40, 128], 30, 30, by: 3))
        #expect(!image.isOpaque)
    }
}
