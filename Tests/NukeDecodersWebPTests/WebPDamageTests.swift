import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

/// What becomes of files that are cut short or damaged.
@Suite("WebP damage", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPDamageTests {
    private static let samples = [
        "gen-lossy", "gen-lossless", "gen-lossy-alpha", "gen-lossless-alpha", "gen-exif-o6", "gen-icc-swapped",
        "gen-anim-offsets", "gen-anim-shortdelays", "gen-lossy-alphalossy", "gen-near-lossless",
    ]

    /// Decodes all that there is of data: the picture, previews and frames; typed errors are as good as pictures.
    private func exhaust(_ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }) async throws {
        func tolerate(_ body: () async throws -> Void) async throws {
            do {
                try await body()
            } catch is ImageDecodingError {
                // Told, as it should be.
            }
        }
        let context = WebPUnderTest.context(data) {
            $0.limits.pixelCount = 1 << 20
            configure(&$0)
        }
        let decoder = ImageDecoders.WebP(context: context)
        try await tolerate { _ = try decoder.properties(of: data) }
        try await tolerate { _ = try decoder.decodePartiallyDownloadedData(data.prefix(data.count * 2 / 3)) }
        try await tolerate {
            let container = try decoder.decode(data)
            #expect(container.image.width * container.image.height <= 1 << 20)
            guard let animation = container.animation else { return }
            for index in (0..<min(animation.frameCount, 12)).reversed() {
                try await tolerate { _ = try await animation.frame(at: index) }
            }
        }
    }

    @Test(
        "Cut at every fiftieth, a file is truncated, or whole but for what stands behind its picture",
        arguments: samples)
    func cuts(_ name: String) async throws {
        let data = try Fixture.data("webp/\(name).webp")
        let whole = try WebPUnderTest.decode(data).image
        for part in 0..<50 {
            let cut = data.prefix(data.count * part / 50)
            do throws(ImageDecodingError) {
                let image = try WebPUnderTest.decode(cut).image
                #expect(image.byteArray == whole.byteArray, "cut after \(cut.count)")
            } catch {
                #expect(error.code == .truncated, "cut after \(cut.count): \(error)")
            }
            try await exhaust(cut)
            try await exhaust(cut) { $0.truncationPolicy = .lenient }
        }
    }

    @Test("Two thousand damaged copies give a typed error or an image", arguments: samples)
    func mutations(_ name: String) async throws {
        let data = try Fixture.data("webp/\(name).webp")
        var numbers = SeededNumbers(seed: UInt64(name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 0xFFFF))
        for _ in 0..<200 {
            var bytes = [UInt8](data)
            for _ in 0..<Int.random(in: 1...5, using: &numbers) {
                let reach = [40, 400, bytes.count][Int.random(in: 0..<3, using: &numbers)]
                let place = Int.random(in: 0..<min(reach, bytes.count), using: &numbers)
                switch Int.random(in: 0..<5, using: &numbers) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
                case 1: bytes[place] = .random(in: 0...255, using: &numbers)
                case 2: bytes[place] = [0, 0x7F, 0x80, 0xFF][Int.random(in: 0..<4, using: &numbers)]
                case 3: bytes.removeSubrange(place..<min(bytes.count, place + 9))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
                }
            }
            try await exhaust(Data(bytes)) {
                $0.truncationPolicy = Bool.random(using: &numbers) ? .lenient : .strict
                if Bool.random(using: &numbers) { $0.request.thumbnail = .init(maxPixelSize: 20) }
            }
        }
    }

    @Test("A lenient policy keeps the rows that are there, leaves the others transparent, and says so")
    func lenient() throws {
        for name in ["gen-lossy", "gen-lossless", "gen-lossless-alpha"] {
            let data = try Fixture.data("webp/\(name).webp")
            let whole = try WebPUnderTest.decode(data).image
            let cut = data.prefix(data.count * 3 / 4)
            #expect(WebPUnderTest.errorCode(cut) == .truncated)
            let container = try WebPUnderTest.decode(cut) { $0.truncationPolicy = .lenient }
            #expect(container.userInfo[.isTruncatedKey] as? Bool == true && !container.image.isOpaque)
            #expect(
                container.image.byteArray.prefix(whole.bytesPerRow * 32)
                    == whole.byteArray.prefix(whole.bytesPerRow * 32))
            #expect(container.image.byteArray.suffix(whole.bytesPerRow * 4).allSatisfy { $0 == 0 })
            let sound = try WebPUnderTest.decode(data) { $0.truncationPolicy = .lenient }
            #expect(sound.userInfo.isEmpty && sound.image.isOpaque == whole.isOpaque)
            // Of what has no row there is nothing to keep.
            #expect(WebPUnderTest.errorCode(data.prefix(60)) { $0.truncationPolicy = .lenient } == .truncated)
        }
    }

    @Test("EXIF data that is cut off makes a file truncated, as nobody knows how to turn it")
    func cutExif() throws {
        let data = try Fixture.data("webp/gen-exif-o6.webp")
        let exif = try #require(WebPFile(data).start(of: "EXIF"))
        for cut in [exif - 8, exif, exif + 10, data.count - 1] {
            #expect(WebPUnderTest.errorCode(data.prefix(cut)) == .truncated)
            let container = try WebPUnderTest.decode(data.prefix(cut)) { $0.truncationPolicy = .lenient }
            #expect(container.userInfo[.isTruncatedKey] as? Bool == true && container.image.width == 135)
        }
        // A file of which only metadata is missing that does not matter is as good as whole.
        var other = try WebPFile(fixture: "gen-lossy.webp")
        other.extend(width: 135, height: 90, flags: 0x04)
        other.chunks.append(WebPFile.Chunk(type: "XMP ", contents: [UInt8](repeating: 32, count: 300)))
        #expect(try WebPUnderTest.decode(other.data.dropLast(200)).image.width == 135)
    }
}
