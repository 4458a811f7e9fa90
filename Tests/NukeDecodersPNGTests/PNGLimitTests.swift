import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersPNG

@Suite("PNG limits", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGLimitTests {
    private let picture = SamplePicture(colorType: 2, depth: 8)

    private func claim(_ width: Int, _ height: Int, depth: Int = 8, colorType: Int = 6) -> Data {
        PNGFile([
            PNGFile.header(width: width, height: height, depth: depth, colorType: colorType),
            PNGFile.Chunk(type: "IDAT", contents: PNGFile.zlib([UInt8](repeating: 0, count: 64))),
            PNGFile.Chunk(type: "IEND", contents: []),
        ]).data
    }

    @Test("a header of 50,000×50,000 is refused before any pixel [row 140]", arguments: [1, 8])
    func hugeHeader(_ depth: Int) throws {
        let data = claim(50_000, 50_000, depth: depth, colorType: 0)
        #expect(Decoding.error(data)?.code == .limitExceeded)
        #expect(try Decoding.properties(data)?.width == 50_000)
    }

    @Test("the largest sides overflow nothing, whatever the limits")
    func largestSides() {
        let side = Int(Int32.max)
        for isHinted in [false, true] {
            let error = Decoding.error(claim(side, side, depth: 16)) { context in
                context.limits.sideLength = .max
                context.limits.pixelCount = .max
                if isHinted {
                    context.request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 1e9)
                }
            }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test("a picture within the limits with hardly any data is an error")
    func emptyPicture() {
        #expect(Decoding.error(claim(65_535, 1500))?.code == .corruptData)
    }

    @Test("sides, pixels and bytes have limits of their own")
    func eachLimit() {
        let data = PNGFile(picture).data
        let (width, height) = (picture.width, picture.height)
        func code(_ change: (inout ImageLimits) -> Void) -> ImageDecodingError.Code? {
            Decoding.error(data) { change(&$0.limits) }?.code
        }
        #expect(code { $0.sideLength = width } == nil)
        #expect(code { $0.sideLength = width - 1 } == .limitExceeded)
        #expect(code { $0.pixelCount = width * height } == nil)
        #expect(code { $0.pixelCount = width * height - 1 } == .limitExceeded)
        #expect(code { $0.workingSetBytes = width * height * 8 } == nil)
        #expect(code { $0.workingSetBytes = width * height * 4 - 1 } == .limitExceeded)
    }

    @Test("decoding ends when its time is over")
    func time() {
        let error = Decoding.error(PNGFile(picture).data) { $0.limits.seconds = -1 }
        #expect(error?.code == .limitExceeded)
        #expect(Decoding.error(PNGFile(picture).data) { $0.limits.seconds = .infinity } == nil)
    }

    @Test("a set cancellation flag ends decoding before a row is read")
    func cancelled() {
        for picture in [picture, picture.interlaced] {
            #expect(Decoding.error(PNGFile(picture).data) { $0.cancellation.cancel() }?.code == .cancelled)
        }
    }

    @Test("the flag is heeded within 64 rows", arguments: [0, 1, 63, 64, 1000])
    func cancellationInterval(_ row: Int) throws {
        let context = Decoding.context(Data())
        let watch = DecodingWatch(context, codec: "PNG")
        for earlier in 0..<row { try watch.check(row: earlier) }
        context.cancellation.cancel()
        #expect(throws: ImageDecodingError.cancelled) {
            for later in row..<row + 64 { try watch.check(row: later) }
        }
    }

    @Test("chunks before the picture have a number limit; behind it they don't matter")
    func chunkFlood() throws {
        let text = PNGFile.Chunk(type: "tEXt", contents: [])
        let many = [PNGFile.Chunk](repeating: text, count: 10_000)
        #expect(try Decoding.image(PNGFile(picture, before: many).data).byteArray == picture.expectedBytes)
        #expect(Decoding.error(PNGFile(picture, before: many + [text]).data)?.code == .limitExceeded)
        let behind = PNGFile(picture, behind: many + many)
        #expect(try Decoding.image(behind.data).byteArray == picture.expectedBytes)
        #expect(try Decoding.properties(behind.data)?.orientation == .up)
    }

    @Test("text that would inflate to 50 MB is passed over")
    func textBomb() throws {
        let bomb = PNGFile.bomb(runs: 200_000)
        let chunks = [
            PNGFile.Chunk(type: "zTXt", contents: [97, 0, 0] + bomb),
            PNGFile.Chunk(type: "iTXt", contents: [97, 0, 1, 0, 0, 0] + bomb),
        ]
        #expect(try Decoding.image(PNGFile(picture, before: chunks).data).byteArray == picture.expectedBytes)
    }

    @Test("a profile larger than the metadata limit is dropped, before it is inflated")
    func profileBomb() throws {
        let size = 132 + 1 + 258 * 100_000
        let bomb = PNGFile.bomb(
            prefix: ProfileData.bytes(space: "RGB ", count: size).prefix(132).map { $0 }, runs: 100_000)
        let data = PNGFile(picture, before: [ProfileData.chunk(stream: bomb)]).data
        let image = try Decoding.image(data)
        #expect(image.colorSpace == .sRGB)
        #expect(image.byteArray == picture.expectedBytes)
        // The limit counts, not the number of compressed bytes.
        let small = PNGFile(picture, before: [ProfileData.chunk(space: "RGB ")]).data
        #expect(try Decoding.container(small) { $0.limits.metadataBytes = 100 }.image.colorSpace == .sRGB)
        #expect(try Decoding.container(small) { $0.limits.metadataBytes = 1000 }.image.colorSpace != .sRGB)
    }

    @Test("a stream that goes on after the last row is read to its end if that is near, and no further")
    func pixelBomb() throws {
        let black = [[UInt8]](repeating: [0, 0, 0, 255], count: 64).flatMap { $0 }
        for isInterlaced in [false, true] {
            var file = PNGFile(
                SamplePicture(width: 16, height: 4, colorType: 0, depth: 8, isInterlaced: isInterlaced))
            file.chunks[1].contents = PNGFile.bomb(runs: 10_000)
            #expect(try Decoding.image(file.data).byteArray == black)
            // What stands behind the end of the stream is not inflated, but its checksum still counts.
            file.chunks[1].contents += [1, 2, 3]
            #expect(try Decoding.image(file.data).byteArray == black)
            file.chunks[1].hasRightChecksum = false
            #expect(Decoding.error(file.data)?.code == .corruptData)
            file.chunks[1].hasRightChecksum = true
            file.chunks[1].contents = PNGFile.bomb(runs: 700_000)
            #expect(Decoding.error(file.data)?.code == .corruptData)
        }
    }
}
