import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@testable import NukeColorManagement

@Suite("JPEG with managed colours", .needsLibrary, .timeLimit(.minutes(5)))
struct ManagedJPEGTests {
    /// What the manifest expects of the files of CMYK, by the plain formula.
    private static let mean = [74.2, 38.8, 81.4, 255]

    private func fixture(_ name: String) throws -> Data { try File.read(Fixture.folder + "/jpeg/" + name) }

    /// The file with another segment at its beginning.
    private func adding(_ marker: UInt8, _ content: Data, to file: Data) -> Data {
        let count = content.count + 2
        return file.prefix(2) + Data([0xFF, marker, UInt8(count >> 8), UInt8(count & 255)]) + content
            + file.dropFirst(2)
    }

    private func adding(profile: Data, to file: Data) -> Data {
        adding(0xE2, Data("ICC_PROFILE\0".utf8) + Data([1, 1]) + profile, to: file)
    }

    private func decoded(
        _ data: Data, by converter: (any ColorConverting)? = .littleCMS, request: ImageRequest = ImageRequest(url: nil)
    ) throws -> ImageContainer {
        var context = ImageDecodingContext(request: request, data: data)
        context.colorConverter = converter
        var container = try ImageDecoders.JPEG(context: context).decode(data)
        container.convertToSRGB(for: request, by: converter)
        return container
    }

    private func conversion(_ container: ImageContainer) -> ImageContainer.ColorConversion? {
        container.userInfo[.colorConversionKey] as? ImageContainer.ColorConversion
    }

    private func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test(
        "CMYK and YCCK go by the embedded profile, and the container says so",
        arguments: ["gen-cmyk-adobe.jpg", "gen-cmyk-noadobe.jpg", "gen-ycck-adobe.jpg"])
    func inks(_ name: String) throws {
        let file = try fixture(name)
        let plain = try decoded(adding(profile: TableProfile.plainInks, to: file))
        #expect(conversion(plain) == .managedCMYK && plain.image.colorSpace == .sRGB && plain.image.isOpaque)
        let seen = PixelStatistics(plain.image).mean
        #expect(isNear(seen, Self.mean, 2.5), "\(seen)")
        let swapped = PixelStatistics(try decoded(adding(profile: TableProfile.swappedInks, to: file)).image).mean
        #expect(isNear(swapped, [Self.mean[2], Self.mean[1], Self.mean[0], 255], 2.5), "\(swapped)")
    }

    @Test("Turned and reduced pictures of CMYK have the same colours")
    func turnedAndReduced() throws {
        let file = adding(profile: TableProfile.swappedInks, to: try fixture("gen-cmyk-adobe.jpg"))
        let upright = try decoded(file)
        // A TIFF structure with nothing but the orientation 6.
        let tiff = Data("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{6}\0\0\0\0\0\0".utf8)
        let turned = try decoded(adding(0xE1, Data("Exif\0\0".utf8) + tiff, to: file))
        #expect((turned.image.width, turned.image.height) == (upright.image.height, upright.image.width))
        #expect(isNear(PixelStatistics(turned.image).mean, PixelStatistics(upright.image).mean, 0.01))
        var request = ImageRequest(url: nil)
        request.thumbnail = ImageRequest.ThumbnailOptions(maxPixelSize: 12)
        let small = try decoded(file, request: request)
        #expect(max(small.image.width, small.image.height) == 12 && conversion(small) == .managedCMYK)
        #expect(isNear(PixelStatistics(small.image).mean, PixelStatistics(upright.image).mean, 4))
    }

    @Test("Without a profile, with one for RGB, a damaged one or no library, CMYK goes by the plain formula")
    func plain() throws {
        let file = try fixture("gen-cmyk-adobe.jpg")
        let expected = PixelStatistics(try decoded(file, by: nil).image).mean
        var damaged = TableProfile.swappedInks
        damaged.replaceSubrange(144..<148, with: Data("oops".utf8))
        let missing = LittleCMS(name: "liblcms2-that-is-not-there.so.2")
        let swapped = adding(profile: TableProfile.swappedInks, to: file)
        for (data, converter) in [
            (file, LittleCMS.littleCMS), (adding(profile: TableProfile.rotated, to: file), .littleCMS),
            (adding(profile: damaged, to: file), .littleCMS), (swapped, missing),
        ] {
            let container = try decoded(data, by: converter)
            #expect(conversion(container) == .plainCMYK && PixelStatistics(container.image).mean == expected)
        }
        #expect(conversion(try decoded(swapped, by: nil)) == .plainCMYK)
    }

    @Test(
        "Pictures of the corpus with profiles have the means in sRGB that the manifest has",
        .enabled(if: Fixture.corpus != nil))
    func corpus() throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter {
            $0.path.hasPrefix("jpeg/") && $0.expected.meanSRGB != nil
        }
        #expect(entries.count >= 20)
        for entry in entries {
            guard let mean = entry.expected.meanSRGB else { continue }
            let container = try decoded(try File.read(folder + "/" + entry.path))
            #expect(container.image.colorSpace == .sRGB, "\(entry.path)")
            let seen = PixelStatistics(container.image).mean
            #expect(isNear(seen, mean, entry.expected.meanTolerance ?? 1), "\(entry.path): \(seen), expected \(mean)")
        }
    }
}
