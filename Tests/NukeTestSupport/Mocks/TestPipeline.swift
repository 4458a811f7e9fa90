public import NukeCore

/// A pipeline with mocks in every place, and the mocks.
public struct TestPipeline: Sendable {
    /// The pipeline.
    public let pipeline: ImagePipeline
    /// Its loader.
    public let loader: MockDataLoader
    /// Its decoder.
    public let decoder: MockImageDecoder
    /// Its memory cache.
    public let imageCache: MockImageCache
    /// Its data cache; nil unless asked for.
    public let dataCache: MockDataCache?

    /// Creates a pipeline.
    public init(
        decoder: MockImageDecoder = MockImageDecoder(), hasDataCache: Bool = false,
        delegate: (any ImagePipeline.Delegate)? = nil,
        _ configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) {
        let loader = MockDataLoader()
        let imageCache = MockImageCache()
        let dataCache = hasDataCache ? MockDataCache() : nil
        var configuration = ImagePipeline.Configuration(dataLoader: loader)
        configuration.decoderRegistry = decoder.registry
        configuration.imageCache = imageCache
        configuration.dataCache = dataCache
        configure(&configuration)
        pipeline = ImagePipeline(configuration: configuration, delegate: delegate)
        self.loader = loader
        self.decoder = decoder
        self.imageCache = imageCache
        self.dataCache = dataCache
    }
}
