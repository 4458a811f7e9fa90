import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF frames", .timeLimit(.minutes(5)))
struct GIFFrameTests {
    @Test("the first frame is the image, and the original data is attached [DEC-13]", arguments: ["GIF87a", "GIF89a"])
    func firstFrame(_ version: String) throws {
        var file = GIFFile(3, 2, [.init(3, 2, 1), .init(3, 2, 2)])
        file.version = version
        let container = try Decoding.container(file.data)
        #expect(container.type == .gif)
        #expect(!container.isPreview)
        #expect(container.data == file.data)
        #expect(Decoding.letters(container.image) == ["ggg", "ggg"])
        #expect(container.image.isOpaque)
        #expect(container.userInfo.isEmpty)
    }

    @Test(
        "data that only starts with GIF is no GIF, and is not kept [DEC-14] [row 154]",
        arguments: ["GIFxyz", "GIF88a", "GIF89b", "GIF\0\0\0", "gif89a"])
    func otherSignature(_ signature: String) {
        var file = GIFFile(3, 2, [.init(3, 2, 1)])
        file.version = signature
        #expect(Decoding.error(file.data)?.code == .corruptData)
        let registry = ImageDecoderRegistry()
        registry.register(.gif)
        #expect(registry.format(of: file.data) == nil)
    }

    @Test("where data ends, a whole first frame is as it would be; a part of it is an image by policy only [DEC-17]")
    func truncated() throws {
        let file = GIFFile.noise(50, 40)
        var two = file
        two.frames.append(file.frames[0])
        let whole = try Decoding.container(file.data).image
        let cut = try Decoding.container(two.data.dropLast(200))
        #expect(cut.userInfo[.isTruncatedKey] == nil)
        #expect(cut.animation == nil)
        #expect(cut.image.byteArray == whole.byteArray)
        let part = file.data.prefix(file.data.count / 2 + 400)
        #expect(Decoding.error(part)?.code == .truncated)
        let half = try Decoding.container(part) { $0.truncationPolicy = .lenient }
        #expect(half.userInfo[.isTruncatedKey] as? Bool == true)
        #expect((half.image.width, half.image.height, half.image.isOpaque) == (50, 40, false))
        #expect(isEqual(half.image, whole, row: 0) && !isEqual(half.image, whole, row: 39))
    }

    @Test(
        "a picture of too few pixels, or with a code that can't be, is an error, by policy an image",
        arguments: [
            ([0x04, 0x0A] as [UInt8], ImageDecodingError.Code.truncated), ([0x04, 0x78], .corruptData),
        ])
    func lacking(_ codes: [UInt8], _ code: ImageDecodingError.Code) throws {
        var file = GIFFile(2, 2, [.init(2, 2)])
        file.frames[0].codes = codes
        #expect(Decoding.error(file.data)?.code == code)
        let image = try Decoding.container(file.data) { $0.truncationPolicy = .lenient }
        #expect(Decoding.letters(image.image) == ["rr", ".."])
        #expect(image.userInfo[.isTruncatedKey] as? Bool == true)
    }

    @Test("a file cut before a row of the first frame is truncated")
    func cutEarly() {
        let file = GIFFile.noise(50, 40)
        let start = file.header.count
        for count in [6, 12, 13, start - 1, start, start + 5, start + 11, start + 12, start + 14] {
            #expect(Decoding.error(file.data.prefix(count))?.code == .truncated, "\(count) bytes")
            let lenient = Decoding.error(file.data.prefix(count)) { $0.truncationPolicy = .lenient }
            #expect(lenient?.code == .truncated, "\(count) bytes")
        }
        #expect(Decoding.error(GIFFile(2, 2, []).data)?.code == .corruptData)
    }

    @Test("of interlaced pictures that are cut short, rows that came stand for those that did not")
    func cutPasses() throws {
        var file = GIFFile(400, 16, [GIFFile.Frame(400, 16) { x, y in UInt8((x * y + x / 3) & 3) }])
        file.frames[0].isInterlaced = true
        let whole = try Decoding.container(file.data).image
        file.frames[0].isInterlaced = false
        #expect((0..<16).allSatisfy { isEqual(try! Decoding.container(file.data).image, whole, row: $0) })
        file.frames[0].isInterlaced = true
        let part = file.data.prefix(file.data.count / 2)
        let cut = try Decoding.container(part) { $0.truncationPolicy = .lenient }.image
        #expect(cut.isOpaque)
        #expect(isEqual(cut, whole, row: 0) && isEqual(cut, whole, row: 8))
        #expect(Array(cut.byteArray[1600..<3200]) == Array(cut.byteArray[..<1600]))
    }

    @Test("the disposal of the first frame does not touch it, whatever it is")
    func disposals() throws {
        for disposal in 0...7 {
            var file = GIFFile(2, 2, [.init(2, 2, 1), .init(1, 1, 2)])
            file.frames[0].disposal = disposal
            #expect(try Decoding.letters(file.data) == ["gg", "gg"])
            #expect(try Decoding.properties(file.data)?.hasAlpha == (disposal == 2))
        }
    }

    @Test("frames reach beyond the canvas, or lie beside it: the canvas counts")
    func outside() throws {
        #expect(try Decoding.letters(GIFFile(3, 2, [.init(4, 4, 1, left: 1, top: 1)]).data) == ["...", ".gg"])
        #expect(
            try Decoding.letters(GIFFile(3, 2, [.init(1, 1, 1, left: 26_020, top: 60_000)]).data) == ["...", "..."])
        var file = GIFFile(3, 2, [.init(2, 9, 1, left: 2)])
        file.frames[0].isInterlaced = true
        #expect(try Decoding.letters(file.data) == ["..g", "..g"])
    }

    @Test("a palette of the frame's own goes before the global one; transparent and unknown indices")
    func palettes() throws {
        var file = GIFFile(4, 1, [.init(4, 1) { x, _ in UInt8(x) }])
        #expect(try Decoding.letters(file.data) == ["rgbw"])
        file.frames[0].transparentIndex = 2
        #expect(try Decoding.letters(file.data) == ["rg.w"])
        file.frames[0].palette = [0, 0, 255, 255, 0, 0]
        #expect(try Decoding.letters(file.data) == ["br.k"])
        (file.palette, file.frames[0].palette, file.frames[0].transparentIndex) = ([], [], nil)
        #expect(try Decoding.letters(file.data) == ["kwww"])
    }

    @Test("a still picture tells its size, depth and passes")
    func still() throws {
        let properties = try #require(try Decoding.properties(GIFFile.noise(7, 9, isInterlaced: true, bits: 5).data))
        #expect((properties.width, properties.height, properties.bitDepth) == (7, 9, 5))
        #expect(properties.colorModel == .indexed && properties.isProgressive && !properties.hasAlpha)
    }

    private func isEqual(_ a: Bitmap, _ b: Bitmap, row: Int) -> Bool {
        let (a, b) = (a.row(row), b.row(row))
        return (0..<a.byteCount).allSatisfy { index in
            a.unsafeLoad(fromByteOffset: index, as: UInt8.self) == b.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        }
    }
}
