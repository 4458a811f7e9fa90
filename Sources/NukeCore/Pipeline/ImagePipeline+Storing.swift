#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A place in a data cache, to tell what has been stored there.
struct DataCacheEntry: Hashable, Sendable {
    private let key: String
    private let cache: ObjectIdentifier?

    /// The place of a key; caches that are no objects count as one.
    init(_ key: String, in cache: any DataCaching) {
        self.key = key
        self.cache = type(of: cache) is AnyObject.Type ? ObjectIdentifier(cache as AnyObject) : nil
    }
}

// What loads leave in data caches, as the policy has it.
extension ImagePipeline {
    /// Stores the original data for those of the tasks that want it and whose entry does not have it yet.
    @ImagePipelineActor
    func store(_ original: inout OriginalData, for tasks: [ImageTask]) {
        for task in tasks where configuration.dataCachePolicy.storesOriginalData(for: task.request) {
            guard let cache = delegate.dataCache(for: task.request, pipeline: self) else { continue }
            let key = originalDataCacheKey(for: task.request)
            guard original.entries.insert(DataCacheEntry(key, in: cache)).inserted else { continue }
            store(original.data, image: nil, for: task.request, key: key, in: cache)
        }
    }

    /// Encodes an image that was delivered, and stores it, if the policy says so.
    @ImagePipelineActor
    func storeEncodedImage(_ response: ImageResponse, for request: ImageRequest) {
        guard configuration.dataCachePolicy.storesEncodedImage(for: request),
            let cache = delegate.dataCache(for: request, pipeline: self)
        else { return }
        let key = dataCacheKey(for: request)
        let encoding = ImageEncodingJob(response.container, for: request, response.dataResponse, in: self)
        encodings.begin()
        // Nobody waits for this: it lets loads that somebody waits for go first.
        configuration.imageEncodingQueue.add(priority: .low) { [weak self, encodings] in
            defer { encodings.end() }
            guard self != nil else { return }
            let data = await CodecThreads.shared.run(priority: .low) { try? encoding.run() }
            guard let data, !data.isEmpty else { return }
            self?.store(data, image: response.container, for: request, key: key, in: cache)
        }
    }

    /// Stores data, or what the delegate makes of it; written on a disk thread.
    @ImagePipelineActor
    private func store(
        _ data: Data, image: ImageContainer?, for request: ImageRequest, key: String, in cache: any DataCaching
    ) {
        guard hasUserDelegate else { return dataStores.store(data, for: key, in: cache) }
        delegate.willCache(data: data, image: image, for: request, pipeline: self) { [dataStores] data in
            if let data, !data.isEmpty { dataStores.store(data, for: key, in: cache) }
        }
    }

    /// Returns when everything that was to be encoded and handed to data caches so far is with them.
    package func finishDataStores() async {
        await encodings.completion()
        await dataStores.completion()
    }
}

/// An image with the encoder that will make a file of it.
struct ImageEncodingJob: Sendable {
    private let container: ImageContainer
    private let context: ImageEncodingContext
    private let encoder: any ImageEncoding

    init(
        _ container: ImageContainer, for request: ImageRequest, _ response: DataResponse?, in pipeline: ImagePipeline
    ) {
        self.container = container
        context = ImageEncodingContext(request: request, image: container.image, dataResponse: response)
        encoder = pipeline.delegate.imageEncoder(for: context, pipeline: pipeline)
    }

    /// The bytes of the file; takes its time.
    func run() throws -> Data { try encoder.encodedData(for: container, context: context) }
}
