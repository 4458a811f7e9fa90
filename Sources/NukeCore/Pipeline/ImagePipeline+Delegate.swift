#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImagePipeline {
    /// Customises a pipeline request by request, and watches its tasks.
    ///
    /// Every requirement has a default.
    ///
    /// The pipeline keeps its delegate alive.
    public protocol Delegate: AnyObject, Sendable {
        /// The loader for a request; by default the configuration's, or the registry's for the URL's scheme.
        func dataLoader(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataLoading)?

        /// The decoder for data; by default the configuration's, or the registry's.
        func imageDecoder(for context: ImageDecodingContext, pipeline: ImagePipeline) -> (any ImageDecoding)?

        /// The encoder of an image that goes to the data cache; by default the configuration's.
        func imageEncoder(for context: ImageEncodingContext, pipeline: ImagePipeline) -> any ImageEncoding

        /// What to show while data arrives, given what has come; by default what the format of the data answers.
        ///
        /// Asked only where previews are enabled. While the answer is `disabled` it is asked again, a few times, as the data
        /// grows; any other answer holds for the rest of the load.
        func previewPolicy(for context: ImageDecodingContext, pipeline: ImagePipeline) -> ImagePipeline.PreviewPolicy

        /// The cache of decoded images for a request; by default the configuration's.
        func imageCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any ImageCaching)?

        /// The cache of data for a request; by default the configuration's.
        func dataCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataCaching)?

        /// The key of a request in both caches; nil, the default: the one made of the request.
        func cacheKey(for request: ImageRequest, pipeline: ImagePipeline) -> String?

        /// Called before data is stored in the data cache; what `completion` is called with is stored in its place.
        ///
        /// Called only where options and policy let the data be stored. `completion` may be called later, from any thread;
        /// nothing is stored if it is called with nil, or never.
        ///
        /// - Parameters:
        ///   - data: Original data, or the image encoded.
        ///   - image: The image that was encoded; nil for original data.
        ///   - request: The request that the data is stored for.
        ///   - pipeline: The pipeline.
        ///   - completion: Takes what is to be stored.
        @ImagePipelineActor
        func willCache(
            data: Data, image: ImageContainer?, for request: ImageRequest, pipeline: ImagePipeline,
            completion: @escaping @Sendable (Data?) -> Void)

        /// Whether an image goes through `decompress`; by default `Configuration.isDecompressionEnabled`.
        ///
        /// Asked for final images as the decoder made them; thumbnails and processed images need no decompression.
        @ImagePipelineActor
        func shouldDecompress(response: ImageResponse, for request: ImageRequest, pipeline: ImagePipeline) -> Bool

        /// Makes an image ready to be shown; called on a codec thread. By default the response is as it was.
        func decompress(response: ImageResponse, request: ImageRequest, pipeline: ImagePipeline) -> ImageResponse

        /// Called before a URL is loaded; what it returns goes to the loader. May take its time: a slot is held meanwhile.
        ///
        /// Header fields added here are in no cache key: credentials that differ between callers belong on the request.
        @concurrent
        func willLoadData(
            for request: ImageRequest, dataRequest: DataRequest, pipeline: ImagePipeline
        ) async throws -> DataRequest

        /// A task was made; called on the thread that made it, before it starts.
        func imageTaskCreated(_ task: ImageTask, pipeline: ImagePipeline)

        /// A task is registered and starts.
        @ImagePipelineActor
        func imageTaskDidStart(_ task: ImageTask, pipeline: ImagePipeline)

        /// Something happened to a task.
        @ImagePipelineActor
        func imageTask(_ task: ImageTask, didReceiveEvent event: ImageTask.Event, pipeline: ImagePipeline)
    }
}

extension ImagePipeline.Delegate {
    /// The configuration's loader, or the registry's for the URL's scheme.
    public func dataLoader(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataLoading)? {
        let configuration = pipeline.configuration
        return configuration.dataLoader
            ?? request.url?.scheme.flatMap { configuration.dataLoaderRegistry.loader(for: $0) }
    }

    /// The configuration's decoder, or the registry's.
    public func imageDecoder(for context: ImageDecodingContext, pipeline: ImagePipeline) -> (any ImageDecoding)? {
        let configuration = pipeline.configuration
        if let makeImageDecoder = configuration.makeImageDecoder { return makeImageDecoder(context) }
        return configuration.decoderRegistry.decoder(for: context)
    }

    /// The configuration's encoder, or the default one with the formats of the configuration's registry.
    public func imageEncoder(for context: ImageEncodingContext, pipeline: ImagePipeline) -> any ImageEncoding {
        let configuration = pipeline.configuration
        return configuration.makeImageEncoder?(context)
            ?? ImageEncoders.Default(registry: configuration.decoderRegistry)
    }

    /// What the registered format of the data answers, or `PreviewPolicy.default(for:)`.
    public func previewPolicy(
        for context: ImageDecodingContext, pipeline: ImagePipeline
    ) -> ImagePipeline.PreviewPolicy {
        let registry = pipeline.configuration.decoderRegistry
        let format = registry.formats.first { $0.matches(context.data, isCompleted: false) == .yes }
        return format?.previewPolicy(context.data) ?? .default(for: context.data)
    }

    /// The configuration's cache.
    public func imageCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any ImageCaching)? {
        pipeline.configuration.imageCache
    }

    /// The configuration's cache.
    public func dataCache(for request: ImageRequest, pipeline: ImagePipeline) -> (any DataCaching)? {
        pipeline.configuration.dataCache
    }

    /// Nil: the key made of the request.
    public func cacheKey(for request: ImageRequest, pipeline: ImagePipeline) -> String? { nil }

    /// Stores the data as it is.
    @ImagePipelineActor
    public func willCache(
        data: Data, image: ImageContainer?, for request: ImageRequest, pipeline: ImagePipeline,
        completion: @escaping @Sendable (Data?) -> Void
    ) { completion(data) }

    /// What the configuration says.
    @ImagePipelineActor
    public func shouldDecompress(
        response: ImageResponse, for request: ImageRequest, pipeline: ImagePipeline
    ) -> Bool { pipeline.configuration.isDecompressionEnabled }

    /// The response as it is.
    public func decompress(
        response: ImageResponse, request: ImageRequest, pipeline: ImagePipeline
    ) -> ImageResponse { response }

    /// The request as it is.
    @concurrent
    public func willLoadData(
        for request: ImageRequest, dataRequest: DataRequest, pipeline: ImagePipeline
    ) async throws -> DataRequest { dataRequest }

    /// Does nothing.
    public func imageTaskCreated(_ task: ImageTask, pipeline: ImagePipeline) {}

    /// Does nothing.
    @ImagePipelineActor
    public func imageTaskDidStart(_ task: ImageTask, pipeline: ImagePipeline) {}

    /// Does nothing.
    @ImagePipelineActor
    public func imageTask(_ task: ImageTask, didReceiveEvent event: ImageTask.Event, pipeline: ImagePipeline) {}
}

/// Has the defaults of every requirement; stands in where the user gives no delegate.
final class DefaultPipelineDelegate: ImagePipeline.Delegate {}
