import FoundationEssentials
import GeneratedImages
import NukeKit
import NukeTestSupport
import Testing

@Suite("Every encoder", .timeLimit(.minutes(5)))
struct EncoderDeterminismTests {
    /// A picture of noise with alpha, or of one format.
    private func picture(_ format: PixelFormat, isOpaque: Bool) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: 97, height: 61, format: format) else {
            throw ImageProcessingError.outOfMemory
        }
        buffer.withBytes { bytes in
            for index in 0..<bytes.byteCount {
                // Alpha is the largest of the four, so that colour is premultiplied.
                let value = UInt8(truncatingIfNeeded: (index * 37) ^ (index >> 5) * 11) / 2
                let isAlpha = format == .rgba8 ? index % 4 == 3 : format == .rgba16 && index % 8 >= 6
                let byte = isAlpha ? (isOpaque ? 255 : value / 2 + 128) : value
                bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
            }
        }
        return buffer.freeze(isOpaque: isOpaque)
    }

    @Test("gives the same bytes on every run, whatever else runs")
    func deterministic() async throws {
        NukeKit.install()
        let formats = ImageDecoderRegistry.shared.formats.filter { $0.capabilities.contains(.encode) }
        #expect(formats.count >= 3)
        let pictures = try [
            picture(.rgba8, isOpaque: true), picture(.rgba8, isOpaque: false), picture(.rgba16, isOpaque: false),
            picture(.gray8, isOpaque: true),
        ]
        let source = try Fixture.data("jpeg/gen-o6.jpg")
        let request = ImageRequest(url: nil, options: [.preserveMetadata])
        let decoder = try #require(
            ImageFormat.jpeg.makeDecoder?(ImageDecodingContext(request: request, data: source)))
        let metadata = try decoder.decode(source).metadata
        #expect(metadata != nil)
        for format in formats where format.missingLibrary() == nil {
            for image in pictures {
                var container = ImageContainer(image: image)
                container.metadata = metadata
                let files = try await files(of: container, format)
                #expect(Set(files).count == 1 && files.count == 6, "\(format.name), \(image.format)")
                #expect(AssetType(files[0]) == format.type)
            }
        }
    }

    private func files(of container: ImageContainer, _ format: ImageFormat) async throws -> [Data] {
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    // A new encoder for each, on a thread of its own.
                    try await CodecThreads.shared.run {
                        guard let encoder = format.makeEncoder?(ImageEncodingOptions()) else { return Data() }
                        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
                        return try encoder.encodedData(for: container, context: context)
                    }
                }
            }
            var files: [Data] = []
            for try await file in group { files.append(file) }
            return files
        }
    }
}
