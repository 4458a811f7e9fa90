import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import Testing

@Suite("GIF previews", .timeLimit(.minutes(5)))
struct GIFPreviewTests {
    private let file = GIFFile(40, 30, GIFFile.noise(40, 30).frames + [.init(40, 30, 2)])

    private func previews(
        of data: Data, policy: ImagePipeline.PreviewPolicy, step: Int = 16
    ) throws -> (previews: [ImageContainer], final: ImageContainer) {
        let decoder = ImageDecoders.GIF(context: Decoding.context(data) { $0.previewPolicy = policy })
        let previews = stride(from: step, to: data.count, by: step).compactMap {
            try? decoder.decodePartiallyDownloadedData(data.prefix($0))
        }
        return (previews, try decoder.decode(data))
    }

    @Test("there is one preview a session, without a scan number [PRG-32]", arguments: [16, 4000])
    func one(_ step: Int) throws {
        var file = GIFFile.noise(80, 60)
        file.frames.append(file.frames[0])
        for policy in [ImagePipeline.PreviewPolicy.incremental, .thumbnail] {
            let (previews, final) = try previews(of: file.data, policy: policy, step: step)
            #expect(previews.count == 1)
            let preview = try #require(previews.first)
            #expect(preview.isPreview && preview.type == .gif)
            #expect(preview.userInfo[.scanNumberKey] == nil)
            #expect((preview.image.width, preview.image.height) == (80, 60))
            #expect(!final.isPreview && final.data == file.data && final.image.isOpaque)
        }
    }

    @Test("there is none where previews are disabled [PRG-33] [row 155]")
    func none() throws {
        #expect(try previews(of: file.data, policy: .disabled).previews.isEmpty)
    }

    @Test("a preview of a part is not marked as cut short, whatever the policy")
    func unmarked() throws {
        let data = GIFFile.noise(80, 60).data
        for policy in [TruncationPolicy.strict, .lenient] {
            let decoder = ImageDecoders.GIF(context: Decoding.context(data) { $0.truncationPolicy = policy })
            let part = data.prefix(data.count * 3 / 4)
            let preview = try #require(try decoder.decodePartiallyDownloadedData(part))
            #expect(preview.isPreview && preview.userInfo.isEmpty)
            #expect(try decoder.decode(data).userInfo.isEmpty)
        }
    }

    @Test("the image after a preview is what it would be without")
    func final() throws {
        let data = GIFFile(4, 1, [.init(4, 1) { x, _ in UInt8(x) }] + (0..<9).map { _ in .init(4, 1, 1) }).data
        let (previews, final) = try previews(of: data, policy: .incremental)
        #expect(previews.map { Decoding.letters($0.image) } == [["rgbw"]])
        #expect(Decoding.letters(final.image) == ["rgbw"])
        #expect(previews.first?.data == nil)
    }
}
