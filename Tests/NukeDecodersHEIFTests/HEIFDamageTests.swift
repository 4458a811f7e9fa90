import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

@Suite("HEIF damage", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFDamageTests {
    /// Small files of several kinds: plain, with alpha, a grid with a turn, a thumbnail and a profile.
    private static func samples(_ type: AssetType) throws -> [[UInt8]] {
        let plain = try HEIFUnderTest.encoded(try Picture.gradient(64, 48), type)
        let alpha = try Picture.make(48, 40, isOpaque: false) { x, y in [x, y, 20, 55 + x + y] }
        let tile = try CodedPicture(try Picture.gradient(64, 64), type)
        var grid = HEIFFile(type)
        for _ in 0..<4 { _ = grid.add(tile.item()) }
        let layout: [UInt8] = [0, 0, 1, 1] + Bytes.big(120, 2) + Bytes.big(100, 2)
        let properties = [
            HEIFFile.Box.size(120, 100), .crop(110, 90), .rotation(1), .coding(12, 16, 9, isFullRange: true),
        ]
        grid.primary = grid.add(.init(type: "grid", data: layout, properties: properties))
        grid.references = [("dimg", 5, [1, 2, 3, 4]), ("thmb", grid.add(tile.item()), [5])]
        return [[UInt8](plain), [UInt8](try HEIFUnderTest.encoded(alpha, type)), grid.bytes]
    }

    private static let limits: ImageLimits = {
        var limits = ImageLimits()
        limits.pixelCount = 1 << 20
        limits.workingSetBytes = 64 << 20
        return limits
    }()

    @Test(
        "A picture whose size is declared as nothing has no properties; found by the fuzzer",
        arguments: [(0, 100), (120, 0), (0, 0)])
    func sizeOfNothing(width: Int, height: Int) throws {
        let tile = try CodedPicture(try Picture.gradient(64, 64), .heic)
        var file = HEIFFile(.heic)
        for _ in 0..<4 { _ = file.add(tile.item()) }
        let layout: [UInt8] = [0, 0, 1, 1] + Bytes.big(120, 2) + Bytes.big(100, 2)
        file.primary = file.add(.init(type: "grid", data: layout, properties: [HEIFFile.Box.size(width, height)]))
        file.references = [("dimg", 5, [1, 2, 3, 4])]
        #expect(throws: ImageDecodingError.self) { try HEIFUnderTest.properties(Data(file.bytes)) }
    }

    @Test("A canvas that is larger by its own word than by its properties is over the limits; found by the fuzzer")
    func canvas() throws {
        let tile = try CodedPicture(try Picture.gradient(64, 64), .heic)
        let size = Bytes.big(30_000, 2) + Bytes.big(30_000, 2)
        let kinds: [(String, [UInt8])] = [
            ("iovl", [0, 0] + [UInt8](repeating: 255, count: 8) + size + Bytes.big(0, 2) + Bytes.big(0, 2)),
            ("grid", [0, 0, 0, 0] + size),
        ]
        for (type, layout) in kinds {
            var file = HEIFFile(.heic)
            _ = file.add(tile.item())
            file.primary = file.add(.init(type: type, data: layout, properties: [HEIFFile.Box.size(64, 64)]))
            file.references = [("dimg", 2, [1])]
            for other in [nil, "grid", "hvc1", "iden"] {
                // An item may be said to be several things.
                file.otherTypes = other.map { [(2, $0)] } ?? []
                #expect(HEIFUnderTest.error(Data(file.bytes))?.code == .limitExceeded, "\(type), \(other ?? "")")
            }
        }
    }

    /// Decodes, also as a thumbnail and as a preview; a typed error or an image is what may come of it.
    private func decode(_ data: Data, _ place: @autoclosure () -> String) {
        let error = HEIFUnderTest.error(data) { $0.limits = Self.limits }
        let codes: [ImageDecodingError.Code?] = [
            nil, .corruptData, .truncated, .unsupported, .limitExceeded, .outOfMemory,
        ]
        #expect(codes.contains(error?.code), "\(place()): \(String(describing: error))")
        if error != nil { #expect(error?.reason.isEmpty == false, "\(place())") }
        _ = ImageFormat.heic.previewPolicy(data)
    }

    @Test("A file that is cut at any fiftieth of it is a typed error", arguments: HEIFUnderTest.types)
    func cuts(_ type: AssetType) throws {
        for sample in try Self.samples(type) {
            for part in 0..<50 {
                let data = Data(sample.prefix(sample.count * part / 50))
                let error = HEIFUnderTest.error(data)
                #expect(
                    error?.code == .truncated || error?.code == .corruptData, "\(part): \(String(describing: error))")
            }
        }
    }

    @Test("2,000 damaged copies give typed errors or images", arguments: HEIFUnderTest.types)
    func mutations(_ type: AssetType) throws {
        let samples = try Self.samples(type)
        var numbers = SeededNumbers(seed: 7)
        for round in 0..<2000 {
            var bytes = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let reach = min(bytes.count, [160, 700, .max][Int.random(in: 0..<3, using: &numbers)])
                let place = Int.random(in: 0..<reach, using: &numbers)
                switch Int.random(in: 0..<5, using: &numbers) {
                case 0, 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
                case 2: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &numbers)]
                case 3: bytes[place] = .random(in: 0...255, using: &numbers)
                default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &numbers)))
                }
            }
            decode(Data(bytes), "copy \(round) of \(type.rawValue)")
        }
    }

    @Test("Any bytes behind the file type box are a typed error")
    func noise() {
        var numbers = SeededNumbers(seed: 11)
        let head = Bytes.big(24, 4) + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8)
        for count in 0..<300 {
            let noise = (0..<count * 3).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            let box = Bytes.big(count * 3 + 8, 4) + Array("meta".utf8)
            #expect(HEIFUnderTest.error(Data(head + (count % 2 == 0 ? noise : box + noise))) != nil)
        }
        #expect(HEIFUnderTest.error(Data()) != nil)
    }
}
