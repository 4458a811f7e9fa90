import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import Testing

@Suite("HEIF formats", .timeLimit(.minutes(5)))
struct HEIFFormatTests {
    private let registry: ImageDecoderRegistry = {
        let registry = ImageDecoderRegistry()
        registry.register(.heic, .avif)
        return registry
    }()

    /// A file type box of these brands, and something behind it.
    private func file(_ major: String, _ compatible: [String], padding: Int = 8) -> Data {
        let size = Bytes.big(16 + compatible.count * 4, 4)
        return Data(size + Array("ftyp\(major)".utf8) + [0, 0, 0, 0] + compatible.flatMap { Array($0.utf8) })
            + Data(count: padding)
    }

    @Test(
        "The major brand tells the format [row 182]",
        arguments: [
            ("heic", "HEIC"), ("heix", "HEIC"), ("heim", "HEIC"), ("heis", "HEIC"), ("hevc", "HEIC"), ("hevx", "HEIC"),
            ("avif", "AVIF"), ("avis", "AVIF"),
        ])
    func majorBrands(_ brand: String, _ name: String) {
        #expect(registry.format(of: file(brand, ["mif1", "miaf"]))?.name == name)
        #expect(registry.format(of: file(brand, []))?.name == name)
    }

    @Test(
        "Where the major brand names no coding, the first compatible brand that does tells it [row 182]",
        arguments: [
            ("mif1", ["mif1", "heic"], "HEIC"), ("mif1", ["miaf", "MA1B", "avif"], "AVIF"),
            ("msf1", ["mif1", "hevc", "iso8"], "HEIC"), ("msf1", ["avis", "msf1"], "AVIF"),
            ("miaf", ["mif1", "avif"], "AVIF"), ("mif1", ["mif1", "jpeg"], "HEIC"), ("xxxx", ["avif"], "AVIF"),
        ])
    func compatibleBrands(_ major: String, _ compatible: [String], _ name: String) {
        #expect(registry.format(of: file(major, compatible))?.name == name)
    }

    @Test(
        "Videos and unknown brands are neither, whatever they are compatible with [row 182]",
        arguments: [("mp42", ["mp42", "isom", "heic"]), ("isom", ["iso2", "avif"]), ("qt  ", []), ("jp2 ", ["jp2 "])])
    func others(_ major: String, _ compatible: [String]) {
        #expect(registry.format(of: file(major, compatible)) == nil)
    }

    @Test("Data that ends within the brands needs more, and is nothing once it is complete [AST-04]")
    func partialBrands() throws {
        let data = file("mif1", ["mif1", "miaf", "avif"])
        for count in 0...data.count {
            let context = ImageDecodingContext(
                request: ImageRequest(url: nil), data: data.prefix(count), isCompleted: false)
            #expect((registry.decoder(for: context) != nil) == (count >= 28), "\(count) bytes")
            // What the factory makes once it is known, it makes of the complete data too.
            #expect((registry.format(of: data.prefix(count)) != nil) == (count >= 28), "\(count) bytes")
        }
    }

    @Test("The formats tell their names and what they can do")
    func description() throws {
        #expect(ImageFormat.heic.type == .heic && ImageFormat.avif.type == .avif)
        #expect(ImageFormat.heic.mimeTypes.first == "image/heic" && ImageFormat.heic.mimeTypes.contains("image/heif"))
        #expect(ImageFormat.avif.mimeTypes.first == "image/avif")
        #expect(ImageFormat.heic.fileExtensions.prefix(2) == ["heic", "heif"])
        for format in [ImageFormat.heic, .avif] {
            #expect(format.capabilities == [.decode, .encode, .scaledDecode, .alpha])
            #expect(format.makeEncoder?(ImageEncodingOptions()) is ImageEncoders.HEIF)
        }
    }

    @Test("The formats tell the version that they were built with", .needsLibrary)
    func version() throws {
        let version = try #require(ImageFormat.avif.libraryVersion())
        #expect(version.hasPrefix("libheif 1.") && version.split(separator: ".").count == 3)
    }

    @Test("A decode that is not wanted any more, or has taken too long, ends", .needsLibrary)
    func ends() throws {
        let data = try HEIFUnderTest.encoded(try Picture.gradient(64, 64), .avif)
        #expect(HEIFUnderTest.error(data) { $0.cancellation.cancel() }?.code == .cancelled)
        #expect(HEIFUnderTest.error(data) { $0.limits.seconds = -1 }?.code == .limitExceeded)
    }
}
