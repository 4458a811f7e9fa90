internal import Dispatch
public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A cache of data on disk that keeps what was used last, within a limit of bytes.
///
/// Every entry is one file, named by the key's SHA-256 and checked by a checksum: a damaged, torn or foreign file is a miss
/// and is removed. What is stored waits in memory, at most 8 MB, and is written at once by a thread of the cache's own; reads
/// see it meanwhile, and what waits keeps the cache alive. Whatever ends the process loses at most what was not flushed.
/// Several caches, in one process or many, may share a folder. Calls are safe from any thread and may block on input and
/// output. Nothing throws or crashes once the cache is open: see `failureCount`.
public final class DataCache: DataCaching, Sendable {
    /// The size limit of a new cache: 150 MB.
    public static let defaultSizeLimit: Int = 157_286_400

    let files: EntryFiles
    let settings: Settings
    let state: Lock<State>
    let sweeping = Lock(())
    /// One thread writes, and one sweeps meanwhile.
    let threads = CodecThreads(name: "nuke-cache", count: 2)

    /// What tests replace.
    struct Settings: Sendable {
        /// Nanoseconds since 1970.
        var now: @Sendable () -> Int64 = { FileSystem.now }
        /// Whether changes are written without a flush.
        var isWritingAutomatic = true
        /// Bytes that may wait to be written.
        var stagingLimit = 8 << 20
        /// How much of a sweep's due counts as written at the start.
        ///
        /// It is random, so that many short-lived processes sweep as often as one that lives long.
        var sweepProgress = Double.random(in: 0..<1)
    }

    struct State {
        var changes = StagedChanges()
        var waiters: [Waiter] = []
        var isWriting = false
        var writesThrough: UInt64 = 0
        var sizeLimit = DataCache.defaultSizeLimit
        var isSweepEnabled = true
        var sweepProgress: Double
        var isSweepScheduled = false
        var uses = RecentUses()
        var failureCount = 0
        var lastError: DataCacheError?
    }

    /// Opens the cache of a folder, which is made if it is not there; nothing is read.
    ///
    /// - Parameter path: The folder; relative ones count from the current directory.
    /// - Throws: `directoryUnavailable` if the folder can't be made, `invalidName` if the path is none.
    public convenience init(path: String) throws(DataCacheError) { try self.init(path: path, settings: Settings()) }

    init(path: String, settings: Settings) throws(DataCacheError) {
        files = EntryFiles(root: try DataCacheDirectory.absolutePath(path))
        self.settings = settings
        state = Lock(State(sweepProgress: settings.sweepProgress))
        try files.makeRoot()
    }

    /// The folder of the cache.
    public var path: String { files.root }

    /// Bytes on disk to keep, 150 MB by default; a new value takes effect at the next sweep.
    public var sizeLimit: Int {
        get { state.withLock { $0.sizeLimit } }
        set { state.withLock { $0.sizeLimit = max(0, newValue) } }
    }

    // MARK: DataCaching

    /// The data stored under a key; nil if there is none, or what there is is damaged.
    public func cachedData(for key: String) -> Data? {
        guard !key.isEmpty else { return nil }
        let bytes = Array(key.utf8)
        let name = EntryName(key: bytes)
        switch state.withLock({ $0.changes.answer(for: name) }) {
        case .data(let data): return data
        case .absent: return nil
        case .askDisk: break
        }
        let now = settings.now()
        do throws(EntryFiles.ReadFailure) {
            let (data, lastUse) = try files.read(name, key: bytes, now: now, markingAfter: RecentUses.interval)
            if (lastUse - now).magnitude <= RecentUses.interval.magnitude {
                state.withLock { $0.uses.note(name, at: now) }
            }
            return data
        } catch {
            switch error {
            case .missing, .defect(.otherVersion): break
            case .defect(let defect):
                note(DataCacheError(.entryDamaged, path: files.path(of: name).text, reason: "\(defect)"))
            case .system(let failure): note(failure.error(.readFailed, path: files.path(of: name)))
            }
            return nil
        }
    }

    /// Whether data is stored under a key, without looking into it.
    public func containsData(for key: String) -> Bool {
        guard !key.isEmpty else { return false }
        let name = EntryName(key: Array(key.utf8))
        switch state.withLock({ $0.changes.answer(for: name) }) {
        case .data: return true
        case .absent: return false
        case .askDisk: return files.contains(name)
        }
    }

    /// Stores data under a key in place of what was there; an empty key stores nothing, nor does data of 2 GiB or more.
    ///
    /// Returns at once unless more than 8 MB wait to be written: then when half of that is.
    public func storeData(_ data: Data, for key: String) { stage(.store(data), for: key) }

    /// Removes what is stored under a key.
    public func removeData(for key: String) { stage(.remove, for: key) }

    /// Removes every entry; files that are not the cache's stay.
    public func removeAll() {
        change { state in state.changes.stageRemovalOfAll() }
    }

    /// The data stored under a key; assigning stores, assigning nil removes.
    public subscript(key: String) -> Data? {
        get { cachedData(for: key) }
        set {
            if let newValue { storeData(newValue, for: key) } else { removeData(for: key) }
        }
    }

    // MARK: Files

    /// The path that a key's entry has, whether or not there is one; nil for the empty key.
    ///
    /// The file holds a header and the data.
    public func path(for key: String) -> String? {
        key.isEmpty ? nil : files.path(of: EntryName(key: Array(key.utf8))).text
    }

    /// The URL of `path(for:)`.
    public func url(for key: String) -> URL? { path(for: key).map { URL(filePath: $0) } }

    /// Entries on disk; looks at every file.
    public var totalCount: Int { list().count }

    /// Bytes of the entries' files, headers included; looks at every file.
    public var totalSize: Int { list().reduce(0) { $0 + $1.status.length } }

    /// Bytes that the entries' files take on disk; looks at every file.
    public var totalAllocatedSize: Int { list().reduce(0) { $0 + $1.status.allocated } }

    private func list() -> [ListedEntry] {
        let (entries, failure) = files.list()
        if let failure { note(failure) }
        return entries
    }

    // MARK: Failures

    /// How often something went wrong on disk: a damaged entry, a full disk, a folder that is not ours to write.
    ///
    /// A value that could not be written is gone, as is the older one under its key; a read that failed is a miss.
    public var failureCount: Int { state.withLock { $0.failureCount } }

    /// What went wrong last; nil if nothing did.
    public var lastError: DataCacheError? { state.withLock { $0.lastError } }

    func note(_ error: DataCacheError) {
        state.withLock { state in
            state.failureCount += 1
            state.lastError = error
        }
    }
}

extension DataCache: CacheMeasuring {
    /// How full the cache is; looks at every file.
    public var fill: CacheFill {
        let entries = list()
        return CacheFill(
            count: entries.count, byteCount: entries.reduce(0) { $0 + $1.status.length }, byteLimit: sizeLimit)
    }
}
