public import FoundationEssentials
public import NukeCore

/// A delegate that does what closures say, and by default what pipelines do without a delegate.
public final class HookedDelegate: ImagePipeline.Delegate {
    /// The closures; nil: as without a delegate.
    public struct Hooks: Sendable {
        public var dataLoader: (@Sendable (ImageRequest) -> (any DataLoading)?)?
        public var willLoadData: (@Sendable (ImageRequest, DataRequest) async throws -> DataRequest)?
        public var imageDecoder: (@Sendable (ImageDecodingContext) -> (any ImageDecoding)?)?
        public var imageEncoder: (@Sendable (ImageEncodingContext) -> any ImageEncoding)?
        public var imageCache: (@Sendable (ImageRequest) -> (any ImageCaching)?)?
        public var dataCache: (@Sendable (ImageRequest) -> (any DataCaching)?)?
        public var cacheKey: (@Sendable (ImageRequest) -> String?)?
        public var willCache: WillCache?
        public var shouldDecompress: (@Sendable (ImageResponse) -> Bool)?
        public var decompress: (@Sendable (ImageResponse) -> ImageResponse)?
    }

    /// Takes data, the image it was made of, the request and where to send what is to be stored.
    public typealias WillCache =
        @Sendable (Data, ImageContainer?, ImageRequest, @escaping @Sendable (Data?) -> Void) -> Void

    private let hooks: Hooks

    /// Creates a delegate with the closures that `configure` sets.
    public init(_ configure: (inout Hooks) -> Void = { _ in }) {
        var hooks = Hooks()
        configure(&hooks)
        self.hooks = hooks
    }

    public func dataLoader(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataLoading)? {
        hooks.dataLoader.map { $0(request) } ?? pipeline.configuration.dataLoader
    }

    @concurrent
    public func willLoadData(
        for request: ImageRequest, dataRequest: DataRequest, pipeline: ImagePipeline
    ) async throws -> DataRequest { try await hooks.willLoadData?(request, dataRequest) ?? dataRequest }

    public func imageDecoder(for context: ImageDecodingContext, pipeline: ImagePipeline) -> (any ImageDecoding)? {
        hooks.imageDecoder.map { $0(context) } ?? pipeline.configuration.decoderRegistry.decoder(for: context)
    }

    public func imageEncoder(for context: ImageEncodingContext, pipeline: ImagePipeline) -> any ImageEncoding {
        hooks.imageEncoder?(context) ?? pipeline.configuration.makeImageEncoder?(context) ?? ImageEncoders.Default()
    }

    public func imageCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any ImageCaching)? {
        hooks.imageCache.map { $0(request) } ?? pipeline.configuration.imageCache
    }

    public func dataCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataCaching)? {
        hooks.dataCache.map { $0(request) } ?? pipeline.configuration.dataCache
    }

    public func cacheKey(for request: ImageRequest, pipeline: ImagePipeline) -> String? { hooks.cacheKey?(request) }

    @ImagePipelineActor
    public func willCache(
        data: Data, image: ImageContainer?, for request: ImageRequest, pipeline: ImagePipeline,
        completion: @escaping @Sendable (Data?) -> Void
    ) {
        if let willCache = hooks.willCache { willCache(data, image, request, completion) } else { completion(data) }
    }

    @ImagePipelineActor
    public func shouldDecompress(
        response: ImageResponse, for request: ImageRequest, pipeline: ImagePipeline
    ) -> Bool { hooks.shouldDecompress?(response) ?? pipeline.configuration.isDecompressionEnabled }

    public func decompress(
        response: ImageResponse, request: ImageRequest, pipeline: ImagePipeline
    ) -> ImageResponse { hooks.decompress?(response) ?? response }
}
