import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeVideo

@Suite("Video without libav", .timeLimit(.minutes(5)))
struct VideoMissingLibraryTests {
    private func error(_ library: VideoLibrary) throws -> ImageDecodingError? {
        let data = try VideoUnderTest.data("gen-one-frame.mp4")
        let context = VideoUnderTest.context(data)
        let decoder = try #require(ImageDecoders.Video(context: context, library: library))
        #expect(throws: ImageDecodingError.missingCodec("", codec: "video")) { try decoder.properties(of: data) }
        return #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
    }

    @Test("Without a library decoding names the package to install", .needsLibrary)
    func notInstalled() throws {
        let folder = try TemporaryFolder()
        let library = VideoLibrary(folder: folder.path)
        let error = try error(library)
        #expect(error?.code == .missingCodec && error?.codec == "video")
        let words = try #require(error?.reason.split(separator: " "))
        // libavutil57 is not installed; install the package libavutil57
        #expect(words.first == words.last && words.first?.hasPrefix("libav") == true)
        #expect(error?.reason.contains("is not installed; install the package") == true)
    }

    @Test("A library that is another one is not used", .needsLibrary)
    func unfit() throws {
        let folder = try TemporaryFolder()
        let name = try #require(VideoLibrary(folder: folder.path).defect?.split(separator: " ").first)
        let digits = name.drop { !$0.isNumber }
        let path = folder.file("\(name.dropLast(digits.count)).so.\(digits)")
        let libc = try #require(
            ["/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6"].first {
                FileManager.default.fileExists(atPath: $0)
            })
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: libc)
        let error = try error(VideoLibrary(folder: folder.path))
        #expect(error?.code == .missingCodec && error?.reason.contains("update the package \(name)") == true)
    }

    @Test("A program that was built without libav says so", .disabled(if: VideoLibrary.headerVersion != nil))
    func withoutHeaders() throws {
        let error = try error(.shared)
        #expect(error?.code == .missingCodec && error?.reason.contains("libavformat-dev") == true)
    }
}
