import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeSVG

@Suite("SVG without librsvg", .timeLimit(.minutes(5)))
struct SVGMissingLibraryTests {
    private static let names = [
        "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgio-2.0.so.0", "libcairo.so.2", "librsvg-2.so.2",
    ]

    private func error(_ library: SVGLibrary) throws -> ImageDecodingError? {
        let data = SVGUnderTest.document()
        let decoder: any ImageDecoding = try #require(
            ImageDecoders.SVG(
                context: SVGUnderTest.context(data), options: .init(), library: library, threads: .shared))
        #expect(try decoder.properties(of: data)?.width == 40)
        return #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
    }

    /// Where the system has a library; nil if it has not.
    private func path(_ name: String) -> String? {
        ["/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/"].map { $0 + name }
            .first { FileManager.default.fileExists(atPath: $0) }
    }

    @Test("Without a library decoding names the package to install, and compressed files still count as SVG")
    func notInstalled() throws {
        let folder = try TemporaryFolder()
        let library = SVGLibrary(folder: folder.path)
        let error = try error(library)
        #expect(error?.code == .missingCodec && error?.codec == "SVG")
        #expect(error?.reason == "GLib is not installed; install the package librsvg2-2")
        let compressed = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
        #expect(SVGSniffer.answer(for: compressed, isComplete: true, library: library) == .yes)
    }

    @Test("Each library that is missing is told by its name", .needsLibrary)
    func others() throws {
        let folder = try TemporaryFolder()
        let expected = [
            "libcairo.so.2": "cairo is not installed; install the package libcairo2",
            "librsvg-2.so.2": "librsvg is not installed; install the package librsvg2-2",
        ]
        for name in Self.names {
            if let words = expected[name] { #expect(try error(SVGLibrary(folder: folder.path))?.reason == words) }
            let path = try #require(self.path(name))
            try FileManager.default.createSymbolicLink(atPath: folder.file(name), withDestinationPath: path)
        }
        #expect(SVGLibrary(folder: folder.path).defect == nil)
    }

    @Test("A library that is another one is not used", .needsLibrary)
    func unfit() throws {
        let folder = try TemporaryFolder()
        let other = try #require(path("libc.so.6") ?? path("libz.so.1"))
        try FileManager.default.createSymbolicLink(atPath: folder.file(Self.names[0]), withDestinationPath: other)
        #expect(try error(SVGLibrary(folder: folder.path))?.reason.contains("update the package librsvg2-2") == true)
    }
}
