import FoundationEssentials
import NukeDecodersJPEG
import NukeTestSupport
import Testing

@testable import NukeCore

/// Each stored orientation is applied exactly once, on each path to pixels.
@Suite("JPEG orientation", .timeLimit(.minutes(5)))
struct JPEGOrientationTests {
    private func upright(_ orientation: Int) -> [String] { LetterPicture.upright[orientation - 1] }

    private func size(_ orientation: Int, side: Int = 1) -> ImageSize {
        orientation < 5
            ? ImageSize(width: 2 * side, height: 3 * side) : ImageSize(width: 3 * side, height: 2 * side)
    }

    private func pipeline() -> ImagePipeline {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        return ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = nil
        }
    }

    /// What a pipeline makes of a file: of a reduced decode, or of the whole if a processor that needs it comes first.
    private func load(
        _ data: Data, _ processor: any ImageProcessing, isHinted: Bool
    ) async throws -> Bitmap {
        let whole = ImageProcessors.Anonymous(id: "whole") { $0 }
        let processors = isHinted ? [processor] : [whole, processor]
        return try await pipeline().image(for: ImageRequest(id: "letters", data: { data }, processors: processors))
    }

    @Test("2x3 pixels are turned once when they are decoded whole [row 122] [row 127]", arguments: 1...8)
    func whole(_ orientation: Int) throws {
        let container = try JPEGUnderTest.decode(LetterPicture.file(side: 1, orientation: orientation))
        #expect(container.image.size == size(orientation))
        #expect(LetterPicture.letters(container.image, side: 1) == upright(orientation))
        #expect(container.userInfo.isEmpty)
    }

    @Test("They are turned once when they are decoded at an eighth of the size [row 122] [row 127]", arguments: 1...8)
    func hinted(_ orientation: Int) throws {
        let data = try LetterPicture.file(side: 8, orientation: orientation)
        var context = JPEGUnderTest.context(data)
        context.hintingProcessor = DecodeHint(size: ImageSize(width: 1, height: 1))
        let container = try ImageDecoders.JPEG(context: context).decode(data)
        #expect(container.image.size == size(orientation))
        #expect(container.originalSize == size(orientation, side: 8))
        #expect(LetterPicture.letters(container.image, side: 1) == upright(orientation))
    }

    @Test("They are turned once in a thumbnail made from the picture [row 122] [row 127]", arguments: 1...8)
    func thumbnail(_ orientation: Int) throws {
        let data = try LetterPicture.file(side: 16, orientation: orientation)
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg)
        // Small enough for a reduced decode, and too large for one.
        for side in [4, 12] {
            let options = ImageRequest.ThumbnailOptions(maxPixelSize: Double(3 * side))
            let image = try JPEGUnderTest.decode(data, thumbnail: options).image
            #expect(image.size == size(orientation, side: side))
            #expect(LetterPicture.letters(image, side: side) == upright(orientation))
            let made = try #require(options.makeThumbnail(with: data, registry: registry))
            #expect(LetterPicture.letters(made, side: side) == upright(orientation))
        }
    }

    @Test(
        "They are turned once in an embedded thumbnail, whatever that says itself [row 122] [row 127]", arguments: 1...8
    )
    func embedded(_ orientation: Int) throws {
        // The picture is none of the colours, so what is seen is the thumbnail.
        let gray = try Picture.make(width: 32, height: 48) { _, _ in [0.5, 0.5, 0.5, 1] }
        var options = ImageRequest.ThumbnailOptions(maxPixelSize: 100)
        options.createThumbnailFromImageAlways = false
        for own in [nil, 1, 3, 6] {
            var file = JPEGFile(try #require(ImageEncoders.JPEG().encode(gray)))
            let inner = try LetterPicture.file(side: 1, orientation: own)
            file.segments.insert(JPEGFile.exif(orientation: orientation, thumbnail: inner), at: 0)
            let container = try JPEGUnderTest.decode(file.data, thumbnail: options)
            #expect(container.image.size == size(orientation))
            #expect(LetterPicture.letters(container.image, side: 1) == upright(orientation))
            var context = JPEGUnderTest.context(file.data)
            context.previewPolicy = .thumbnail
            let decoder = ImageDecoders.JPEG(context: context)
            let preview = try #require(try decoder.decodePartiallyDownloadedData(file.data.dropLast(2)))
            #expect(LetterPicture.letters(preview.image, side: 1) == upright(orientation))
        }
    }

    @Test("They are turned once in previews [row 122] [row 127]", arguments: 1...8)
    func previews(_ orientation: Int) throws {
        let data = try LetterPicture.file(side: 32, orientation: orientation, isProgressive: true)
        let decoder = ImageDecoders.JPEG(context: JPEGUnderTest.context(data))
        var count = 0
        for end in stride(from: 10, to: data.count, by: 20) {
            guard let preview = try decoder.decodePartiallyDownloadedData(data.prefix(end)) else { continue }
            #expect(LetterPicture.letters(preview.image, side: 32) == upright(orientation))
            count += 1
        }
        #expect(count > 0)
        #expect(try LetterPicture.letters(decoder.decode(data).image, side: 32) == upright(orientation))
    }

    @Test("They are turned once by a pipeline that resizes them [row 122] [row 127]", arguments: 1...8)
    func resized(_ orientation: Int) async throws {
        let data = try LetterPicture.file(side: 32, orientation: orientation)
        let resize = ImageProcessors.Resize(size: size(orientation, side: 6), unit: .pixels, contentMode: .aspectFit)
        for isHinted in [true, false] {
            let image = try await load(data, resize, isHinted: isHinted)
            #expect(image.size == size(orientation, side: 6))
            #expect(LetterPicture.letters(image, side: 6) == upright(orientation), "hinted: \(isHinted)")
        }
    }

    @Test(
        "A crop takes the middle of what is seen, not of what is stored [row 127] [row 128]", arguments: 1...8,
        [true, false])
    func cropped(_ orientation: Int, isHinted: Bool) async throws {
        let data = try LetterPicture.file(side: 32, orientation: orientation)
        let rows = upright(orientation)
        // Of three rows the middle one, of three columns the middle one; at a quarter of the size.
        let expected = orientation < 5 ? [rows[1]] : rows.map { String(Array($0)[1]) }
        let target = orientation < 5 ? ImageSize(width: 16, height: 8) : ImageSize(width: 8, height: 16)
        let resize = ImageProcessors.Resize(size: target, unit: .pixels, crop: true)
        let image = try await load(data, resize, isHinted: isHinted)
        #expect(image.size == target)
        #expect(LetterPicture.letters(image, side: 8) == expected)
    }

    @Test(
        "Written again with its metadata, what was turned is not turned once more, and what was not still is [row 130]",
        arguments: 1...8, [true, false])
    func reencoded(_ orientation: Int, isTurned: Bool) throws {
        let data = try LetterPicture.file(side: 8, orientation: orientation)
        var context = JPEGUnderTest.context(data, thumbnail: .init(maxPixelSize: 24))
        context.request.options = [.preserveMetadata]
        context.request.thumbnail?.createThumbnailWithTransform = isTurned
        let container = try ImageDecoders.JPEG(context: context).decode(data)
        #expect(LetterPicture.letters(container.image, side: 8) == upright(isTurned ? orientation : 1))
        let encoder = ImageEncoders.JPEG(options: ImageEncodingOptions(quality: 1, chromaSubsampling: .none))
        let written = try encoder.encodedData(
            for: container, context: ImageEncodingContext(request: context.request, image: container.image))
        #expect(JPEGFile(written).segments.contains { $0.marker == JPEGFile.app1 })
        #expect(try JPEGUnderTest.properties(written)?.orientation.rawValue == (isTurned ? 1 : orientation))
        #expect(LetterPicture.letters(try JPEGUnderTest.decode(written).image, side: 8) == upright(orientation))
    }
}
