import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersHEIF

/// What is told where libheif is not there, or not all of it.
@Suite("HEIF without libheif", .timeLimit(.minutes(5)))
struct HEIFMissingLibraryTests {
    private func context(_ data: Data) -> ImageDecodingContext {
        ImageDecodingContext(request: ImageRequest(url: nil), data: data)
    }

    private func decodingError(_ library: HEIFLibrary, _ data: Data) -> ImageDecodingError? {
        #expect(throws: ImageDecodingError.self) {
            try ImageDecoders.HEIF(context: context(data), library: library).decode(data)
        }
    }

    private func encodingError(_ library: HEIFLibrary, _ type: AssetType) throws -> ImageEncodingError? {
        let image = try Picture.flat(8, 8, [1, 2, 3])
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        let encoder = ImageEncoders.HEIF(type: type, library: library)
        #expect(encoder.encode(image) == nil)
        return #expect(throws: ImageEncodingError.self) {
            try encoder.encodedData(for: ImageContainer(image: image), context: context)
        }
    }

    @Test("Without the library decoding and encoding name the package to install", .needsLibrary)
    func notInstalled() throws {
        let library = HEIFLibrary(name: "libheif-that-is-not-there.so.1")
        #expect(library.version == nil)
        for (type, codec) in [(AssetType.heic, "HEIC"), (.avif, "AVIF")] {
            let data = try HEIFUnderTest.encoded(try Picture.gradient(16, 16), type)
            let error = decodingError(library, data)
            #expect(error?.code == .missingCodec && error?.codec == codec)
            #expect(error?.reason == "libheif is not installed; install the package libheif1")
            #expect(throws: ImageDecodingError.missingCodec("", codec: codec)) {
                try ImageDecoders.HEIF(context: context(data), library: library).properties(of: data)
            }
            let encoding = try encodingError(library, type)
            #expect(encoding?.code == .missingCodec && encoding?.reason.contains("libheif1") == true)
        }
    }

    @Test("A library that lacks functions is too old", .needsLibrary)
    func tooOld() throws {
        // Some library that is there wherever this runs, and is not libheif.
        let library = HEIFLibrary(name: "libc.so.6")
        let error = decodingError(library, try HEIFUnderTest.encoded(try Picture.gradient(16, 16), .avif))
        #expect(error?.code == .missingCodec && error?.reason.contains("update the package libheif1") == true)
    }

    private static let compiler = ["/usr/bin/clang", "/opt/swift/usr/bin/clang", "/usr/bin/cc", "/usr/bin/gcc"].first {
        FileManager.default.fileExists(atPath: $0)
    }

    /// A library that is libheif, but for the functions defined in `code`.
    private func library(_ code: String, in folder: TemporaryFolder) async throws -> HEIFLibrary {
        let compiler = try #require(Self.compiler)
        let (source, path) = (folder.file("stub.c"), folder.file("libheif-stub.so"))
        try Data(code.utf8).write(to: URL(filePath: source))
        let built = try await ChildProcess.run(
            compiler, ["-shared", "-fPIC", "-o", path, source, "-Wl,--no-as-needed", "-l:libheif.so.1"])
        try #require(built.status == 0, "\(built.errors)")
        return HEIFLibrary(name: path)
    }

    @Test(
        "A libheif without a codec names the package that brings it, and decodes what it can", .needsLibrary,
        .enabled(if: compiler != nil, "there is no compiler"), arguments: [("1.15.1", false), ("1.19.8", true)])
    func noCodec(_ version: String, _ hasPluginPackages: Bool) async throws {
        let folder = try TemporaryFolder()
        // 1: HEVC.
        let library = try await library(
            """
            const char *heif_get_version(void) { return "\(version)"; }
            int heif_have_decoder_for_format(int format) { return format != 1; }
            int heif_have_encoder_for_format(int format) { return 0; }
            """, in: folder)
        let heic = try HEIFUnderTest.encoded(try Picture.gradient(16, 16), .heic)
        let error = decodingError(library, heic)
        #expect(error?.code == .missingCodec && error?.codec == "HEIC")
        let decoder = hasPluginPackages ? "libheif-plugin-libde265" : "libheif1"
        #expect(error?.reason == "libheif \(version) has no HEVC decoder; install the package \(decoder)")
        // What the container tells needs no codec.
        let properties = try ImageDecoders.HEIF(context: context(heic), library: library).properties(of: heic)
        #expect(properties?.width == 16)
        let avif = try HEIFUnderTest.encoded(try Picture.gradient(16, 16), .avif)
        #expect(try ImageDecoders.HEIF(context: context(avif), library: library).decode(avif).image.width == 16)
        for (type, plugin) in [(AssetType.heic, "libheif-plugin-x265"), (.avif, "libheif-plugin-aomenc")] {
            let error = try encodingError(library, type)
            #expect(error?.code == .missingCodec)
            #expect(error?.reason.hasSuffix(hasPluginPackages ? plugin : "libheif1") == true)
        }
    }

    @Test("A libheif without an AV1 decoder says so of AVIF", .needsLibrary, .enabled(if: compiler != nil))
    func noAV1() async throws {
        let folder = try TemporaryFolder()
        let library = try await library(
            "int heif_have_decoder_for_format(int format) { return format != 4; }", in: folder)
        let error = decodingError(library, try HEIFUnderTest.encoded(try Picture.gradient(16, 16), .avif))
        #expect(error?.code == .missingCodec && error?.codec == "AVIF")
        #expect(error?.reason.contains("has no AV1 decoder") == true)
    }
}

@Suite(
    "HEIF where the package was built without libheif",
    .disabled(if: HEIFLibrary.shared.version != nil, "libheif is there"), .timeLimit(.minutes(5)))
struct HEIFNoLibraryTests {
    @Test("Decoding tells which package to install")
    func decoding() {
        let data = Data(Bytes.big(16, 4) + Array("ftypheic".utf8) + [0, 0, 0, 0])
        let error = HEIFUnderTest.error(data)
        #expect(error?.code == .missingCodec && error?.reason.contains("libheif") == true)
    }
}
