import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("GIF animation", .timeLimit(.minutes(5)))
struct GIFAnimationTests {
    private func animation(
        _ file: GIFFile, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws -> ImageAnimation {
        try #require(try Decoding.container(file.data, change).animation)
    }

    private func letters(_ file: GIFFile, _ indices: [Int]? = nil) async throws -> [[String]] {
        let animation = try animation(file)
        var frames: [[String]] = []
        for index in indices ?? Array(0..<animation.frameCount) {
            frames.append(Decoding.letters(try await animation.frame(at: index)))
        }
        return frames
    }

    /// Four frames of 4×4 pixels: all red, then ever smaller squares, disposed of as told.
    private func squares(_ disposals: [Int]) -> GIFFile {
        var file = GIFFile(
            4, 4, [.init(4, 4, 0), .init(2, 2, 1), .init(2, 2, 2, left: 1, top: 1), .init(1, 1, 3, left: 3, top: 3)])
        for (index, disposal) in disposals.enumerated() { file.frames[index].disposal = disposal }
        return file
    }

    @Test("a frame's disposal counts before the next is drawn: none, cleared, restored [row 143]")
    func disposals() async throws {
        let first = ["rrrr", "rrrr", "rrrr", "rrrr"]
        let second = ["ggrr", "ggrr", "rrrr", "rrrr"]
        #expect(
            try await letters(squares([1, 2, 3, 0])) == [
                first, second, ["..rr", ".bbr", "rbbr", "rrrr"], ["..rr", "..rr", "rrrr", "rrrw"],
            ])
        #expect(
            try await letters(squares([3, 1, 2, 0])) == [
                first, ["gg..", "gg..", "....", "...."], ["gg..", "gbb.", ".bb.", "...."],
                ["gg..", "g...", "....", "...w"],
            ])
        #expect(
            try await letters(squares([2, 3, 3, 2])) == [
                first, ["gg..", "gg..", "....", "...."], ["....", ".bb.", ".bb.", "...."],
                ["....", "....", "....", "...w"],
            ])
    }

    @Test("a frame that covers all gives back what was there before it [row 143]")
    func coveringFrame() async throws {
        var file = GIFFile(2, 1, [.init(2, 1, 0), .init(2, 1, 1), .init(1, 1, 3), .init(1, 1, 2, left: 1)])
        file.frames[1].disposal = 3
        let expected = [["rr"], ["gg"], ["wr"], ["wb"]]
        #expect(try await letters(file) == expected)
        for order in [[3, 2, 1, 0], [1, 2, 1, 3], [2, 0, 2, 1]] {
            #expect(try await letters(file, order) == order.map { expected[$0] })
        }
    }

    @Test("disposals that no standard defines count as none [row 145]", arguments: 4...7)
    func undefinedDisposals(_ disposal: Int) async throws {
        let (defined, undefined) = (squares([0, 1, 0, 1]), squares(Array(repeating: disposal, count: 4)))
        #expect(try await letters(undefined) == letters(defined))
        #expect(try await letters(undefined).last == ["ggrr", "gbbr", "rbbr", "rrrw"])
    }

    @Test("random files look as a plain compositor draws them, in any order", arguments: 0..<120)
    func randomFiles(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let file = GIFFile.random(&random, frameCount: 9)
        let expected = file.composed
        let data = file.data
        for policy in [TruncationPolicy.strict, .lenient] {
            let container = try Decoding.container(data) { $0.truncationPolicy = policy }
            let animation = try #require(container.animation)
            #expect(animation.frameCount == 9)
            let order = Array(0..<9) + (0..<30).map { _ in Int.random(in: 0..<9, using: &random) }
            for index in order {
                let frame = try await animation.frame(at: index)
                #expect(Decoding.letters(frame) == expected[index], "frame \(index)")
                #expect(!frame.isOpaque || !expected[index].joined().contains("."), "frame \(index)")
            }
            #expect(Decoding.letters(container.image) == expected[0])
        }
    }

    @Test("frames stay where they are on the canvas, whatever reaches beyond it [row 151]")
    func outside() async throws {
        let file = GIFFile(
            3, 2,
            [
                .init(3, 2, 0), .init(9, 9, 1, left: 2, top: 1), .init(1, 1, 2, left: 26_020, top: 26_020),
                .init(2, 40_000, 3),
            ])
        #expect(
            try await letters(file) == [["rrr", "rrr"], ["rrr", "rrg"], ["rrr", "rrg"], ["wwr", "wwg"]])
    }

    @Test("each frame has its own palette, its own transparent index and its own passes")
    func palettes() async throws {
        var file = GIFFile(2, 2, [.init(2, 2, 0), .init(2, 2) { x, y in UInt8(x + 2 * y) }, .init(2, 2, 1)])
        file.frames[1].palette = [0, 0, 255, 0, 0, 0, 255, 255, 255, 0, 255, 0]
        file.frames[1].transparentIndex = 2
        file.frames[1].isInterlaced = true
        #expect(try await letters(file) == [["rr", "rr"], ["bk", "rg"], ["gg", "gg"]])
        file.palette = []
        file.frames[0].palette = [0, 255, 0, 0, 0, 0]
        #expect(try await letters(file) == [["gg", "gg"], ["bk", "gg"], ["ww", "ww"]])
    }

    @Test("stored delays of up to 10 ms are played as 100 ms, frame by frame [row 146]")
    func delays() throws {
        var file = GIFFile(2, 2, [0, 1, 2, 10].map { GIFFile.Frame(2, 2, UInt8($0 & 3)) })
        for (index, delay) in [0, 1, 2, 10].enumerated() { file.frames[index].delay = delay }
        #expect(try Decoding.properties(file.data)?.frameDurations == [0, 0.01, 0.02, 0.1])
        let durations = try animation(file).durations.map { ($0 * 1000).rounded() }
        #expect(durations == [100, 100, 20, 100])
    }

    @Test("without a loop extension frames play once, with 0 for ever, with N one time more [row 148] [row 149]")
    func loops() throws {
        var file = GIFFile(2, 2, [.init(2, 2, 0), .init(2, 2, 1)])
        #expect(try animation(file).playCount == 1)
        #expect(try Decoding.properties(file.data)?.loopCount == nil)
        for (stored, plays) in [(0, nil), (1, 2), (3, 4), (5, 6), (65_535, 65_536)] {
            file.loops = [stored, 9]
            #expect(try animation(file).playCount == plays)
            #expect(try Decoding.properties(file.data)?.loopCount == stored)
        }
    }

    @Test("a still picture and a preview have no animation")
    func still() throws {
        #expect(try Decoding.container(GIFFile(2, 2, [.init(2, 2, 0)]).data).animation == nil)
        let data = GIFFile(2, 2, [.init(2, 2, 0), .init(2, 2, 1)]).data
        let decoder = ImageDecoders.GIF(context: Decoding.context(data))
        let preview = try #require(try decoder.decodePartiallyDownloadedData(data.dropLast(3)))
        #expect(preview.isPreview && preview.animation == nil)
        #expect(try decoder.decode(data).animation?.frameCount == 2)
    }

    @Test(
        "of a file cut within its last frame the whole frames count, and by policy what there is of the last [row 152]")
    func truncatedTail() async throws {
        var file = GIFFile(40, 40, [.init(40, 40, 0), .init(40, 40, 1)] + GIFFile.noise(40, 40, bits: 2).frames)
        file.hasTrailer = false
        let cut = file.data.dropLast(300)
        let strict = try Decoding.container(cut)
        #expect(strict.animation?.frameCount == 2)
        #expect(strict.userInfo[.isTruncatedKey] == nil)
        #expect(try Decoding.properties(cut)?.frameCount == 2)

        let lenient = try Decoding.container(cut) { $0.truncationPolicy = .lenient }
        #expect(lenient.userInfo[.isTruncatedKey] as? Bool == true)
        #expect(try Decoding.properties(cut) { $0.truncationPolicy = .lenient }?.frameCount == 3)
        let animation = try #require(lenient.animation)
        #expect(animation.frameCount == 3)
        let last = Decoding.letters(try await animation.frame(at: 2))
        let whole = try await letters(file, [2])[0]
        #expect(last.first == whole.first && last.first != String(repeating: "g", count: 40))
        #expect(last.last == String(repeating: "g", count: 40))
    }

    @Test("damage within a frame ends what is drawn on it, and nothing else")
    func damage() async throws {
        var file = squares([1, 1, 1, 1])
        file.frames.append(.init(4, 4, 1))
        file.frames[1].codes = [0xC4, 0x01]
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]] {
            let animation = try animation(file)
            for index in order {
                if [0, 4].contains(index) {
                    #expect(Decoding.letters(try await animation.frame(at: index)).count == 4)
                } else {
                    let error = await #expect(throws: ImageDecodingError.self) { try await animation.frame(at: index) }
                    #expect(error?.code == .corruptData)
                }
            }
        }
        let lenient = try animation(file) { $0.truncationPolicy = .lenient }
        #expect(Decoding.letters(try await lenient.frame(at: 2)) == ["rrrr", "rbbr", "rbbr", "rrrr"])
    }

    @Test("frames are whole and have the request's scale, also where the picture is reduced")
    func size() async throws {
        var file = GIFFile.noise(60, 40)
        file.frames.append(file.frames[0])
        let container = try Decoding.container(file.data) {
            $0.request.thumbnail = .init(maxPixelSize: 10)
            $0.request.scale = 2
        }
        #expect(container.image.width == 10)
        let frame = try await container.animation?.frame(at: 1)
        #expect(frame?.width == 60 && frame?.height == 40 && frame?.scale == 2 && frame?.isOpaque == true)
        #expect(frame?.byteArray == (try Decoding.container(file.data).image.byteArray))
    }

    @Test("frames have limits of their own, which the picture does not feel")
    func limits() async throws {
        var file = GIFFile.noise(60, 40)
        file.frames.append(file.frames[0])
        let container = try Decoding.container(file.data) { $0.limits.workingSetBytes = 90_000 }
        let error = await #expect(throws: ImageDecodingError.self) { try await container.animation?.frame(at: 0) }
        #expect(error?.code == .limitExceeded)
        let late = try Decoding.container(file.data) { $0.limits.seconds = 1000 }
        #expect(try await late.animation?.frame(at: 1).width == 60)
    }

    @Test("frames are there after the load was cancelled")
    func cancelled() async throws {
        let flag = CancellationFlag()
        let animation = try animation(GIFFile(2, 2, [.init(2, 2, 0), .init(2, 2, 1)])) { $0.cancellation = flag }
        flag.cancel()
        #expect(Decoding.letters(try await animation.frame(at: 1)) == ["gg", "gg"])
    }
}
