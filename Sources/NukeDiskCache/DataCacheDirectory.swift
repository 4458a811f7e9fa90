#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Where caches are.
enum DataCacheDirectory {
    /// The folder for a cache's name: `$NUKE_CACHE_DIR`, `$XDG_CACHE_HOME/<name>` or `$HOME/.cache/<name>`.
    ///
    /// An empty variable counts as not set; so do the others if they hold a relative path, as the XDG Base Directory
    /// Specification has it.
    static func path(for name: String, environment: [String: String]) throws(DataCacheError) -> String {
        guard !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.utf8.contains(0) else {
            throw DataCacheError(.invalidName, reason: "\"\(name)\" is not the name of a folder")
        }
        if let path = environment["NUKE_CACHE_DIR"], !path.isEmpty { return path }
        func variable(_ key: String) -> String? { environment[key].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        if let path = variable("XDG_CACHE_HOME") { return path + "/" + name }
        if let path = variable("HOME") { return path + "/.cache/" + name }
        throw DataCacheError(
            .noDirectory, reason: "no place for a disk cache: set NUKE_CACHE_DIR, XDG_CACHE_HOME or HOME")
    }

    /// A path from the root, without slashes at its end.
    static func absolutePath(_ path: String) throws(DataCacheError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw DataCacheError(.invalidName, path: path, reason: "not a path of a folder")
        }
        var absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        while absolute.count > 1, absolute.hasSuffix("/") { absolute.removeLast() }
        return absolute
    }
}

extension DataCache {
    /// Opens the cache of a name, in `$NUKE_CACHE_DIR`, else `$XDG_CACHE_HOME/<name>`, else `$HOME/.cache/<name>`.
    ///
    /// `NUKE_CACHE_DIR` is a folder itself: caches of different names share it.
    ///
    /// - Throws: `invalidName` if the name is none of a folder, `noDirectory` if the environment names no place,
    ///   `directoryUnavailable` if the folder can't be made.
    public convenience init(name: String) throws(DataCacheError) {
        let environment = ProcessInfo.processInfo.environment
        try self.init(path: try DataCacheDirectory.path(for: name, environment: environment))
    }
}
