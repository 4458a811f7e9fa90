import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

/// Files that ask for more than they tell of.
@Suite("HEIF limits", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFLimitTests {
    private func error(_ data: Data, pixels: Int) -> ImageDecodingError? {
        HEIFUnderTest.error(data) { $0.limits.pixelCount = pixels }
    }

    @Test(
        "A picture that is larger than its container tells is measured by itself [row 170]",
        arguments: HEIFUnderTest.types)
    func hiddenSize(_ type: AssetType) throws {
        let coded = try CodedPicture(try Picture.flat(640, 512, [90, 120, 30]), type)
        var file = coded.file()
        file.items[0].properties[1] = .size(64, 64)
        #expect(try HEIFUnderTest.properties(file.data).size == ImageSize(width: 64, height: 64))
        #expect(error(file.data, pixels: 500 * 400)?.code == .limitExceeded)
        #expect(HEIFUnderTest.error(file.data) { $0.limits.sideLength = 500 }?.code == .limitExceeded)
        #expect(error(file.data, pixels: 640 * 512)?.code != .limitExceeded)
        file.items[0].isInPieces = true
        #expect(error(file.data, pixels: 500 * 400)?.code == .limitExceeded)
    }

    @Test("A picture in two pieces is put together")
    func twoPieces() throws {
        for type in HEIFUnderTest.types {
            let picture = try Picture.gradient(64, 64)
            var file = try CodedPicture(picture, type).file()
            file.items[0].isInPieces = true
            let image = try HEIFUnderTest.image(file.data)
            #expect(image.isNear(picture.samples(50, 20), 50, 20))
        }
    }

    @Test("One tile that is named thousands of times counts as often", arguments: HEIFUnderTest.types)
    func repeatedTile(_ type: AssetType) throws {
        let tile = try CodedPicture(try Picture.flat(64, 64, [10, 20, 30]), type)
        var file = HEIFFile(type)
        _ = file.add(tile.item())
        // 60 × 60 tiles of which one row of pixels is shown.
        let grid: [UInt8] = [0, 0, 59, 59] + Bytes.big(3800, 2) + Bytes.big(64, 2)
        file.primary = file.add(.init(type: "grid", data: grid, properties: [.size(3800, 64)]))
        file.references = [("dimg", 2, [Int](repeating: 1, count: 3600))]
        #expect(error(file.data, pixels: 300_000)?.code == .limitExceeded)
    }

    @Test("Pictures that are made of themselves are an error, not an endless task", arguments: HEIFUnderTest.types)
    func cycles(_ type: AssetType) throws {
        let tile = try CodedPicture(try Picture.flat(64, 64, [10, 20, 30]), type)
        let grid: [UInt8] = [0, 0, 0, 0] + Bytes.big(64, 2) + Bytes.big(64, 2)
        for (kind, data) in [("grid", grid), ("iden", [])] {
            for targets in [[2], [3], [1]] {
                var file = HEIFFile(type)
                _ = file.add(tile.item())
                file.primary = file.add(.init(type: kind, data: data, properties: [.size(64, 64)]))
                _ = file.add(.init(type: kind, data: data, properties: [.size(64, 64)]))
                file.references = [("dimg", 2, targets), ("dimg", 3, [2])]
                let error = HEIFUnderTest.error(file.data)
                #expect((error == nil) == (targets == [1]), "\(kind) of \(targets): \(String(describing: error))")
            }
        }
    }

    @Test("A list of pieces without end is cut short")
    func endlessExtents() throws {
        let file = try CodedPicture(try Picture.flat(64, 64, [10, 20, 30]), .avif).file()
        var bytes = file.bytes
        let start = try Bytes.contents(of: "iloc", in: bytes)
        // Offsets, lengths and bases of no bytes, 65,535 extents an item, 65,535 items.
        bytes.replaceSubrange(start + 4..<start + 8, with: [0, 0, 0xFF, 0xFF])
        bytes.replaceSubrange(start + 12..<start + 14, with: [0xFF, 0xFF])
        #expect(HEIFUnderTest.error(Data(bytes)) != nil)
        #expect(ImageFormat.avif.previewPolicy(Data(bytes)) == .disabled)
    }
}
