import FoundationEssentials
import GeneratedImages
import NukeKit
import NukeTestSupport
import Testing

/// EXIF data from one format into another: asked for, upright, and otherwise left out.
@Suite("Metadata through formats", .timeLimit(.minutes(5)))
struct MetadataTests {
    /// Files that are turned by their EXIF data.
    private static let sources = ["jpeg/gen-o6.jpg", "png/gen-exif-o6.png", "webp/gen-exif-o6.webp"]
    /// Formats that hold EXIF data and are written.
    private static let targets: [ImageFormat] = [.jpeg, .png, .webp, .heic, .avif].filter {
        $0.missingLibrary() == nil
    }

    private let registry = ImageDecoderRegistry()

    init() { registry.registerMissing(Self.targets) }

    private func context(_ data: Data, _ options: ImageRequest.Options) -> ImageDecodingContext {
        ImageDecodingContext(request: ImageRequest(url: nil, options: options), data: data)
    }

    private func decode(_ data: Data, _ options: ImageRequest.Options = [.preserveMetadata]) throws -> ImageContainer {
        try #require(registry.decoder(for: context(data, options))).decode(data)
    }

    private func orientation(of data: Data) throws -> ImageOrientation? {
        try #require(registry.decoder(for: context(data, []))).properties(of: data)?.orientation
    }

    private func encode(_ container: ImageContainer, _ format: ImageFormat) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        let encoder = try #require(format.makeEncoder?(ImageEncodingOptions()))
        return try encoder.encodedData(for: container, context: context)
    }

    @Test("what one format holds comes back from another, and the picture is turned once [row 130]", arguments: sources)
    func roundTrip(source: String) throws {
        let data = try Fixture.data(source)
        #expect(try orientation(of: data) == .right)
        let container = try decode(data)
        let metadata = try #require(container.metadata)
        #expect(EXIFOrientation.read(from: metadata.exif.bytes) == .up)
        for format in Self.targets {
            let written = try encode(container, format)
            let again = try decode(written)
            #expect(again.metadata == metadata && again.type == format.type, "\(format.name)")
            #expect(again.image.size == container.image.size)
            #expect(try orientation(of: written) == .up)
        }
    }

    @Test("nothing is kept that was not asked for", arguments: sources)
    func notAskedFor(source: String) throws {
        let container = try decode(try Fixture.data(source), [])
        #expect(container.metadata == nil)
        for format in Self.targets {
            let written = try encode(container, format)
            #expect(try decode(written).metadata == nil)
        }
    }

    @Test("metadata outlives the processors, and stands beside the profile", arguments: targets)
    func processed(format: ImageFormat) async throws {
        let data = try Fixture.data("jpeg/gen-exif-thumb.jpg")
        let registry = registry
        var configuration = ImagePipeline.Configuration()
        configuration.imageCache = nil
        configuration.makeImageDecoder = { registry.decoder(for: $0) }
        let request = ImageRequest(
            id: "a", data: { data }, processors: [.resize(width: 20)], options: [.preserveMetadata])
        var container = try await ImagePipeline(configuration: configuration).imageTask(with: request).response
            .container
        let exif = try #require(container.metadata?.exif)
        #expect(container.image.width == 20 && EXIFThumbnail.range(in: exif.bytes) == nil)
        let profile = try decode(try Fixture.data("jpeg/gen-icc-p3.jpg")).image.colorSpace
        guard var buffer = PixelBuffer(width: 9, height: 5) else { throw ImageProcessingError.outOfMemory }
        buffer.withBytes { bytes in
            for index in 0..<bytes.byteCount { bytes.storeBytes(of: 255, toByteOffset: index, as: UInt8.self) }
        }
        container.image = buffer.freeze(isOpaque: true, colorSpace: profile)
        let again = try decode(encode(container, format), [.preserveMetadata])
        #expect(again.metadata?.exif == exif && again.image.colorSpace == profile)
    }

    @Test("what a JPEG segment can't hold is an error that says so; PNG and WebP hold it, of odd lengths too")
    func largeMetadata() throws {
        let exif = try #require(try decode(Fixture.data("jpeg/gen-o6.jpg")).metadata?.exif)
        for count in [65_527, 65_528, 100_001] {
            var container = ImageContainer(image: GeneratedImage.photo(width: 8, height: 8, seed: 1))
            container.metadata = ImageMetadata(exif: exif + Data(count: count - exif.count))
            for format in Self.targets {
                if format.type == .jpeg, count > 65_527 {
                    #expect(throws: ImageEncodingError.unsupported("", codec: "JPEG")) { try encode(container, format) }
                    continue
                }
                #expect(try decode(encode(container, format)).metadata?.exif.count == count)
            }
        }
    }

    @Test(
        "of HEIC and AVIF too, and there EXIF data that begins beyond its end is left out",
        arguments: [ImageFormat.heic, .avif])
    func itemsOfHEIF(format: ImageFormat) throws {
        guard format.missingLibrary() == nil else { return }
        let container = try decode(Fixture.data("jpeg/gen-o6.jpg"))
        let exif = try #require(container.metadata?.exif)
        var file = try encode(container, format)
        #expect(try decode(file).metadata?.exif == exif)
        var context = context(file, [.preserveMetadata])
        context.limits.metadataBytes = exif.count - 1
        let decoder = try #require(registry.decoder(for: context))
        let error = #expect(throws: ImageDecodingError.self) { try decoder.decode(file) }
        #expect(error?.code == .limitExceeded)
        // The number of bytes before the TIFF structure, which stands before them.
        let place = try #require(file.firstRange(of: Data([0, 0, 0, 0]) + exif)?.lowerBound)
        for byte: UInt8 in [0x7F, 0xFF] {
            file[place] = byte
            #expect(try decode(file).metadata == nil)
        }
    }

    @Test("more than the limit of metadata is an error before it is copied", arguments: sources)
    func limit(source: String) throws {
        let data = try Fixture.data(source)
        var context = context(data, [.preserveMetadata])
        context.limits.metadataBytes = 20
        let decoder = try #require(registry.decoder(for: context))
        let error = #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
        #expect(error?.code == .limitExceeded)
    }
}
