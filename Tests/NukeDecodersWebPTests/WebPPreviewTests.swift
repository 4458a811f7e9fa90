import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import NukeTestSupport
import Testing

/// Previews while bytes arrive, and the final image that follows them.
@Suite("WebP previews", .needsLibrary, .timeLimit(.minutes(5)))
struct WebPPreviewTests {
    private func previews(
        _ decoder: ImageDecoders.WebP, _ data: Data, step: Int
    ) throws -> [ImageContainer] {
        try stride(from: step, to: data.count, by: step).compactMap { count in
            // Each time in other memory, as a growing buffer may be.
            try decoder.decodePartiallyDownloadedData(Data([UInt8](data.prefix(count))))
        }
    }

    private func decoder(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecoders.WebP {
        ImageDecoders.WebP(context: WebPUnderTest.context(data, configure))
    }

    @Test(
        "Previews show more rows each time, with the pixels of the final image, which is that of a decode without",
        arguments: ["gen-lossy", "gen-lossy-alpha", "gen-lossy-alphalossy", "gen-lossless", "gen-lossless-alpha"],
        [1, 50, 700])
    func rows(name: String, step: Int) throws {
        let data = try Fixture.data("webp/\(name).webp")
        let whole = try WebPUnderTest.decode(data).image
        let decoder = decoder(data)
        let shown = try previews(decoder, data, step: step)
        #expect(step == 700 || shown.count >= 3, "\(shown.count) previews")
        #expect(shown.count <= 8)
        var rowsBefore = 0
        for container in shown {
            #expect(container.isPreview && container.type == .webp && container.image.size == whole.size)
            let bytes = container.image.byteArray
            let rows = (0..<whole.height).last { y in
                bytes[y * whole.bytesPerRow..<(y + 1) * whole.bytesPerRow].contains { $0 != 0 }
            }
            let count = (rows ?? -1) + 1
            #expect(count >= rowsBefore + whole.height / 8)
            #expect(bytes.prefix(count * whole.bytesPerRow) == whole.byteArray.prefix(count * whole.bytesPerRow))
            #expect(container.image.isOpaque == (count == whole.height && whole.isOpaque))
            rowsBefore = count
        }
        let container = try decoder.decode(data)
        #expect(container.image.byteArray == whole.byteArray && !container.isPreview)
        #expect(container.image.isOpaque == whole.isOpaque)
        #expect(try decoder.decodePartiallyDownloadedData(data) == nil)
        #expect(try decoder.decode(data).image.byteArray == whole.byteArray)
    }

    @Test("The final decode goes on where previews ended: it does not read again what they read")
    func reuse() throws {
        let data = try Picture.encode(Picture.photo(width: 200, height: 400), quality: 0.9)
        let whole = try WebPUnderTest.decode(data).image
        let decoder = decoder(data)
        #expect(try !previews(decoder, data, step: data.count * 3 / 4).isEmpty)
        // What has been read may be anything by now, but for what the library keeps in place: the modes and the header.
        let (start, end) = (data.count / 2, data.count * 5 / 8)
        let rest = data.prefix(start) + Data(count: end - start) + data.dropFirst(end)
        #expect(try decoder.decode(rest).image.byteArray == whole.byteArray)
        #expect(try WebPUnderTest.decode(rest).image.byteArray != whole.byteArray)
    }

    @Test("Data that is not what previews were made of is decoded for itself, or fails; nothing is read beyond it")
    func otherData() throws {
        let (lossy, lossless) = (try Fixture.data("webp/gen-lossy.webp"), try Fixture.data("webp/gen-lossless.webp"))
        let whole = try WebPUnderTest.decode(lossless).image.byteArray
        let first = decoder(lossy)
        _ = try previews(first, lossy, step: 300)
        #expect(try first.decode(lossless).image.byteArray == whole)
        let second = decoder(lossy)
        _ = try previews(second, lossy, step: 300)
        #expect(throws: ImageDecodingError.self) { try second.decode(lossy.prefix(100)) }
    }

    @Test("Two threads that call one decoder wait for each other [row 163]")
    func threads() async throws {
        let data = try Picture.encode(Picture.photo(width: 150, height: 300))
        let whole = try WebPUnderTest.decode(data).image.byteArray
        let decoder = decoder(data)
        let threads = CodecThreads(name: "webp-test", count: 4)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    await threads.run {
                        for count in stride(from: 100 + number, to: data.count, by: data.count / 40) {
                            // A call that brings less than one before it fails, or shows nothing new; both are sound.
                            let preview = try? decoder.decodePartiallyDownloadedData(data.prefix(count))
                            if let preview { #expect(preview.isPreview) }
                        }
                    }
                }
            }
        }
        #expect(try decoder.decode(data).image.byteArray == whole)
    }

    @Test("Where the file says that it has EXIF data there is no preview before that, so none that is turned later")
    func exif() throws {
        var file = try WebPFile(fixture: "gen-lossless.webp")
        file.extend(width: 135, height: 90, flags: 0)
        let plain = file.data
        #expect(try !previews(decoder(plain), plain, step: 100).isEmpty)
        file.add(exif: WebPFile.exif(.right))
        let late = file.data
        #expect(try previews(decoder(late), late, step: 100).isEmpty)
        let chunks = file.chunks
        let early = WebPFile([chunks[0], chunks[2], chunks[1]]).data
        let shown = try previews(decoder(early), early, step: 100)
        #expect(!shown.isEmpty && shown.allSatisfy { $0.image.width == 90 && $0.image.height == 135 })
    }

    @Test("Previews have the hinted size and the scale of the final image")
    func reduced() throws {
        let data = try Picture.encode(Picture.photo(width: 320, height: 240), quality: 0.9)
        let decoder = decoder(data) {
            $0.request.thumbnail = .init(maxPixelSize: 40)
            $0.request.scale = 2
        }
        let shown = try previews(decoder, data, step: 500)
        #expect(shown.count >= 3)
        #expect(shown.allSatisfy { $0.image.width == 40 && $0.image.height == 30 && $0.image.scale == 2 })
        #expect(shown.allSatisfy { $0.originalSize == ImageSize(width: 320, height: 240) })
        let whole = try WebPUnderTest.decode(data) { $0.request.thumbnail = .init(maxPixelSize: 40) }
        #expect(try decoder.decode(data).image.byteArray == whole.image.byteArray)
    }

    @Test("An animation shows its first frame once it is there, and its frames only at the end")
    func animation() throws {
        let data = try Fixture.data("webp/gen-anim-offsets.webp")
        let decoder = decoder(data)
        let shown = try previews(decoder, data, step: 64)
        let container = try decoder.decode(data)
        #expect(shown.count == 1 && shown[0].isPreview && shown[0].animation == nil)
        #expect(shown[0].image.byteArray == container.image.byteArray && container.animation?.frameCount == 6)
    }

    @Test(
        "There are no previews where they are not wanted",
        arguments: [ImagePipeline.PreviewPolicy.disabled, .thumbnail])
    func unwanted(_ policy: ImagePipeline.PreviewPolicy) throws {
        let data = try Fixture.data("webp/gen-lossless.webp")
        #expect(try previews(decoder(data) { $0.previewPolicy = policy }, data, step: 500).isEmpty)
        #expect(ImageFormat.webp.previewPolicy(data) == .incremental)
    }

    @Test("Damaged data throws once, then there are no more previews")
    func damaged() throws {
        var file = try WebPFile(fixture: "gen-lossless.webp")
        file.extend(width: 134, height: 90, flags: 0)
        let data = file.data
        let decoder = decoder(data)
        #expect(throws: ImageDecodingError.self) { try previews(decoder, data, step: 500) }
        #expect(try previews(decoder, data, step: 500).isEmpty)
        #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
    }
}
