#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Access to the caches as requests, options and the delegate have it. The calls on memory work from any thread.
extension ImagePipeline {
    /// The key of a request in memory.
    func imageCacheKey(for request: ImageRequest) -> ImageCacheKey {
        customCacheKey(for: request).map { ImageCacheKey(key: $0) } ?? request.cacheKey
    }

    /// The key of a request's own result on disk.
    func dataCacheKey(for request: ImageRequest) -> String {
        customCacheKey(for: request) ?? request.dataKey
    }

    /// The key of a request's original data on disk.
    func originalDataCacheKey(for request: ImageRequest) -> String {
        customCacheKey(for: request) ?? request.originalDataKey
    }

    private func customCacheKey(for request: ImageRequest) -> String? {
        hasUserDelegate ? delegate.cacheKey(for: request, pipeline: self) : nil
    }

    /// The memory cache of a request.
    func imageCache(for request: ImageRequest) -> (any ImageCaching)? {
        hasUserDelegate ? delegate.imageCache(for: request, pipeline: self) : imageCache
    }

    /// The image, or preview, in memory, if the request allows reading.
    func cachedImage(for request: ImageRequest) -> ImageContainer? {
        guard !request.options.contains(.disableMemoryCacheReads),
            let cache = imageCache(for: request)
        else { return nil }
        return cache[imageCacheKey(for: request)]
    }

    /// Stores an image in memory, if the request allows writing; a preview only where no final image is.
    func storeImage(_ container: ImageContainer, for request: ImageRequest) {
        guard !request.options.contains(.disableMemoryCacheWrites),
            let cache = imageCache(for: request)
        else { return }
        let key = imageCacheKey(for: request)
        if container.isPreview {
            guard configuration.isStoringPreviewsInMemoryCache, cache[key]?.isPreview ?? true else { return }
        }
        cache[key] = container
    }

    /// The first data stored under one of the keys, if the request allows reading; read on a disk thread.
    @ImagePipelineActor
    func cachedData(
        for request: ImageRequest, keys: [String], priority: ImageRequest.Priority
    ) async -> (key: String, data: Data)? {
        guard !request.options.contains(.disableDiskCacheReads),
            let cache = delegate.dataCache(for: request, pipeline: self)
        else { return nil }
        return await CodecThreads.disk.run(priority: priority) { [dataStores] in
            for key in keys {
                dataStores.finish(key)
                if let data = cache.cachedData(for: key) { return (key, data) }
            }
            return nil
        }
    }

    /// What data stored under a key is to be decoded as.
    func decodingContext(for data: Data, key: String, request: ImageRequest) -> ImageDecodingContext {
        var request = request
        // What is stored under a key of its own is the result already, and no original to be reduced.
        if key != originalDataCacheKey(for: request) { request.thumbnail = nil }
        var context = ImageDecodingContext(request: request, data: data, cacheType: .disk)
        context.limits = configuration.imageLimits
        return context
    }
}
