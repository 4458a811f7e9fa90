/// What a load gives: the image and where it came from.
public struct ImageResponse: Sendable {
    /// A cache of the pipeline.
    public enum CacheType: Sendable, Hashable {
        /// The cache of decoded images in memory.
        case memory
        /// The cache of data, usually on disk.
        case disk
    }

    /// The image with what belongs to it.
    public var container: ImageContainer
    /// The request that was served.
    public var request: ImageRequest
    /// The loader's response; nil for cached, local and closure images.
    public var dataResponse: DataResponse?
    /// The cache that the image came from, also where it was processed afterwards; nil if it was loaded.
    public var cacheType: CacheType?

    /// What the load took, step by step; nil for previews.
    public internal(set) var metrics: ImageTask.Metrics?

    /// Whether the image is as a decoder made it, and has not been through the delegate's `decompress`.
    var isDecompressionNeeded = false

    /// Creates a response.
    public init(
        container: ImageContainer, request: ImageRequest, dataResponse: DataResponse? = nil,
        cacheType: CacheType? = nil
    ) {
        self.container = container
        self.request = request
        self.dataResponse = dataResponse
        self.cacheType = cacheType
    }

    /// The picture.
    public var image: PlatformImage { container.image }

    /// Whether the picture was decoded from partial data and a better one will come.
    public var isPreview: Bool { container.isPreview }
}
