import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("Damaged animated PNG", .needsLibrary, .timeLimit(.minutes(5)))
struct APNGFaultTests {
    /// Four frames of 4×3, each in two chunks.
    private static var file: APNGFile {
        var file = APNGFile(4, 3, (0..<4).map { .init(4, 3, [UInt8($0 * 60), 7, 9, 255]) })
        for index in 1..<4 { file.frames[index].pieces = 2 }
        return file
    }

    private func frameCount(_ chunks: [PNGFile.Chunk]) throws -> Int {
        let data = PNGFile(chunks).data
        let count = try #require(try Decoding.properties(data)).frameCount
        #expect(try Decoding.container(data).animation?.frameCount ?? 1 == count)
        return count
    }

    @Test("a chunk that is missing, twice there or out of order ends the animation with the frames before")
    func sequence() throws {
        let chunks = Self.file.file.chunks
        // IHDR, acTL, fcTL, IDAT, then three times fcTL, fdAT, fdAT, then IEND.
        #expect(chunks.count == 14)
        #expect(try frameCount(chunks) == 4)
        for (place, count) in [(4, 1), (5, 1), (7, 1), (9, 2), (11, 3)] {
            var fewer = chunks
            fewer.remove(at: place)
            #expect(try frameCount(fewer) == count, "without \(chunks[place]) at \(place)")
        }
        for (place, count) in [(6, 1), (7, 2), (9, 2)] {
            var more = chunks
            more.insert(chunks[place], at: place)
            #expect(try frameCount(more) == count, "\(chunks[place]) twice at \(place)")
        }
        var swapped = chunks
        swapped.swapAt(8, 9)
        #expect(try frameCount(swapped) == 2)
    }

    @Test("frames of too few numbers are fewer frames, those of too many are cut off")
    func counts() throws {
        var file = Self.file
        file.frameCount = 3
        #expect(try frameCount(file.file.chunks) == 3)
        file.frameCount = 2_000_000_000
        #expect(try frameCount(file.file.chunks) == 4)
        file.frameCount = 0x8000_0000
        #expect(try frameCount(file.file.chunks) == 1)
        file.frameCount = 0
        #expect(Decoding.error(file.data)?.code == .corruptData)
    }

    @Test(
        "control chunks that say what they may not end the animation",
        arguments: [
            [7: 5], [11: 4], [15: 1], [19: 1], [24: 3], [25: 2], [4: 255], [12: 255],
            [4: 0, 5: 0, 6: 0, 7: 0], [8: 0, 9: 0, 10: 0, 11: 0],
        ] as [[Int: UInt8]])
    func control(_ changes: [Int: UInt8]) throws {
        var chunks = Self.file.file.chunks
        for (place, value) in changes { chunks[7].contents[place] = value }
        #expect(try frameCount(chunks) == 2)
    }

    @Test("the first frame, if it is the still picture, must be as large as it")
    func firstFrame() throws {
        var file = Self.file
        file.frames[0].width = 3
        file.frames[0].pixels = Array(repeating: [1, 2, 3, 255], count: 9)
        #expect(throws: ImageDecodingError.self) { try Decoding.container(file.data) }
        var chunks = Self.file.file.chunks
        chunks[2].contents[11] = 2
        #expect(try frameCount(chunks) == 1)
        #expect(try frameCount(Self.file.file.chunks.filter { $0.type != "acTL" }) == 1)
    }

    @Test("wrong checksums: of a control chunk, fewer frames; of a frame's data, an error where it is drawn")
    func checksums() async throws {
        var chunks = Self.file.file.chunks
        chunks[7].hasRightChecksum = false
        #expect(try frameCount(chunks) == 2)
        chunks = Self.file.file.chunks
        chunks[9].hasRightChecksum = false
        let animation = try #require(try Decoding.container(PNGFile(chunks).data).animation)
        #expect(animation.frameCount == 4)
        for order in [[0, 1, 2, 3], [3, 2, 1, 0]] {
            for index in order {
                if index == 2 {
                    let error = await #expect(throws: ImageDecodingError.self) { try await animation.frame(at: 2) }
                    #expect(error?.code == .corruptData)
                } else {
                    #expect(try await animation.frame(at: index).pixel(0, 0)[0] == UInt8(index * 60))
                }
            }
        }
    }

    @Test("of a file that is cut short the whole frames count, and the still picture must be whole")
    func cuts() async throws {
        let file = Self.file.file
        let data = file.data
        let still = file.end(of: "IDAT")
        var seen: Set<Int> = []
        for count in 0..<data.count {
            let cut = data.prefix(count)
            if count < still {
                #expect(Decoding.error(cut)?.code == .truncated, "\(count) bytes")
                continue
            }
            let container = try Decoding.container(cut)
            let frameCount = container.animation?.frameCount ?? 1
            seen.insert(frameCount)
            #expect(try Decoding.properties(cut)?.frameCount == frameCount)
            for index in 0..<(container.animation?.frameCount ?? 0) {
                do { _ = try await container.animation?.frame(at: index) } catch let error as ImageDecodingError {
                    // Cut between the chunks of one frame, which nothing tells but its pixels.
                    #expect([.truncated, .corruptData].contains(error.code) && index == frameCount - 1)
                }
            }
            let lenient = try Decoding.container(cut) { $0.truncationPolicy = .lenient }
            #expect(lenient.animation?.frameCount ?? 1 == frameCount)
        }
        #expect(seen == [1, 2, 3, 4])
        let marked = try Decoding.container(data.dropLast(20)) { $0.truncationPolicy = .lenient }
        #expect(marked.userInfo[.isTruncatedKey] as? Bool == true)
    }

    @Test("cut after every fiftieth, and 2,000 times changed, a file gives an image or a typed error")
    func mutations() async throws {
        var random = SeededNumbers(seed: 2026)
        var samples = [Self.file.data] + (0..<3).map { _ in APNGFile.random(&random, frameCount: 5).data }
        samples.append(PNGFile(SamplePicture(width: 40, height: 30, colorType: 6, depth: 16).interlaced).data)
        var counts = (images: 0, errors: 0)
        func read(_ data: Data, _ policy: TruncationPolicy) async throws {
            let context = Decoding.context(data) {
                $0.truncationPolicy = policy
                $0.limits.pixelCount = 300_000
            }
            let decoder = ImageDecoders.PNG(context: context)
            do {
                _ = try? decoder.decodePartiallyDownloadedData(data)
                _ = try decoder.properties(of: data)
                let container = try decoder.decode(data)
                counts.images += 1
                guard let animation = container.animation else { return }
                for index in (0..<min(animation.frameCount, 6)).reversed() { _ = try await animation.frame(at: index) }
            } catch let error as ImageDecodingError {
                counts.errors += 1
                #expect(!error.reason.isEmpty)
            }
        }
        for data in samples {
            for part in 1..<50 {
                try await read(data.prefix(data.count * part / 50), part % 2 == 0 ? .strict : .lenient)
            }
        }
        for round in 0..<2000 {
            let data = samples[round % samples.count]
            // Half of them with right checksums, so that the change is not seen at once.
            if round % 2 == 0, var file = PNGFile(parsing: Array(data)) {
                let chunk = Int.random(in: 0..<file.chunks.count, using: &random)
                let count = file.chunks[chunk].contents.count
                if count > 0 {
                    let place = Int.random(in: 0..<count, using: &random)
                    file.chunks[chunk].contents[place] = UInt8.random(in: 0...255, using: &random)
                }
                try await read(file.data, .strict)
            } else {
                var data = data
                data[Int.random(in: 8..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                try await read(data, .lenient)
            }
        }
        #expect(counts.images > 200 && counts.errors > 200)
    }
}
