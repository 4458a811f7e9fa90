import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

/// Files that are cut or changed anywhere give an image or a typed error.
@Suite("JPEG mutations", .timeLimit(.minutes(5)))
struct JPEGMutationTests {
    /// A sequence of numbers that is the same on every run (xorshift64*).
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return state &* 0x2545_F491_4F6C_DD1D
        }
    }

    private static func samples() throws -> [Data] {
        let names = [
            "gen-420", "gen-progressive", "gen-arith", "gen-arith-prog", "gen-restart1", "gen-cmyk-adobe",
            "gen-sequential-3scans", "gen-exif-thumb", "gen-icc-p3",
        ]
        let oriented = try LetterPicture.file(
            side: 8, orientation: 7, isProgressive: true, thumbnail: LetterPicture.file(side: 4))
        return try names.map { try Fixture.data("jpeg/\($0).jpg") } + [oriented]
    }

    /// Reads all there is to read, in one of several ways; whether it gave an image.
    private func read(_ data: Data, way: Int) throws -> Bool {
        var context = JPEGUnderTest.context(data)
        context.truncationPolicy = way % 2 == 0 ? .strict : .lenient
        context.limits.pixelCount = 300_000
        if way % 3 == 1 {
            context.request.thumbnail = .init(maxPixelSize: 30)
            context.request.thumbnail?.createThumbnailFromImageAlways = false
        }
        let decoder = ImageDecoders.JPEG(context: context)
        do throws(ImageDecodingError) {
            _ = try decoder.properties(of: data)
            if way % 3 == 2 {
                for part in 1...3 { _ = try decoder.decodePartiallyDownloadedData(data.prefix(data.count * part / 4)) }
            }
            let image = try decoder.decode(data).image
            #expect(image.width > 0 && image.height > 0 && image.width * image.height <= 300_000)
            return true
        } catch {
            let codes: [ImageDecodingError.Code] = [.corruptData, .truncated, .unsupported, .limitExceeded]
            #expect(codes.contains(error.code) && !error.reason.isEmpty, "\(error)")
            return false
        }
    }

    @Test("Cut after every fiftieth, a file gives an image or a typed error [row 118] [row 119]", arguments: 0..<10)
    func cuts(_ sample: Int) throws {
        let data = try Self.samples()[sample]
        var counts = (strict: 0, lenient: 0)
        for part in 0..<50 {
            let cut = data.prefix(data.count * part / 50)
            for way in [part % 6, (part + 3) % 6] where try read(cut, way: way) {
                if way % 2 == 0 { counts.strict += 1 } else { counts.lenient += 1 }
            }
        }
        #expect(counts.lenient >= counts.strict && counts.lenient > 0)
        #expect(try (0..<6).allSatisfy { try read(data, way: $0) })
    }

    @Test("2,000 changed files each give an image or a typed error", arguments: 0..<4)
    func mutations(_ quarter: Int) throws {
        var random = Numbers(state: 2026 + UInt64(quarter))
        let samples = try Self.samples()
        var imageCount = 0
        for round in 0..<500 {
            var data = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Half of the changes hit what steers the decoder.
                let end = Bool.random(using: &random) ? min(700, data.count) : data.count
                data[Int.random(in: 2..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if try read(data, way: round / samples.count) { imageCount += 1 }
        }
        #expect(imageCount > 50 && imageCount < 500)
    }
}
