#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What image to load, how to process it, and how the load may use the caches.
///
/// A value: copies are independent.
public struct ImageRequest: Sendable, ExpressibleByStringLiteral {
    /// Where the image comes from.
    enum Resource: Sendable {
        case request(DataRequest)
        case data(id: String, @Sendable () async throws -> Data)
        case image(id: String, @Sendable () async throws -> ImageContainer)
    }

    private final class Storage: Sendable {
        let resource: Resource
        let processors: [any ImageProcessing]
        let thumbnail: ThumbnailOptions?
        let imageID: String?
        let userInfo: [UserInfoKey: any Sendable]?
        let scale: Float
        let videoPoster: VideoPoster?
        /// The identity of the resource, made once: every key begins with it.
        let resourceID: String
        /// The key in memory, made when it is first asked for.
        let cacheKey = LazyBox<ImageCacheKey>()

        init(
            resource: Resource, resourceID: String, processors: [any ImageProcessing],
            thumbnail: ThumbnailOptions? = nil, imageID: String? = nil, userInfo: [UserInfoKey: any Sendable]? = nil,
            scale: Float = 1, videoPoster: VideoPoster? = nil
        ) {
            self.resource = resource
            self.resourceID = resourceID
            self.processors = processors
            self.thumbnail = thumbnail
            self.imageID = imageID
            self.userInfo = userInfo
            self.scale = scale
            self.videoPoster = videoPoster
        }
    }

    private var storage: Storage

    /// How urgent the load is beside others; normal by default.
    public var priority: Priority
    /// How the load may use caches and queues; none by default.
    public var options: Options

    private init(_ resource: Resource, _ processors: [any ImageProcessing], _ priority: Priority, _ options: Options) {
        storage = Storage(resource: resource, resourceID: ResourceID.make(resource), processors: processors)
        self.priority = priority
        self.options = options
    }

    /// Creates a request for the image at a URL; with nil, loading it fails with a bad-URL error.
    public init(
        url: URL?, processors: [any ImageProcessing] = [], priority: Priority = .normal, options: Options = []
    ) {
        self.init(.request(DataRequest(url: url)), processors, priority, options)
    }

    /// Creates a request for the image that a data request brings.
    ///
    /// Header fields that the caller sets here belong to the image's identity, as digests; see `Documentation/Identity.md`.
    public init(
        dataRequest: DataRequest, processors: [any ImageProcessing] = [], priority: Priority = .normal,
        options: Options = []
    ) {
        self.init(.request(dataRequest), processors, priority, options)
    }

    /// Creates a request for an image whose bytes a closure gives, when the pipeline needs them and not before.
    public init(
        id: String, data: @escaping @Sendable @concurrent () async throws -> Data,
        processors: [any ImageProcessing] = [], priority: Priority = .normal, options: Options = []
    ) {
        self.init(.data(id: id, data), processors, priority, options)
    }

    /// Creates a request for an image that a closure gives, when the pipeline needs it; no decoder is consulted.
    public init(
        id: String, image: @escaping @Sendable @concurrent () async throws -> ImageContainer,
        processors: [any ImageProcessing] = [], priority: Priority = .normal, options: Options = []
    ) {
        self.init(.image(id: id, image), processors, priority, options)
    }

    /// Creates a request for the image at the URL that the text is; text that is none acts as a nil URL.
    public init(stringLiteral value: String) { self.init(url: URL(escaping: value)) }

    /// The steps applied to the decoded image, in order.
    public var processors: [any ImageProcessing] {
        get { storage.processors }
        set { update(processors: newValue) }
    }

    /// Asks for a small version, decoded as cheaply as the format allows; nil by default.
    public var thumbnail: ThumbnailOptions? {
        get { storage.thumbnail }
        set { update(thumbnail: .some(newValue)) }
    }

    /// Pixels a point of the image; 1 by default, kept in single precision.
    ///
    /// Part of the image's identity.
    public var scale: Double {
        get { Double(storage.scale) }
        set { update(scale: Float(newValue)) }
    }

    /// Which picture stands for a video; nil, the default: what its decoder was made to take.
    ///
    /// Part of the image's identity. Decoders of other formats pass it over.
    public var videoPoster: VideoPoster? {
        get { storage.videoPoster }
        set { update(videoPoster: .some(newValue)) }
    }

    /// Values of the caller's own, which the pipeline hands on and ignores.
    public var userInfo: [UserInfoKey: any Sendable] {
        get { storage.userInfo ?? [:] }
        set { update(userInfo: newValue) }
    }

    /// The identity of the image in caches: by default the URL's text or the closure's id; assigning nil restores that.
    ///
    /// Downloads of different URLs stay apart whatever this says.
    public var imageID: String? {
        get { storage.imageID ?? resourceName }
        set { update(imageID: .some(newValue)) }
    }

    /// The URL; nil for closures.
    public var url: URL? { dataRequest?.url }

    /// What the loader will be asked for; nil for closures.
    public var dataRequest: DataRequest? {
        guard case .request(let request) = storage.resource else { return nil }
        return request
    }

    var resource: Resource { storage.resource }

    /// The identity of what is loaded, whatever is made of it.
    var resourceID: String { storage.resourceID }

    /// The key under which the image is stored in memory.
    var cacheKey: ImageCacheKey {
        // The options are not in the storage that keeps the key.
        decodingOptions.isEmpty ? storage.cacheKey.value { ImageCacheKey(request: self) } : ImageCacheKey(request: self)
    }

    /// The override of `imageID`, if there is one.
    var imageIDOverride: String? { storage.imageID }

    private var resourceName: String? {
        switch storage.resource {
        case .request(let request): request.url?.absoluteString
        case .data(let id, _), .image(let id, _): id
        }
    }

    private mutating func update(
        processors: [any ImageProcessing]? = nil, thumbnail: ThumbnailOptions?? = nil, imageID: String?? = nil,
        userInfo: [UserInfoKey: any Sendable]? = nil, scale: Float? = nil, videoPoster: VideoPoster?? = nil
    ) {
        storage = Storage(
            resource: storage.resource, resourceID: storage.resourceID, processors: processors ?? storage.processors,
            thumbnail: thumbnail ?? storage.thumbnail, imageID: imageID ?? storage.imageID,
            userInfo: userInfo ?? storage.userInfo, scale: scale ?? storage.scale,
            videoPoster: videoPoster ?? storage.videoPoster)
    }
}

extension ImageRequest: CustomStringConvertible {
    /// Resource, priority, processors, options and user info, for people; header values are not shown.
    public var description: String {
        let resource =
            switch storage.resource {
            case .request(let request): request.url?.absoluteString ?? "nil"
            case .data(let id, _), .image(let id, _): "\(id) <closure>"
            }
        return """
            ImageRequest(resource: \(resource), priority: \(priority), processors: \(processors), options: \(options), \
            userInfo: \(userInfo))
            """
    }
}
