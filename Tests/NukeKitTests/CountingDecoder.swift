import FoundationEssentials
import NukeKit
import NukeTestSupport

/// A decoder that counts the images it gives.
struct CountingDecoder: ImageDecoding {
    let decoder: any ImageDecoding
    let count: Locked<Int>

    func properties(of data: Data) throws -> ImageProperties? { try decoder.properties(of: data) }

    func decode(_ data: Data) throws -> ImageContainer {
        let container = try decoder.decode(data)
        count.withLock { $0 += 1 }
        return container
    }

    /// A configuration with curl, JPEG, PNG and no memory cache, whose decodes are counted.
    static func configuration(_ count: Locked<Int>) -> ImagePipeline.Configuration {
        let registry = ImageDecoderRegistry()
        registry.register(.jpeg, .png)
        var configuration = ImagePipeline.Configuration(dataLoader: CurlLoader())
        configuration.makeImageDecoder = { context in
            registry.decoder(for: context).map { CountingDecoder(decoder: $0, count: count) }
        }
        configuration.imageCache = nil
        return configuration
    }
}
