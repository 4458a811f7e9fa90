#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImagePipeline {
    /// The caches of this pipeline, as its loads see them: same keys, same options, same delegate.
    public var cache: Cache { Cache(pipeline: self) }

    /// Reads, fills and empties the caches of a pipeline.
    ///
    /// Usable from any thread. Calls on the disk return when they are done: they may block on files, decode and encode on the
    /// calling thread. The options of a request hold: what disables reads finds nothing, what disables writes stores nothing.
    public struct Cache: Sendable {
        /// Caches of a pipeline.
        public struct Caches: OptionSet, Sendable, Hashable {
            /// One bit a cache.
            public let rawValue: Int

            /// Creates a set from its bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// The cache of decoded images in memory.
            public static let memory = Caches(rawValue: 1 << 0)
            /// The cache of data, usually on disk, and what loaders keep.
            public static let disk = Caches(rawValue: 1 << 1)
            /// Both.
            public static let all: Caches = [.memory, .disk]
        }

        let pipeline: ImagePipeline

        // MARK: Memory

        /// The image of a URL in memory; assigning nil removes it.
        public subscript(url: URL) -> ImageContainer? {
            get { self[ImageRequest(url: url)] }
            nonmutating set { self[ImageRequest(url: url)] = newValue }
        }

        /// The image of a request in memory; assigning nil removes it, whatever the request's options.
        ///
        /// Previews are stored and found too.
        public subscript(request: ImageRequest) -> ImageContainer? {
            get { pipeline.cachedImage(for: pipeline.effectiveRequest(request)) }
            nonmutating set {
                let request = pipeline.effectiveRequest(request)
                if let newValue { return pipeline.storeImage(newValue, for: request) }
                pipeline.imageCache(for: request)?[pipeline.imageCacheKey(for: request)] = nil
            }
        }

        // MARK: Images

        /// The image of a request in one of the caches: in memory, or else on disk, decoded on the calling thread.
        ///
        /// What is found on disk is not put into memory.
        public func cachedImage(for request: ImageRequest, caches: Caches = [.all]) -> ImageContainer? {
            if caches.contains(.memory), let container = self[request] { return container }
            guard caches.contains(.disk), let data = cachedData(for: request) else { return nil }
            let request = pipeline.effectiveRequest(request)
            let context = pipeline.decodingContext(
                for: data, key: pipeline.dataCacheKey(for: request), request: request)
            guard let decoder = pipeline.delegate.imageDecoder(for: context, pipeline: pipeline) else { return nil }
            return DecodingJob(context: context, decoder: decoder, budget: pipeline.memoryBudget).runWithoutWaiting()
        }

        /// Stores an image for a request in each of the caches: in memory as it is, on disk encoded on the calling thread.
        ///
        /// Previews are never stored on disk.
        public func storeCachedImage(_ image: ImageContainer, for request: ImageRequest, caches: Caches = [.all]) {
            if caches.contains(.memory) { self[request] = image }
            guard caches.contains(.disk), !image.isPreview else { return }
            let request = pipeline.effectiveRequest(request)
            guard dataCache(for: request, unless: .disableDiskCacheWrites) != nil else { return }
            let data = try? ImageEncodingJob(image, for: request, nil, in: pipeline).run()
            if let data, !data.isEmpty { storeCachedData(data, for: request) }
        }

        /// Removes the image of a request from each of the caches, and with the disk from what the loader keeps.
        ///
        /// What is stored under other keys stays: for a request with processors that is the original data.
        public func removeCachedImage(for request: ImageRequest, caches: Caches = [.all]) {
            if caches.contains(.memory) { self[request] = nil }
            if caches.contains(.disk) { removeCachedData(for: request) }
        }

        /// Whether one of the caches has something for a request; what is on disk is not read.
        public func containsCachedImage(for request: ImageRequest, caches: Caches = [.all]) -> Bool {
            if caches.contains(.memory), self[request] != nil { return true }
            return caches.contains(.disk) && containsData(for: request)
        }

        // MARK: Data

        /// The data stored for a request: its result encoded, or without processors and thumbnail the original data.
        public func cachedData(for request: ImageRequest) -> Data? {
            let request = pipeline.effectiveRequest(request)
            return dataCache(for: request, unless: .disableDiskCacheReads)?
                .cachedData(for: settledKey(for: request))
        }

        /// Stores data for a request.
        public func storeCachedData(_ data: Data, for request: ImageRequest) {
            let request = pipeline.effectiveRequest(request)
            dataCache(for: request, unless: .disableDiskCacheWrites)?
                .storeData(data, for: settledKey(for: request))
        }

        /// Whether data is stored for a request; it is not read.
        public func containsData(for request: ImageRequest) -> Bool {
            let request = pipeline.effectiveRequest(request)
            return dataCache(for: request, unless: .disableDiskCacheReads)?
                .containsData(for: settledKey(for: request)) ?? false
        }

        /// Removes the data stored for a request, and what the loader keeps of it, whatever the request's options.
        public func removeCachedData(for request: ImageRequest) {
            let request = pipeline.effectiveRequest(request)
            dataCache(for: request)?.removeData(for: settledKey(for: request))
            guard let dataRequest = request.dataRequest, dataRequest.url != nil else { return }
            pipeline.delegate.dataLoader(for: request, pipeline: pipeline)?.removeData(for: dataRequest)
        }

        private func dataCache(
            for request: ImageRequest, unless option: ImageRequest.Options? = nil
        ) -> (any DataCaching)? {
            if let option, request.options.contains(option) { return nil }
            return pipeline.delegate.dataCache(for: request, pipeline: pipeline)
        }

        /// The key of a request on disk, once what loads stored under it so far is written.
        private func settledKey(for request: ImageRequest) -> String {
            let key = pipeline.dataCacheKey(for: request)
            pipeline.dataStores.finish(key)
            return key
        }

        // MARK: Keys

        /// The key under which the image of a request is stored in memory: the delegate's, or the request's own.
        public func makeImageCacheKey(for request: ImageRequest) -> ImageCacheKey {
            pipeline.imageCacheKey(for: pipeline.effectiveRequest(request))
        }

        /// The key under which the image of a request is stored on disk: the delegate's, or the request's own.
        public func makeDataCacheKey(for request: ImageRequest) -> String {
            pipeline.dataCacheKey(for: pipeline.effectiveRequest(request))
        }

        // MARK: Everything

        /// Empties the caches of the configuration, and with the disk what its loaders keep.
        ///
        /// Caches and loaders that a delegate names for single requests stay as they are.
        public func removeAll(caches: Caches = [.all]) {
            let configuration = pipeline.configuration
            if caches.contains(.memory) { pipeline.imageCache?.removeAll() }
            guard caches.contains(.disk) else { return }
            pipeline.dataStores.finish()
            configuration.dataCache?.removeAll()
            let loaders = configuration.dataLoader.map { [$0] } ?? configuration.dataLoaderRegistry.all
            for loader in loaders { loader.removeAllData() }
        }
    }
}
