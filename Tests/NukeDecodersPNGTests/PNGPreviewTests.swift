import FoundationEssentials
import NukeCore
import NukeDecodersPNG
import NukeTestSupport
import Testing

@Suite("PNG previews", .needsLibrary, .timeLimit(.minutes(5)))
struct PNGPreviewTests {
    /// Large enough for libpng's reading in pieces of 8 KB.
    private let picture = SamplePicture(width: 150, height: 130, colorType: 6, depth: 8, isInterlaced: true)

    private func previews(
        of data: Data, step: Int, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> [ImageContainer] {
        let decoder = ImageDecoders.PNG(context: Decoding.context(data, change))
        return stride(from: step, to: data.count, by: step).compactMap {
            try? decoder.decodePartiallyDownloadedData(data.prefix($0))
        }
    }

    @Test("an interlaced picture has a preview for each of its passes, and more of its pixels with each")
    func passes() throws {
        let data = PNGFile(picture, pieces: 200).data
        let previews = previews(of: data, step: 400)
        let scans = previews.compactMap { $0.userInfo[.scanNumberKey] as? Int }
        #expect(scans.count >= 4 && scans == scans.sorted() && Set(scans).count == scans.count)
        #expect(scans.allSatisfy { (1...6).contains($0) } && scans.last == 6)
        let steps = [(8, 8), (4, 8), (4, 4), (2, 4), (2, 2), (1, 2)]
        for preview in previews {
            #expect(preview.isPreview && preview.type == .png && preview.animation == nil)
            let image = preview.image
            #expect((image.width, image.height) == (150, 130))
            let (across, down) = steps[(preview.userInfo[.scanNumberKey] as? Int ?? 0) - 1]
            for (x, y) in [(0, 0), (1, 0), (7, 3), (8, 9), (77, 64), (149, 129), (102, 1)] {
                #expect(image.pixel(x, y) == picture.expected(x - x % across, y - y % down), "\(x), \(y)")
            }
        }
        #expect(try Decoding.image(data).byteArray == picture.expectedBytes)
    }

    @Test("one preview, where just one is asked for; none where they are disabled, or there are no passes [PRG-34]")
    func policies() {
        let data = PNGFile(picture, pieces: 200).data
        #expect(previews(of: data, step: 400) { $0.previewPolicy = .thumbnail }.count == 1)
        #expect(previews(of: data, step: 400) { $0.previewPolicy = .disabled }.isEmpty)
        let plain = PNGFile(picture.with { $0.isInterlaced = false }, pieces: 200).data
        #expect(previews(of: plain, step: 400).isEmpty)
        #expect(ImageFormat.png.previewPolicy(data) == .incremental)
        #expect(ImageFormat.png.previewPolicy(plain) == .disabled)
        #expect(ImageFormat.png.previewPolicy(data.prefix(20)) == .disabled)
    }

    @Test("previews are turned and reduced as the picture is")
    func turned() throws {
        let exif = PNGFile.Chunk(type: "eXIf", contents: ExifData(orientation: 6).bytes)
        let data = PNGFile(picture, before: [exif], pieces: 200).data
        let whole = previews(of: data, step: 2000)
        #expect(whole.allSatisfy { $0.image.width == 130 && $0.image.height == 150 } && !whole.isEmpty)
        let small = previews(of: data, step: 2000) { $0.request.thumbnail = .init(maxPixelSize: 15) }
        #expect(small.allSatisfy { $0.image.width == 13 && $0.image.height == 15 } && !small.isEmpty)
    }

    @Test("a picture cut short is an error, by policy what there is of it", arguments: [false, true])
    func lenient(_ isInterlaced: Bool) throws {
        let picture = picture.with { $0.isInterlaced = isInterlaced }
        let data = PNGFile(picture, pieces: 200).data
        let part = data.prefix(data.count / 2)
        #expect(Decoding.error(part)?.code == .truncated)
        let container = try Decoding.container(part) { $0.truncationPolicy = .lenient }
        #expect(container.userInfo[.isTruncatedKey] as? Bool == true && !container.image.isOpaque)
        #expect((container.image.width, container.image.height) == (150, 130))
        #expect(container.image.pixel(8, 8) == picture.expected(8, 8))
        #expect((container.image.pixel(9, 128)[3] == 0) == !isInterlaced || picture.expected(8, 128)[3] == 0)
        let whole = try Decoding.container(data) { $0.truncationPolicy = .lenient }
        #expect(whole.userInfo[.isTruncatedKey] == nil && whole.image.byteArray == picture.expectedBytes)
        #expect(Decoding.error(data.prefix(60)) { $0.truncationPolicy = .lenient }?.code == .truncated)
        // Where no row is lacking, an opaque picture stays one.
        let opaque = PNGFile(SamplePicture(width: 150, height: 130, colorType: 2, depth: 8, isInterlaced: isInterlaced))
        let half = try Decoding.container(opaque.data.prefix(opaque.data.count / 2)) { $0.truncationPolicy = .lenient }
        #expect(half.image.isOpaque == isInterlaced)
    }
}
