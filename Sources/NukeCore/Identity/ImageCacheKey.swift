/// The key of an image in memory: resource (or `imageID`), scale, thumbnail and processors, or a string of one's own.
///
/// The hash is made once, with the key.
public struct ImageCacheKey: Hashable, Sendable {
    private enum Identity: Hashable, Sendable {
        case custom(String)
        case request(id: String, scale: Double, thumbnail: ImageRequest.ThumbnailOptions?, processors: ProcessorList)
    }

    private let identity: Identity
    private let hash: Int

    /// Creates a key from a string; equal to no key that is made from a request.
    public init(key: String) { self.init(.custom(key)) }

    /// Creates the key under which the image of a request is stored.
    public init(request: ImageRequest) {
        self.init(
            .request(
                id: request.cacheID, scale: request.scale, thumbnail: request.thumbnail,
                processors: ProcessorList(request.processors)))
    }

    private init(_ identity: Identity) {
        self.identity = identity
        var hasher = Hasher()
        switch identity {
        case .custom(let key): hasher.combine(key)
        case .request(let id, let scale, let thumbnail, let processors):
            hasher.combine(id)
            hasher.combine(scale)
            hasher.combine(processors)
            if let thumbnail { hasher.combine(thumbnail) }
        }
        hash = hasher.finalize()
    }

    /// Whether both stand for the same image.
    public static func == (a: ImageCacheKey, b: ImageCacheKey) -> Bool { a.hash == b.hash && a.identity == b.identity }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The stored hash, for caches that place entries by it.
    var storedHash: Int { hash }
}
