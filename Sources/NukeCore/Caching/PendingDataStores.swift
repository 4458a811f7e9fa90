#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes to data caches that are under way on disk threads, so that a later read of the same key waits for them.
@ImagePipelineActor
final class PendingDataStores {
    private struct Store {
        let number: Int
        let task: Task<Void, Never>
    }

    private var stores: [String: Store] = [:]
    private var lastNumber = 0

    nonisolated init() {}

    /// Hands data to a cache on a disk thread, after what is under way for the key.
    func store(_ data: Data, for key: String, in cache: any DataCaching) {
        lastNumber += 1
        let number = lastNumber
        let previous = stores[key]?.task
        let task = Task { @ImagePipelineActor in
            await previous?.value
            await CodecThreads.disk.run { cache.storeData(data, for: key) }
            // Here and not in whoever waits: a wait for a task that has ended gives nobody else a turn on the actor.
            if stores[key]?.number == number { stores[key] = nil }
        }
        stores[key] = Store(number: number, task: task)
    }

    /// Returns when nothing is under way for a key.
    func completion(of key: String) async { await stores[key]?.task.value }

    /// Returns when nothing is under way.
    func completion() async {
        while let store = stores.values.first { await store.task.value }
    }
}
