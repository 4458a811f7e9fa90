import FoundationEssentials
import NukeCore
import NukeDecodersHEIF
import NukeTestSupport
import Testing

@Suite("HEIF thumbnails", .needsLibrary, .timeLimit(.minutes(5)))
struct HEIFThumbnailTests {
    private static let red = [220, 30, 40]
    private static let green = [30, 180, 60]

    /// A red picture of 320×240 with a green thumbnail of 64×48 behind it, and perhaps a larger one.
    private func file(_ type: AssetType, turns: Int = 0, hasLarger: Bool = false) throws -> HEIFFile {
        let turn = turns == 0 ? [] : [HEIFFile.Box.rotation(turns)]
        var file = try CodedPicture(try Picture.flat(320, 240, Self.red), type).file(turn)
        let small = try CodedPicture(try Picture.flat(64, 48, Self.green), type)
        file.references = [("thmb", file.add(small.item(turn)), [1])]
        if hasLarger {
            let larger = try CodedPicture(try Picture.flat(128, 96, Self.green), type)
            file.references.append(("thmb", file.add(larger.item(turn)), [1]))
        }
        return file
    }

    private func options(_ side: Double, ifAbsent: Bool = true) -> ImageRequest.ThumbnailOptions {
        var options = ImageRequest.ThumbnailOptions(maxPixelSize: side)
        options.createThumbnailFromImageAlways = false
        options.createThumbnailFromImageIfAbsent = ifAbsent
        return options
    }

    @Test("The embedded one is taken where that is asked for, and never enlarged", arguments: HEIFUnderTest.types)
    func embedded(_ type: AssetType) throws {
        let data = try file(type).data
        #expect(try HEIFUnderTest.properties(data).hasEmbeddedThumbnail)
        let whole = try HEIFUnderTest.container(data) { $0.request.thumbnail = .init(maxPixelSize: 32) }.image
        #expect(whole.isNear(Self.red, 16, 12) && whole.size == ImageSize(width: 32, height: 24))
        for ifAbsent in [true, false] {
            let options = options(32, ifAbsent: ifAbsent)
            let small = try HEIFUnderTest.container(data) { $0.request.thumbnail = options }.image
            #expect(small.isNear(Self.green, 16, 12) && small.size == ImageSize(width: 32, height: 24))
        }
        let large = try HEIFUnderTest.container(data) { $0.request.thumbnail = options(200) }.image
        #expect(large.isNear(Self.green, 16, 12) && large.size == ImageSize(width: 64, height: 48))
    }

    @Test("Of several the largest is taken, and each is turned by its own properties, once")
    func largest() throws {
        let data = try file(.avif, turns: 1, hasLarger: true).data
        let image = try HEIFUnderTest.container(data) { $0.request.thumbnail = options(400) }.image
        #expect(image.size == ImageSize(width: 96, height: 128) && image.isNear(Self.green, 48, 64))
        #expect(try HEIFUnderTest.properties(data).size == ImageSize(width: 240, height: 320))
    }

    @Test("Where none is there or it is damaged, the picture serves, unless that is not wanted either")
    func absent() throws {
        let plain = try CodedPicture(try Picture.flat(64, 64, Self.red), .avif).file().data
        var damaged = try file(.avif)
        damaged.items[1].data = [UInt8](repeating: 0xFF, count: damaged.items[1].data.count)
        for data in [plain, damaged.data] {
            let image = try HEIFUnderTest.container(data) { $0.request.thumbnail = options(32) }.image
            #expect(image.isNear(Self.red, 12, 12))
            let error = HEIFUnderTest.error(data) { $0.request.thumbnail = options(32, ifAbsent: false) }
            #expect(error?.code == .unsupported)
        }
    }

    @Test("As a preview it is asked for by its range, and shown before the picture is there")
    func preview() throws {
        for type in HEIFUnderTest.types {
            let file = try file(type, turns: 3)
            let data = file.data
            let thumbnail = data.count - file.items[1].data.count..<data.count
            #expect(ImageFormat.heic.previewPolicy(data.prefix(200)) == .disabled)
            let head = data.prefix(thumbnail.lowerBound - file.items[0].data.count)
            #expect(ImageFormat.heic.previewPolicy(head) == .thumbnail)
            let decoder = ImageDecoders.HEIF(context: HEIFUnderTest.context(data) { $0.previewPolicy = .thumbnail })
            #expect(try decoder.decodePartiallyDownloadedData(data.prefix(40)) == nil)
            let error = #expect(throws: ImageDecodingError.self) { try decoder.decodePartiallyDownloadedData(head) }
            #expect(error?.code == .needsRange && error?.neededRange == thumbnail)
            // In between are zeros, as the pipeline has it.
            let sparse = head + Data(count: file.items[0].data.count) + data.suffix(thumbnail.count)
            let preview = try #require(try decoder.decodePartiallyDownloadedData(sparse))
            #expect(preview.isPreview && preview.originalSize == ImageSize(width: 240, height: 320))
            #expect(preview.image.size == ImageSize(width: 48, height: 64) && preview.image.isNear(Self.green, 20, 20))
            #expect(try decoder.decode(data).image.isNear(Self.red, 20, 20))
        }
    }

    @Test("Without the policy, or without a thumbnail, there is no preview")
    func noPreview() throws {
        let data = try file(.avif).data
        let decoder = ImageDecoders.HEIF(context: HEIFUnderTest.context(data) { $0.previewPolicy = .incremental })
        #expect(try decoder.decodePartiallyDownloadedData(data.dropLast()) == nil)
        let plain = try CodedPicture(try Picture.flat(64, 64, Self.red), .avif).file().data
        let other = ImageDecoders.HEIF(context: HEIFUnderTest.context(plain) { $0.previewPolicy = .thumbnail })
        #expect(try other.decodePartiallyDownloadedData(plain.dropLast()) == nil)
        #expect(ImageFormat.avif.previewPolicy(plain) == .disabled)
    }
}
