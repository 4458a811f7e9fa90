import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersPNG

@Suite("PNG faults", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGFaultTests {
    private let picture = SamplePicture(colorType: 6, depth: 8)

    @Test("data cut at any byte before the last pixel's checksum is truncated", arguments: [1, 5], [false, true])
    func truncation(_ pieces: Int, _ isInterlaced: Bool) throws {
        let file = PNGFile(picture.with { $0.isInterlaced = isInterlaced }, pieces: pieces)
        let bytes = file.bytes
        for count in 0..<bytes.count {
            let data = Data(bytes.prefix(count))
            if count < file.end(of: "IDAT") {
                #expect(Decoding.error(data)?.code == .truncated, "\(count) bytes")
            } else {
                // All rows are there; only the end mark is missing.
                #expect(try Decoding.image(data).byteArray == picture.expectedBytes, "\(count) bytes")
            }
        }
    }

    @Test("a truncated file decoded after a full one shows no byte of it")
    func noLeftovers() throws {
        let bright = SamplePicture(width: 64, height: 64, colorType: 2, depth: 8)
        let file = PNGFile(bright)
        _ = try Decoding.image(file.data)
        let half = Data(file.bytes.prefix(file.bytes.count / 2))
        #expect(throws: ImageDecodingError.truncated("", codec: "PNG")) { try Decoding.image(half) }
    }

    @Test("the header is told as soon as it is there, and not before")
    func partialHeader() throws {
        let bytes = PNGFile(picture).bytes
        for count in 0..<bytes.count {
            let data = Data(bytes.prefix(count))
            if count < 33 {
                #expect(throws: ImageDecodingError.truncated("", codec: "PNG")) { try Decoding.properties(data) }
            } else {
                #expect(try Decoding.properties(data)?.width == picture.width)
            }
        }
    }

    @Test("any bit flipped before the end mark is an error", arguments: [1, 3])
    func bitFlips(_ pieces: Int) {
        let file = PNGFile(SamplePicture(width: 4, height: 3, colorType: 2, depth: 8), pieces: pieces)
        var bytes = file.bytes
        for place in 0..<file.end(of: "IDAT") {
            for bit in 0..<8 {
                bytes[place] ^= 1 << bit
                #expect(Decoding.error(Data(bytes)) != nil, "bit \(bit) of byte \(place)")
                bytes[place] ^= 1 << bit
            }
        }
    }

    @Test("bytes changed at random give an error or a picture of some size, and no harm")
    func randomDamage() throws {
        var numbers = SeededNumbers(seed: 11)
        let profile = ProfileData.chunk(space: "RGB ")
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: 6).bytes)
        for picture in SamplePicture.all {
            let sound = PNGFile(picture, before: [profile, exif], pieces: 2).bytes
            for _ in 0..<40 {
                var bytes = sound
                for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                    bytes[.random(in: 8..<bytes.count, using: &numbers)] = .random(in: 0...255, using: &numbers)
                }
                if let image = try? Decoding.image(Data(bytes)) { #expect(image.width * image.height == 99) }
            }
        }
    }

    @Test("bytes changed at random under right checksums give an error or a picture, and no harm")
    func damageUnderChecksums() throws {
        var numbers = SeededNumbers(seed: 12)
        for picture in SamplePicture.all {
            let sound = PNGFile(picture, before: [ProfileData.chunk(space: "RGB ")], pieces: 2)
            for _ in 0..<40 {
                var file = sound
                let index = Int.random(in: 1..<file.chunks.count, using: &numbers)
                guard !file.chunks[index].contents.isEmpty else { continue }
                let place = Int.random(in: 0..<file.chunks[index].contents.count, using: &numbers)
                file.chunks[index].contents[place] = .random(in: 0...255, using: &numbers)
                if let image = try? Decoding.image(file.data) { #expect(image.width * image.height == 99) }
            }
        }
    }

    @Test("a wrong checksum is an error in IHDR, PLTE and IDAT, and drops other chunks")
    func checksums() throws {
        let indexed = SamplePicture(colorType: 3, depth: 4)
        let text = PNGFile.Chunk(type: "tEXt", contents: Array("a\u{0}b".utf8))
        let sound = PNGFile(indexed, before: [ProfileData.chunk(space: "RGB "), text])
        for (index, chunk) in sound.chunks.enumerated() where chunk.type != "IEND" {
            var file = sound
            file.chunks[index].hasRightChecksum = false
            let isCritical = ["IHDR", "PLTE", "IDAT"].contains(chunk.type)
            #expect(Decoding.error(file.data)?.code == (isCritical ? .corruptData : nil), "\(chunk.type)")
            if chunk.type == "iCCP" { #expect(try Decoding.image(file.data).colorSpace == .sRGB) }
        }
    }

    @Test("missing rows and bad streams are corrupt, not truncated, while the data goes on")
    func badStreams() {
        func error(_ stream: [UInt8]) -> ImageDecodingError? {
            var file = PNGFile(picture)
            file.chunks[1].contents = stream
            return Decoding.error(file.data)
        }
        let rows = picture.filteredRows
        #expect(error(PNGFile.zlib(rows)) == nil)
        #expect(error(PNGFile.zlib(Array(rows.dropLast())))?.code == .corruptData)
        #expect(error(PNGFile.zlib([]))?.code == .corruptData)
        #expect(error([])?.code == .corruptData)
        #expect(error([0x78, 0x01, 0xFF, 0xFF])?.code == .corruptData)
        #expect(error(Array(PNGFile.zlib(rows).dropFirst()))?.code == .corruptData)
        var unknownFilter = rows
        unknownFilter[0] = 5
        #expect(error(PNGFile.zlib(unknownFilter))?.code == .corruptData)
        var farCopy = PNGFile.bomb(prefix: [], runs: 20)
        farCopy[4] ^= 0xFF
        #expect(error(farCopy)?.code == .corruptData)
    }

    @Test("a picture that lacks its palette or its pixels is an error")
    func missingChunks() {
        var file = PNGFile(SamplePicture(colorType: 3, depth: 8))
        file.chunks.remove(at: 1)
        #expect(Decoding.error(file.data)?.code == .corruptData)
        file = PNGFile(picture)
        file.chunks.remove(at: 1)
        #expect(Decoding.error(file.data)?.code == .corruptData)
        file.chunks.remove(at: 1)
        #expect(Decoding.error(file.data)?.code == .truncated)
    }

    @Test("headers that the format does not allow are corrupt")
    func badHeaders() {
        let allowed = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
        for type in 0...8 {
            for depth in 0...17 where allowed[type]?.contains(depth) != true {
                var file = PNGFile(picture)
                file.chunks[0] = PNGFile.header(width: 11, height: 9, depth: depth, colorType: type)
                #expect(Decoding.error(file.data)?.code == .corruptData, "type \(type), \(depth) bits")
            }
        }
        for (width, height) in [(0, 9), (11, 0), (0x8000_0000, 9), (11, 0xFFFF_FFFF)] {
            var file = PNGFile(picture)
            file.chunks[0] = PNGFile.header(width: width, height: height, depth: 8, colorType: 6)
            #expect(Decoding.error(file.data)?.code == .corruptData, "\(width)x\(height)")
            #expect(throws: ImageDecodingError.self) { try Decoding.properties(file.data) }
        }
        for (place, value) in [(10, 1), (11, 1), (12, 2)] {
            var file = PNGFile(picture)
            file.chunks[0].contents[place] = UInt8(value)
            #expect(Decoding.error(file.data)?.code == .corruptData)
        }
    }

    @Test("empty data is truncated, other data corrupt, and neither crashes [DEC-16]")
    func noPNG() {
        #expect(Decoding.error(Data())?.code == .truncated)
        #expect(Decoding.error(Data("GIF89a and more".utf8))?.code == .corruptData)
        #expect(Decoding.error(Data(PNGFile.signature + Array("IHDR and so on, but not as it should be".utf8))) != nil)
        // The line ends that a text transfer has changed.
        #expect(
            Decoding.error(Data([0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 40)))?.code
                == .corruptData)
    }

    @Test("a wrong checksum of the stream is corrupt, even where all rows are there", arguments: [8, 200])
    func streamChecksum(_ side: Int) throws {
        for picture in [picture, picture.interlaced].map({ $0.with { ($0.width, $0.height) = (side, side) } }) {
            // Once as stored blocks and once as libpng compresses it.
            let stored = PNGFile(picture).data
            let options = ImageEncodingOptions(isProgressive: picture.isInterlaced)
            let image = try Decoding.image(stored)
            let compressed = try #require(ImageEncoders.PNG(options: options).encode(image))
            for data in [stored, compressed] {
                var file = try #require(PNGFile(parsing: Array(data)))
                let last = try #require(file.chunks.lastIndex { $0.type == "IDAT" })
                #expect(try Decoding.image(file.data).byteArray == image.byteArray)
                file.chunks[last].contents[file.chunks[last].contents.count - 1] ^= 1
                #expect(Decoding.error(file.data)?.code == .corruptData)
                // In a chunk of its own it is read after the last row.
                let checksum = PNGFile.Chunk(type: "IDAT", contents: Array(file.chunks[last].contents.suffix(4)))
                file.chunks[last].contents.removeLast(4)
                file.chunks.insert(checksum, at: last + 1)
                #expect(Decoding.error(file.data)?.code == .corruptData)
                file.chunks[last + 1].contents[3] ^= 1
                #expect(try Decoding.image(file.data).byteArray == image.byteArray)
            }
        }
    }

    @Test("an animation of no frames is corrupt; of others the still picture is decoded")
    func animations() throws {
        for (frames, isSound) in [(0, false), (1, true), (1000, true)] {
            let control = PNGFile.Chunk(type: "acTL", contents: PNGFile.bigEndian(frames) + PNGFile.bigEndian(0))
            let data = PNGFile(picture, before: [control]).data
            #expect(Decoding.error(data)?.code == (isSound ? nil : .corruptData))
            if isSound { #expect(try Decoding.image(data).byteArray == picture.expectedBytes) }
            // Behind the picture the chunk has no meaning.
            #expect(Decoding.error(PNGFile(picture, behind: [control]).data) == nil)
        }
    }

    @Test("a slice of other data decodes as well")
    func slices() throws {
        let bytes = PNGFile(picture).bytes
        let data = Data([1, 2, 3] + bytes + [4, 5])
        #expect(try Decoding.image(data[3..<3 + bytes.count]).byteArray == picture.expectedBytes)
    }
}
