#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// Access to the caches as requests, options and the delegate have it. The calls on memory work from any thread.
extension ImagePipeline {
    /// The key of a request in memory.
    func imageCacheKey(for request: ImageRequest) -> ImageCacheKey {
        delegate.cacheKey(for: request, pipeline: self).map { ImageCacheKey(key: $0) }
            ?? ImageCacheKey(request: request)
    }

    /// The key of a request's own result on disk.
    func dataCacheKey(for request: ImageRequest) -> String {
        delegate.cacheKey(for: request, pipeline: self) ?? request.dataKey
    }

    /// The key of a request's original data on disk.
    func originalDataCacheKey(for request: ImageRequest) -> String {
        delegate.cacheKey(for: request, pipeline: self) ?? request.originalDataKey
    }

    private func imageCache(for request: ImageRequest) -> (any ImageCaching)? {
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
        for key in keys { await dataStores.completion(of: key) }
        return await CodecThreads.disk.run(priority: priority) {
            for key in keys {
                if let data = cache.cachedData(for: key) { return (key, data) }
            }
            return nil
        }
    }

    /// Stores the original data of a download for those of the tasks that allow it; written on a disk thread.
    @ImagePipelineActor
    func storeOriginalData(_ data: Data, for tasks: [ImageTask]) {
        var keys = Set<String>()
        for task in tasks where !task.request.options.contains(.disableDiskCacheWrites) {
            guard let cache = delegate.dataCache(for: task.request, pipeline: self) else { continue }
            let key = originalDataCacheKey(for: task.request)
            if keys.insert(key).inserted { dataStores.store(data, for: key, in: cache) }
        }
    }
}
