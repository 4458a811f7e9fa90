extension ImagePipeline {
    /// What of a load goes to the data cache.
    ///
    /// Whatever it says: files and data URLs are not copied there, previews never go there, and a request that disables disk
    /// cache writes writes nothing.
    public enum DataCachePolicy: Sendable, Hashable {
        /// The original data of requests without processors; the encoded image of requests with processors or a thumbnail.
        case automatic
        /// The original data, whatever is made of it; nothing is encoded.
        case storeOriginalData
        /// The encoded image of every request, and never the original data.
        case storeEncodedImages
        /// The original data; the encoded image as well where a request has processors or a thumbnail.
        case storeAll

        /// Whether the original data is stored for this request.
        func storesOriginalData(for request: ImageRequest) -> Bool {
            guard !request.options.contains(.disableDiskCacheWrites), !request.isLocal else { return false }
            return switch self {
            case .automatic: request.processors.isEmpty
            case .storeOriginalData, .storeAll: true
            case .storeEncodedImages: false
            }
        }

        /// Whether the image that was made for this request is encoded and stored.
        func storesEncodedImage(for request: ImageRequest) -> Bool {
            guard !request.options.contains(.disableDiskCacheWrites) else { return false }
            let isDerived = !request.processors.isEmpty || request.thumbnail != nil || request.videoPoster != nil
            return switch self {
            case .automatic, .storeAll: isDerived
            case .storeOriginalData: false
            case .storeEncodedImages: isDerived || !request.isLocal
            }
        }
    }
}

extension ImageRequest {
    /// Whether the original data is at hand without a download.
    fileprivate var isLocal: Bool { url.flatMap { LocalResource($0) } != nil }
}
