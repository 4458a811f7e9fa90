import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

@testable import NukeCLI

/// `nuke load --keep-metadata`, and which formats can be named.
@Suite("nuke load --keep-metadata and --format", .timeLimit(.minutes(2)))
struct KeepMetadataTests {
    let nuke: CommandLineProgram

    init() throws { nuke = try CommandLineProgram() }

    private func container(_ name: String) throws -> ImageContainer {
        NukeKit.install()
        let data = try nuke.folder.data(name)
        let request = ImageRequest(url: nil, options: [.preserveMetadata])
        let context = ImageDecodingContext(request: request, data: data)
        return try #require(ImageDecoderRegistry.shared.decoder(for: context)).decode(data)
    }

    @Test(
        "EXIF data is kept, upright, in every format that holds it, through a resize",
        arguments: ["jpg", "png", "webp"])
    func exif(fileExtension: String) async throws {
        try nuke.add("jpeg/gen-o6.jpg", as: "a.jpg")
        let name = "out.\(fileExtension)"
        let outcome = try await nuke.run("load", "a.jpg", "--keep-metadata", "--resize", "20", "-o", name)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let written = try container(name)
        #expect(written.image.width == 20 && written.image.height == 36)
        let original = try #require(ImageMetadata(exif: try exifData(of: Fixture.data("jpeg/gen-o6.jpg"))))
        #expect(written.metadata == original)
        let info = try await nuke.run("info", name, "--json").objects()[0]
        #expect(info["orientation"] == .number(1))
        // Not without being asked for.
        #expect(try await nuke.run("load", "a.jpg", "-o", "plain-\(name)").status == 0)
        #expect(try container("plain-\(name)").metadata == nil)
    }

    /// What stands behind the header of the first EXIF segment.
    private func exifData(of jpeg: Data) throws -> Data {
        let start = try #require(jpeg.firstRange(of: Data("Exif\0\0".utf8)))
        let length = Int(jpeg[start.lowerBound - 2]) << 8 | Int(jpeg[start.lowerBound - 1])
        return jpeg[start.upperBound..<start.lowerBound - 2 + length]
    }

    @Test("the colour profile is kept with the colours that go with it")
    func profile() async throws {
        try nuke.add("jpeg/gen-icc-p3.jpg", as: "a.jpg")
        #expect(try await nuke.run("load", "a.jpg", "--keep-metadata", "-o", "kept.png").status == 0)
        let profile = try #require(try container("a.jpg").image.colorSpace.iccProfile)
        let kept = try container("kept.png")
        #expect(kept.image.colorSpace.iccProfile == profile)
        let stored = PixelStatistics(try container("a.jpg").image).mean
        #expect(PixelStatistics(kept.image).mean == stored)
        // Else colours are brought to sRGB, and there is no profile.
        #expect(try await nuke.run("load", "a.jpg", "-o", "plain.png").status == 0)
        let plain = try container("plain.png")
        #expect(plain.image.colorSpace == .sRGB && PixelStatistics(plain.image).mean != stored)
    }

    @Test("formats go by their names and their file extensions, in any letter case")
    func names() async throws {
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        NukeKit.install()
        let formats = ImageDecoderRegistry.shared.formats.filter {
            $0.capabilities.contains(.encode) && $0.missingLibrary() == nil
        }
        #expect(formats.count >= 3)
        for format in formats {
            for name in [format.name] + format.fileExtensions {
                #expect(try await nuke.run("load", "a.jpg", "--format", name, "-o", "n", "--force").status == 0)
                #expect(AssetType(try nuke.folder.data("n")) == format.type, "--format \(name)")
            }
            let file = "out.\(format.fileExtensions[0].uppercased())"
            #expect(try await nuke.run("load", "a.jpg", "-o", file, "--force").status == 0)
            #expect(AssetType(try nuke.folder.data(file)) == format.type, "-o \(file)")
        }
    }

    @Test("a format that is only read can't be named, nor be that of the file's name")
    func readOnly() async throws {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        registry.register(
            ImageFormat(
                name: "Read", type: "org.example.read", mimeTypes: [], fileExtensions: ["read"], capabilities: .decode,
                sniff: { _ in .no }))
        func message(_ words: String...) -> String? {
            do throws(UsageError) {
                _ = try LoadOptions(Arguments(["load", "a.jpg"] + words), registry: registry)
                return nil
            } catch {
                return error.message
            }
        }
        #expect(message("--format", "read") == "--format read: formats that can be written are jpeg")
        #expect(message("-o", "a.read")?.contains("Read can be read only") == true)
        #expect(message("-o", "a.read", "--format", "jpeg") == nil)
        try nuke.add("jpeg/gen-420.jpg", as: "a.jpg")
        let named = try await nuke.run("load", "a.jpg", "--format", "bmp")
        #expect(named.status == 2 && named.errors.contains("formats that can be written are jpeg, png, gif, webp"))
    }
}
