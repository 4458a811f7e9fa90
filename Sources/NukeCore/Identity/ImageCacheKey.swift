/// The key of an image in memory: resource (or `imageID`) and what is made of it, or a string of one's own.
///
/// Scale, thumbnail, processors, and the options that change what is decoded.
///
/// The hash is made once, with the key; copies share what they are made of.
public struct ImageCacheKey: Hashable, Sendable {
    private enum Identity: Hashable, Sendable {
        case custom(String)
        case request(
            id: String, scale: Double, thumbnail: ImageRequest.ThumbnailOptions?, processors: ProcessorList,
            options: ImageRequest.Options, videoPoster: ImageRequest.VideoPoster?)
    }

    private final class Storage: Sendable {
        let identity: Identity
        let hash: Int

        init(_ identity: Identity) {
            self.identity = identity
            var hasher = Hasher()
            switch identity {
            case .custom(let key): hasher.combine(key)
            case .request(let id, let scale, let thumbnail, let processors, let options, let videoPoster):
                hasher.combine(id)
                hasher.combine(processors)
                if scale != 1 { hasher.combine(scale) }
                if let thumbnail { hasher.combine(thumbnail) }
                if !options.isEmpty { hasher.combine(options) }
                if let videoPoster { hasher.combine(videoPoster) }
            }
            hash = hasher.finalize()
        }
    }

    private let storage: Storage

    /// Creates a key from a string; equal to no key that is made from a request.
    public init(key: String) { storage = Storage(.custom(key)) }

    /// Creates the key under which the image of a request is stored.
    public init(request: ImageRequest) {
        storage = Storage(
            .request(
                id: request.cacheID, scale: request.scale, thumbnail: request.resolvedThumbnail,
                processors: ProcessorList(request.resolvedProcessors), options: request.decodingOptions,
                videoPoster: request.videoPoster))
    }

    /// Whether both stand for the same image.
    public static func == (a: ImageCacheKey, b: ImageCacheKey) -> Bool {
        if a.storage === b.storage { return true }
        return a.storage.hash == b.storage.hash && a.storage.identity == b.storage.identity
    }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.hash) }

    /// The stored hash, for caches that place entries by it.
    var storedHash: Int { storage.hash }
}
