import FoundationEssentials
import NukeCore
import NukeTestSupport
import NukeVideo
import Testing

@Suite("Video damage", .needsLibrary, .timeLimit(.minutes(5)))
struct VideoDamageTests {
    private static let names = [
        "gen-one-frame.mp4", "gen-h264-444-odd.mp4", "gen-vp9-odd.webm", "gen-av1.mkv", "gen-mjpeg.mov",
    ]
    private static let codes: [ImageDecodingError.Code] = [
        .corruptData, .truncated, .unsupported, .limitExceeded, .outOfMemory,
    ]

    private static let limits: ImageLimits = {
        var limits = ImageLimits()
        limits.pixelCount = 1 << 20
        limits.workingSetBytes = 64 << 20
        limits.seconds = 5
        return limits
    }()

    private func check(_ data: Data, _ poster: ImageRequest.VideoPoster?, _ place: String) {
        let error = VideoUnderTest.error(data, poster: poster) { $0.limits = Self.limits }
        guard let error else { return }
        #expect(Self.codes.contains(error.code) && !error.reason.isEmpty, "\(place): \(error)")
    }

    @Test("Files of sound alone are refused, and tell why")
    func audioOnly() throws {
        let error = VideoUnderTest.error(try VideoUnderTest.data("gen-audio-only.mp4"))
        #expect(error?.code == .unsupported && error?.reason == "there is no video in it")
    }

    @Test("A file that is cut anywhere is a typed error, or the whole of its first picture", arguments: names)
    func cuts(_ name: String) throws {
        let data = try VideoUnderTest.data(name)
        let whole = try VideoUnderTest.decode(data).image
        for part in 0..<100 {
            let cut = data.prefix(data.count * part / 100)
            do {
                guard let decoder = ImageDecoders.Video(context: VideoUnderTest.context(cut)) else { continue }
                let image = try decoder.decode(cut).image
                #expect(VideoUnderTest.mean(image) == VideoUnderTest.mean(whole), "\(part) of 100")
            } catch let error as ImageDecodingError {
                #expect([.truncated, .corruptData, .unsupported].contains(error.code), "\(part) of 100: \(error)")
            }
        }
    }

    @Test("1,000 damaged copies give typed errors or images")
    func mutations() throws {
        let samples = try Self.names.map { [UInt8](try VideoUnderTest.data($0)) }
        var numbers = SeededNumbers(seed: 17)
        for round in 0..<1000 {
            var bytes = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let reach = min(bytes.count, [64, 1200, .max][Int.random(in: 0..<3, using: &numbers)])
                let place = Int.random(in: 0..<reach, using: &numbers)
                switch Int.random(in: 0..<5, using: &numbers) {
                case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
                case 2: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &numbers)]
                case 3: bytes[place] = .random(in: 0...255, using: &numbers)
                default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &numbers)))
                }
            }
            let posters: [ImageRequest.VideoPoster?] = [
                nil, .time(seconds: 0.3), .fraction(0.9), .sheet(columns: 2, rows: 1),
            ]
            check(Data(bytes), posters[round % posters.count], "copy \(round)")
        }
    }

    @Test("Bytes that only begin as a video are a typed error")
    func noise() {
        var numbers = SeededNumbers(seed: 23)
        let heads: [[UInt8]] = [
            [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 2, 0],
            [0x1A, 0x45, 0xDF, 0xA3, 0x8B, 0x42, 0x82, 0x88] + Array("matroska".utf8),
        ]
        for head in heads {
            for count in 0..<200 {
                let noise = (0..<count * 5).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                let data = Data(head + noise)
                #expect(VideoUnderTest.error(data) != nil)
                check(data, nil, "\(count * 5) bytes")
            }
        }
    }

    @Test("Limits hold before pictures are decoded, and cancellation ends a decode at once")
    func limits() throws {
        let data = try VideoUnderTest.data("gen-black-first.mp4")
        #expect(VideoUnderTest.error(data) { $0.limits.pixelCount = 160 * 120 - 1 }?.code == .limitExceeded)
        #expect(VideoUnderTest.error(data) { $0.limits.sideLength = 159 }?.code == .limitExceeded)
        #expect(VideoUnderTest.error(data) { $0.limits.workingSetBytes = 160 * 120 * 4 }?.code == .limitExceeded)
        #expect(VideoUnderTest.error(data) { $0.limits.seconds = 0 }?.code == .limitExceeded)
        #expect(VideoUnderTest.error(data) { $0.cancellation.cancel() }?.code == .cancelled)
    }

    @Test("A file that refers to others opens none of them")
    func references() throws {
        // A data reference to another file in place of the one that says "here" (ISO/IEC 14496-12, 8.7.2).
        var data = try VideoUnderTest.data("gen-h264-moov-end.mp4")
        let here = try #require(data.firstRange(of: Data("url \0\0\0\u{1}".utf8)))
        data.replaceSubrange(here, with: Data("alis\0\0\0\0".utf8))
        check(data, nil, "an alias")
    }
}
