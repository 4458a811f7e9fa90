import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersGIF

@Suite("GIF limits", .timeLimit(.minutes(5)))
struct GIFLimitTests {
    @Test("a canvas of 50,000×50,000 is refused before any pixel")
    func hugeCanvas() throws {
        let data = GIFFile(50_000, 50_000, [.init(1, 1)]).data
        #expect(Decoding.error(data)?.code == .limitExceeded)
        #expect(try Decoding.properties(data)?.width == 50_000)
    }

    @Test("a frame of 65,535×65,535 on a small canvas asks for no memory of its size, and ends")
    func hugeFrame() {
        for isInterlaced in [false, true] {
            var file = GIFFile(2, 2, [.init(1, 1)])
            (file.frames[0].width, file.frames[0].height) = (65_535, 65_535)
            (file.frames[0].codes, file.frames[0].isInterlaced) = ([0x44, 0x01], isInterlaced)
            #expect(Decoding.error(file.data) { $0.limits.workingSetBytes = 200_000 }?.code == .truncated)
        }
    }

    @Test("frames have a limit of their own")
    func frames() {
        let data = GIFFile(1, 1, (0..<5).map { _ in .init(1, 1) }).data
        func code(_ limit: Int) -> ImageDecodingError.Code? {
            do throws(ImageDecodingError) {
                _ = try Decoding.properties(data) { $0.limits.frameCount = limit }
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(5) == nil)
        #expect(code(4) == .limitExceeded)
    }

    @Test("decoding ends when its time is over, and when it is cancelled")
    func time() {
        let data = GIFFile.noise(10, 10).data
        #expect(Decoding.error(data) { $0.limits.seconds = -1 }?.code == .limitExceeded)
        #expect(Decoding.error(data) { $0.cancellation.cancel() }?.code == .cancelled)
    }

    @Test("codes that give no pixel don't keep the clock from being looked at")
    func clearCodes() {
        var file = GIFFile(2, 2, [.init(2, 2)])
        // Clear codes of 3 bits, again and again.
        file.frames[0].codes = (0..<3 * 40_000).map { [0x24, 0x49, 0x92][$0 % 3] }
        #expect(Decoding.error(file.data)?.code == .truncated)
    }

    @Test(
        "codes that can't be end the picture at the row before",
        arguments: [[0x3C], [0xC4, 0x01]] as [[UInt8]])
    func badCodes(_ codes: [UInt8]) {
        var file = GIFFile(2, 2, [.init(2, 2)])
        file.frames[0].codes = codes
        #expect(Decoding.error(file.data)?.code == .corruptData)
        for size in [0, 12, 13, 255] {
            file.frames[0].codeSize = size
            #expect(Decoding.error(file.data)?.code == .corruptData)
        }
    }

    @Test("a small version is reduced while it is decoded, and looks like the whole", arguments: [false, true])
    func reduced(_ isInterlaced: Bool) throws {
        let data = GIFFile.noise(400, 300, isInterlaced: isInterlaced).data
        let whole = PixelStatistics(try Decoding.container(data).image)
        let small = try Decoding.container(data) { $0.request.thumbnail = .init(maxPixelSize: 40) }
        #expect((small.image.width, small.image.height) == (40, 30))
        #expect(small.originalSize == ImageSize(width: 400, height: 300))
        #expect(zip(whole.mean, PixelStatistics(small.image).mean).allSatisfy { abs($0 - $1) < 2 })
        let need = try Decoding.properties(data) { $0.request.thumbnail = .init(maxPixelSize: 40) }?.workingSetBytes
        #expect(try (#require(need) < 400 * 300 * 4) == !isInterlaced)
    }
}
