#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes to data caches that are under way on disk threads, so that a later read of the same key waits for them.
@ImagePipelineActor
final class PendingDataStores {
    private var stores: [String: Task<Void, Never>] = [:]

    nonisolated init() {}

    /// Hands data to a cache on a disk thread, after what is under way for the key.
    func store(_ data: Data, for key: String, in cache: any DataCaching) {
        let previous = stores[key]
        let store = Task { @ImagePipelineActor in
            await previous?.value
            await CodecThreads.disk.run { cache.storeData(data, for: key) }
        }
        stores[key] = store
        Task { @ImagePipelineActor in
            await store.value
            if stores[key] == store { stores[key] = nil }
        }
    }

    /// Returns when nothing is under way for a key.
    func completion(of key: String) async { await stores[key]?.value }

    /// Returns when nothing is under way.
    func completion() async {
        while let store = stores.values.first { await store.value }
    }
}
