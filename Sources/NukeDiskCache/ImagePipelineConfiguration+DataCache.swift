public import NukeCore
internal import Synchronization

extension ImagePipeline.Configuration {
    /// The default configuration with a disk cache named `org.nuke.DataCache`.
    ///
    /// Where the cache can't be opened there is none, which standard error tells once.
    public static var withDataCache: Self { withDataCache() }

    /// The default configuration with a disk cache.
    ///
    /// Where the cache can't be opened there is none, which standard error tells once.
    ///
    /// - Parameters:
    ///   - name: The folder's name in the user's caches, as `DataCache.init(name:)` has it.
    ///   - sizeLimit: Bytes on disk to keep; 150 MB by default.
    public static func withDataCache(name: String = "org.nuke.DataCache", sizeLimit: Int? = nil) -> Self {
        var configuration = Self()
        do throws(DataCacheError) {
            let cache = try DataCache(name: name)
            if let sizeLimit { cache.sizeLimit = sizeLimit }
            configuration.dataCache = cache
        } catch {
            DataCacheWarning.show(error)
        }
        return configuration
    }
}

/// The word about a cache that can't be opened, said once in a process.
private enum DataCacheWarning {
    private static let isShown = Atomic(false)

    static func show(_ error: DataCacheError) {
        if isShown.exchange(true, ordering: .relaxed) { return }
        FileSystem.writeToStandardError("nuke: images are not cached on disk: \(error)\n")
    }
}
