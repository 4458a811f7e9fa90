#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes to data caches that are handed to disk threads, so that whoever reads or removes the same key comes after them.
///
/// Usable from any thread.
final class PendingDataStores: Sendable {
    /// One write, done by whoever comes first: a disk thread, or a thread that needs it done.
    private final class Store: Sendable {
        /// The write that has to come before, and this one; nil once it is done.
        private let work: Lock<(@Sendable () -> Void)?>

        init(after previous: Store?, _ write: @escaping @Sendable () -> Void) {
            work = Lock {
                previous?.finish()
                write()
            }
        }

        /// Does the write, or waits for the thread that is at it.
        func finish() {
            // The lock is this write's alone, and is held for as long as it takes: that is the wait.
            work.withLock { work in
                work?()
                work = nil
            }
        }
    }

    private let stores = Lock<[String: Store]>([:])

    /// Hands data to a cache on a disk thread, after what is under way for the key.
    func store(_ data: Data, for key: String, in cache: any DataCaching) {
        let store = stores.withLock { stores in
            let store = Store(after: stores[key]) { cache.storeData(data, for: key) }
            stores[key] = store
            return store
        }
        CodecThreads.disk.enqueue { [self] in
            store.finish()
            stores.withLock { stores in
                if stores[key] === store { stores[key] = nil }
            }
        }
    }

    /// Returns when nothing is under way for a key; blocks, for as long as writing takes.
    func finish(_ key: String) { stores.withLock { $0[key] }?.finish() }

    /// Returns when nothing is under way for any key; blocks, for as long as writing takes.
    func finish() {
        for store in stores.withLock({ Array($0.values) }) { store.finish() }
    }

    /// Returns when what is under way now is done.
    func completion() async { await CodecThreads.disk.run { self.finish() } }
}
