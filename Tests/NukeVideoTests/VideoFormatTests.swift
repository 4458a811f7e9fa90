import FoundationEssentials
import NukeCore
import NukeTestSupport
import NukeVideo
import Testing

@Suite("Video formats", .timeLimit(.minutes(5)))
struct VideoFormatTests {
    private let registry: ImageDecoderRegistry = {
        let registry = ImageDecoderRegistry()
        registry.register(.mp4, .m4v, .mov, .webm, .mkv)
        return registry
    }()

    private func file(_ box: String, _ brand: String) -> Data {
        Data([0, 0, 0, 24] + box.utf8 + brand.utf8) + Data(count: 64)
    }

    @Test(
        "[VID-01] data that is sniffed as a video has a decoder, and its type",
        arguments: [
            ("isom", "MP4"), ("mp42", "MP4"), ("avc1", "MP4"), ("3gp5", "MP4"), ("M4A ", "MP4"), ("M4V ", "M4V"),
            ("qt  ", "QuickTime"),
        ])
    func brands(_ brand: String, _ name: String) {
        let data = file("ftyp", brand)
        #expect(registry.format(of: data)?.name == name)
        #expect(ImageDecoders.Video(context: VideoUnderTest.context(data)) != nil)
    }

    @Test(
        "[VID-01] other data is declined",
        arguments: ["heic", "avif", "avis", "hevc", "mif1", "msf1", "jp2 ", "xxxx"])
    func others(_ brand: String) {
        let data = file("ftyp", brand)
        #expect(registry.format(of: data) == nil)
        #expect(ImageDecoders.Video(context: VideoUnderTest.context(data)) == nil)
        #expect(ImageDecoders.Video(context: VideoUnderTest.context(Data("GIF89a".utf8))) == nil)
        #expect(ImageDecoders.Video(context: VideoUnderTest.context(Data())) == nil)
    }

    @Test("QuickTime files without a file type, WebM and Matroska are told by what they begin with")
    func beginnings() throws {
        for box in ["moov", "mdat", "wide"] { #expect(registry.format(of: file(box, "    "))?.name == "QuickTime") }
        #expect(registry.format(of: file("free", "    ")) == nil)
        #expect(registry.format(of: try VideoUnderTest.data("gen-vp9.webm"))?.name == "WebM")
        #expect(registry.format(of: try VideoUnderTest.data("gen-h264.mkv"))?.name == "Matroska")
    }

    @Test("The formats tell their names and what they can do; decoders alone are there")
    func description() {
        for format in VideoUnderTest.formats {
            #expect(format.capabilities == [.decode, .scaledDecode, .finishesEarly])
            #expect(format.makeEncoder == nil && format.type.decoderProduct == "NukeVideo")
        }
        #expect(ImageFormat.mp4.mimeTypes.first == "video/mp4" && ImageFormat.mkv.fileExtensions == ["mkv"])
        #expect(ImageFormat.webm.mimeTypes == ["video/webm"] && ImageFormat.mov.fileExtensions.first == "mov")
    }

    @Test("The formats tell the version that they were built with, and that nothing is missing", .needsLibrary)
    func version() {
        #expect(ImageFormat.mp4.libraryVersion()?.hasPrefix("libavformat ") == true)
        #expect(ImageFormat.mp4.missingLibrary() == nil)
    }
}
