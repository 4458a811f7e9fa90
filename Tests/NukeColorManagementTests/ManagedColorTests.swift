import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeColorManagement

extension Trait where Self == ConditionTrait {
    static var needsLibrary: Self { .enabled(if: LittleCMS.littleCMS.missingLibrary() == nil, "lcms2 is missing") }
}

@Suite("Colours by tables", .needsLibrary, .timeLimit(.minutes(5)))
struct ManagedColorTests {
    private let converter = LittleCMS.littleCMS

    private func converted(
        _ values: [UInt8], _ format: PixelFormat, _ profile: Data, isOpaque: Bool = true,
        options: ImageRequest.Options = [], by converter: LittleCMS = .littleCMS
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: values.count / format.bytesPerPixel, height: 1, format: format) else {
            throw ImageDecodingError.unknown
        }
        buffer.withRow(0) { row in
            for (index, value) in values.enumerated() {
                row.storeBytes(of: value, toByteOffset: index, as: UInt8.self)
            }
        }
        let space = try #require(ColorSpace(iccProfile: profile, for: format))
        var container = ImageContainer(image: buffer.freeze(isOpaque: isOpaque, colorSpace: space))
        container.convertToSRGB(for: ImageRequest(url: nil, options: options), by: converter)
        return container.image
    }

    private func bytes(_ bitmap: Bitmap) -> [Int] {
        (0..<bitmap.width * bitmap.format.bytesPerPixel).map {
            Int(bitmap.row(0).unsafeLoad(fromByteOffset: $0, as: UInt8.self))
        }
    }

    private func isNear(_ a: [Int], _ b: [Int], _ tolerance: Int) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test("RGB of a table profile becomes sRGB once, and says so [row 184]")
    func colors() throws {
        let source: [UInt8] = [0, 0, 0, 255, 255, 255, 255, 255, 200, 100, 50, 255, 10, 250, 128, 255]
        let result = try converted(source, .rgba8, TableProfile.rotated)
        #expect(result.colorSpace == .sRGB && result.isOpaque)
        let expected = [0, 0, 0, 255, 255, 255, 255, 255, 100, 50, 200, 255, 250, 128, 10, 255]
        #expect(isNear(bytes(result), expected, 3), "\(bytes(result))")
    }

    @Test("Alpha is divided out around the conversion, and stays")
    func alpha() throws {
        let result = try converted(
            [100, 50, 25, 128, 0, 0, 0, 0, 200, 100, 50, 255], .rgba8, TableProfile.rotated, isOpaque: false)
        #expect(isNear(bytes(result), [50, 25, 100, 128, 0, 0, 0, 0, 100, 50, 200, 255], 3), "\(bytes(result))")
    }

    @Test("16 bits a component keep their precision [row 187]")
    func deep() throws {
        func little(_ values: [Int]) -> [UInt8] {
            values.reduce(into: []) { bytes, value in bytes += [UInt8(value & 255), UInt8(value >> 8)] }
        }
        func numbers(_ bytes: [Int]) -> [Int] {
            stride(from: 0, to: bytes.count, by: 2).map { index in bytes[index] + bytes[index + 1] << 8 }
        }
        let source = little([51400, 25700, 12850, 65535, 51400, 25700, 12850, 65535, 25700, 12850, 6425, 32768])
        let result = try converted(source, .rgba16, TableProfile.rotated, isOpaque: false)
        let expected = [25700, 12850, 51400, 65535, 25700, 12850, 51400, 65535, 12850, 6425, 25700, 32768]
        #expect(isNear(numbers(bytes(result)), expected, 700), "\(numbers(bytes(result)))")
        // In 8 bits they would be at most three grays.
        let grays = (0..<64).map { index in 30000 + index * 8 }
        let close = little(grays.reduce(into: []) { values, gray in values += [gray, gray, gray, 65535] })
        let steps = numbers(bytes(try converted(close, .rgba16, TableProfile.rotated)))
        #expect(Set(steps).count > 32)
    }

    @Test("Gray of a table profile becomes sRGB's gray")
    func gray() throws {
        let result = try converted([0, 1, 64, 128, 200, 255], .gray8, TableProfile.negative)
        #expect(result.colorSpace == .sRGB && result.format == .gray8)
        #expect(isNear(bytes(result), [255, 254, 191, 127, 55, 0], 2), "\(bytes(result))")
    }

    @Test("`preserveColorSpace` keeps table profiles and their colours")
    func preserved() throws {
        let result = try converted([200, 100, 50, 255], .rgba8, TableProfile.rotated, options: .preserveColorSpace)
        #expect(result.colorSpace.iccProfile == TableProfile.rotated && bytes(result) == [200, 100, 50, 255])
    }

    @Test("Without the library, and with one that is none, pictures stay as they are")
    func missing() throws {
        for (name, words) in [
            ("liblcms2-that-is-not-there.so.2", "is not installed; install the package liblcms2-2"),
            ("libc.so.6", "update the package liblcms2-2"),
        ] {
            let converter = LittleCMS(name: name)
            #expect(converter.missingLibrary()?.contains(words) == true)
            let result = try converted([200, 100, 50, 255], .rgba8, TableProfile.rotated, by: converter)
            #expect(result.colorSpace.iccProfile == TableProfile.rotated && bytes(result) == [200, 100, 50, 255])
        }
    }

    @Test("A profile for other samples than those at hand is not applied [row 185]")
    func mismatch() {
        for samples in [ColorSamples.rgba8, .rgba16, .gray8, .cmyk8] {
            let right = [TableProfile.rotated, TableProfile.negative, TableProfile.plainInks].map {
                converter.transform(from: $0, for: samples) != nil
            }
            #expect(right == [samples == .rgba8 || samples == .rgba16, samples == .gray8, samples == .cmyk8])
        }
    }

    @Test("A profile's transform is made once while it is among the last few")
    func kept() {
        let transforms = TransformCache()
        let library = LCMSLibrary(name: "liblcms2.so.2")
        var makes = 0
        func get(_ profile: Data, _ samples: ColorSamples = .rgba8) -> (any ColorTransforming)? {
            transforms.transform(from: profile, for: samples) {
                makes += 1
                return library.makeTransform(from: profile, for: samples)
            }
        }
        #expect(get(TableProfile.rotated) != nil && get(TableProfile.rotated) != nil && makes == 1)
        #expect(get(TableProfile.rotated, .rgba16) != nil && makes == 2)
        #expect(get(Data("no profile".utf8)) == nil && get(Data("no profile".utf8)) == nil && makes == 3)
        for index in 0..<4 { #expect(get(Data("no profile \(index)".utf8)) == nil) }
        #expect(makes == 7 && get(TableProfile.rotated) != nil && makes == 8)
    }

    @Test("Threads share a transform, and each gets what one alone gets")
    func threads() async throws {
        let transform = try #require(converter.transform(from: TableProfile.swappedInks, for: .cmyk8))
        @Sendable func row(_ seed: Int) -> [UInt8] {
            var bytes = (0..<4096).map { UInt8(truncatingIfNeeded: ($0 * 37 + seed * 101) ^ ($0 >> 3)) }
            var span = bytes.mutableSpan
            var raw = span.mutableBytes
            transform.convert(&raw)
            return bytes
        }
        let alone = (0..<16).map(row)
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<64 {
                group.addTask {
                    await CodecThreads.shared.run { (0..<20).allSatisfy { _ in row(task % 16) == alone[task % 16] } }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }

    @Test("Profiles that are cut or changed anywhere do no harm")
    func hostile() {
        var random = SeededNumbers(seed: 7)
        let small = TableProfile(space: "CMYK", gridCount: 3) { [1 - $0[0], 1 - $0[1], 1 - $0[2]] }.data
        let rgb = TableProfile(space: "RGB ", gridCount: 4) { $0 }.data
        let library = LCMSLibrary(name: "liblcms2.so.2")
        func apply(_ profile: Data, _ samples: ColorSamples) -> Bool {
            guard let transform = library.makeTransform(from: profile, for: samples) else { return false }
            var bytes = (0..<64).map { UInt8($0 * 4) }
            var span = bytes.mutableSpan
            var raw = span.mutableBytes
            transform.convert(&raw)
            return true
        }
        var appliedCount = 0
        for (profile, samples) in [
            (small, ColorSamples.cmyk8), (rgb, .rgba8), (rgb, .rgba16), (TableProfile.negative, .gray8),
        ] {
            #expect(apply(profile, samples))
            for cut in 0..<50 { _ = apply(profile.prefix(profile.count * cut / 50), samples) }
            for _ in 0..<250 {
                var changed = profile
                for _ in 0...Int(random.next() % 8) {
                    // Mostly where the structure is told.
                    let range = random.next() % 3 == 0 ? changed.count : min(changed.count, 220)
                    changed[Int(random.next() % UInt64(range))] = UInt8(truncatingIfNeeded: random.next())
                }
                if apply(changed, samples) { appliedCount += 1 }
            }
        }
        #expect(appliedCount > 0)
    }

    @Test("What is registered is what contexts get, until it is removed")
    func registration() {
        struct Declining: ColorConverting {
            func transform(from profile: Data, for samples: ColorSamples) -> (any ColorTransforming)? { nil }
        }
        let management = ColorManagement()
        #expect(management.converter == nil)
        management.register(Declining())
        management.register(.littleCMS)
        #expect(management.converter is LittleCMS)
        management.clear()
        #expect(management.converter == nil)
        // Other tests decode meanwhile: what is registered for all of them declines.
        ColorManagement.shared.register(Declining())
        #expect(ImageDecodingContext(request: ImageRequest(url: nil), data: Data()).colorConverter is Declining)
        ColorManagement.shared.clear()
        #expect(ImageDecodingContext(request: ImageRequest(url: nil), data: Data()).colorConverter == nil)
    }
}
