import FoundationEssentials
import NukeCore
import NukeDecodersBasic
import NukeTestKit
import NukeTestSupport
import Testing

@Suite("BMP and ICO conformance", .timeLimit(.minutes(5)))
struct BasicConformanceTests {
    private static var bitmaps: [(String, Data)] {
        var indexed = BMPFile(
            width: 33, height: 21, bitCount: 4, palette: (0..<16).map { [UInt8($0 * 16), 255 - UInt8($0 * 9), 7] })
        indexed.setRows((0..<21).map { y in (0..<17).map { UInt8(truncatingIfNeeded: $0 &* 29 ^ y &* 53) } })
        var packed = BMPFile(width: 9, height: 7, bitCount: 8, compression: 1, palette: [[9, 200, 0], [90, 0, 33]])
        packed.body = Data((0..<7).flatMap { _ in [4, 1, 5, 0, 0, 0] } + [0, 1])
        var alpha = BMPFile(
            width: 20, height: 11, bitCount: 32, headerSize: 108, compression: 3,
            masks: [0xFF0000, 0xFF00, 0xFF, 0xFF00_0000])
        alpha.setRows((0..<11).map { y in (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 41 ^ y &* 97) } })
        return [
            ("noise", BMPFile.noise(201, 140).data), ("indices", indexed.data), ("run lengths", packed.data),
            ("alpha", alpha.data),
        ]
    }

    private static var icons: [(String, Data)] {
        [
            (
                "small",
                BMPFile.icon([(8, 8, BMPFile.masked(8, [200, 20, 30])), (4, 4, BMPFile.masked(4, [1, 2, 3]))])
            ),
            ("large", BMPFile.icon([(150, 150, BMPFile.masked(150, [20, 200, 90]))])),
        ]
    }

    @Test("the decoders keep the promises of decoders")
    func conforms() async {
        for (format, files) in [(ImageFormat.bmp, Self.bitmaps), (.ico, Self.icons)] {
            let suite = DecoderConformance(format: format, samples: files.map { .init(name: $0.0, data: $0.1) })
            #expect(await suite.violations().map(\.description) == [])
        }
    }

    @Test("files that are cut or changed anywhere give an image or a typed error")
    func damage() {
        var random = SeededNumbers(seed: 5)
        var counts = [0, 0]
        for (format, files) in [(ImageFormat.bmp, Self.bitmaps), (.ico, Self.icons)] {
            for (_, file) in files {
                for turn in 0..<550 {
                    var data = file
                    if turn < 50 {
                        data = file.prefix(file.count * turn / 50)
                    } else {
                        for _ in 0...Int(random.next() % 4) {
                            let range = random.next() % 2 == 0 ? min(data.count, 150) : data.count
                            data[Int(random.next() % UInt64(range))] = UInt8(truncatingIfNeeded: random.next())
                        }
                    }
                    var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
                    context.limits.pixelCount = 1_000_000
                    do {
                        _ = try format.makeDecoder?(context)?.properties(of: data)
                        _ = try format.makeDecoder?(context)?.decode(data)
                        counts[0] += 1
                    } catch {
                        #expect(error is ImageDecodingError)
                        counts[1] += 1
                    }
                }
            }
        }
        #expect(counts[0] > 300 && counts[1] > 300, "\(counts)")
    }

    @Test("two letters alone are no bitmap, and a directory that makes no sense is no icon")
    func sniffing() {
        let registry = ImageDecoderRegistry()
        registry.register(.bmp, .ico)
        for (_, file) in Self.bitmaps { #expect(registry.format(of: file)?.type == .bmp) }
        for (_, file) in Self.icons { #expect(registry.format(of: file)?.type == .ico) }
        for data in [
            Data("BM".utf8), Data("BMW cars and other text".utf8), Data([0, 0, 1, 0]), Data(count: 30),
            Data([0, 0, 1, 0, 0, 0]) + Data(count: 30), Data([0, 0, 1, 0xBA]) + Data(count: 30),
        ] {
            #expect(registry.format(of: data) == nil)
        }
    }
}
