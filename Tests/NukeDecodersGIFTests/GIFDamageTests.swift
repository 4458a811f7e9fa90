import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport
import Testing

@Suite("Damaged GIF", .timeLimit(.minutes(5)))
struct GIFDamageTests {
    /// Files of every kind that the decoder tells apart.
    private static func samples() -> [Data] {
        var random = SeededGenerator(7)
        var large = GIFFile.noise(90, 70)
        large.frames += GIFFile.noise(90, 70, isInterlaced: true).frames
        return [
            GIFFile.random(&random, frameCount: 6).data, large.data,
            GIFFile.noise(61, 43, isInterlaced: true, bits: 5).data,
            GIFFile(300, 200, [.init(300, 200, 1), .init(9, 9, 2, left: 4, top: 4)]).data,
        ]
    }

    /// Decodes all there is; what is thrown must be an error of the decoder's own.
    private func read(_ data: Data, _ policy: TruncationPolicy) async throws -> Bool {
        let context = Decoding.context(data) {
            $0.truncationPolicy = policy
            $0.limits.pixelCount = 300_000
        }
        let decoder = ImageDecoders.GIF(context: context)
        do {
            _ = try decoder.decodePartiallyDownloadedData(data)
            guard try decoder.properties(of: data) != nil else { return false }
            let container = try decoder.decode(data)
            guard let animation = container.animation else { return true }
            for index in (0..<min(animation.frameCount, 8)).reversed() { _ = try await animation.frame(at: index) }
            return true
        } catch let error as ImageDecodingError {
            #expect(!error.reason.isEmpty)
            return false
        }
    }

    @Test("cut after every fiftieth, a file gives an image or a typed error", arguments: 0..<4)
    func cuts(_ sample: Int) async throws {
        let data = Self.samples()[sample]
        var counts = (strict: 0, lenient: 0)
        for part in 1..<50 {
            let cut = data.prefix(data.count * part / 50)
            if try await read(cut, .strict) { counts.strict += 1 }
            if try await read(cut, .lenient) { counts.lenient += 1 }
        }
        #expect(counts.lenient >= counts.strict && counts.lenient > 0)
        if sample == 2 { #expect(counts.strict == 0) }
        #expect(try await read(data, .strict))
    }

    @Test("2,000 changes of bytes each give an image or a typed error")
    func mutations() async throws {
        var random = SeededGenerator(2026)
        let samples = Self.samples()
        var imageCount = 0
        for round in 0..<2000 {
            var data = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                // Half of the changes hit what steers the decoder.
                let end = Bool.random(using: &random) ? min(60, data.count) : data.count
                data[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if try await read(data, round % 2 == 0 ? .strict : .lenient) { imageCount += 1 }
        }
        #expect(imageCount > 200 && imageCount < 2000)
    }
}
