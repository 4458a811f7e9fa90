/// An entry's file as a listing finds it.
struct ListedEntry {
    let name: EntryName
    let status: FileStatus

    /// What the entry counts for the limit: what it takes on disk, or its length where a file system tells less.
    var footprint: Int { max(status.allocated, status.length) }
}

extension EntryFiles {
    /// Every entry, and on request without the files that a dead process left half written.
    ///
    /// Files of others are passed over. The failure is that of the first folder that is there and can't be listed.
    func list(removingAbandonedFiles: Bool = false) -> (entries: [ListedEntry], failure: DataCacheError?) {
        var entries: [ListedEntry] = []
        let failure = forEachFile { shard, file in
            switch file {
            case .entry(let entry): entries.append(entry)
            case .temporary(let name): if removingAbandonedFiles { removeIfAbandoned(name, shard: shard) }
            }
        }
        return (entries, failure)
    }

    /// Removes every entry and what is left half written; returns the first failure.
    func removeAll() -> DataCacheError? {
        var failure: DataCacheError?
        let listing = forEachFile { shard, file in
            switch file {
            case .entry(let entry):
                do throws(DataCacheError) { try remove(entry.name) } catch { failure = failure ?? error }
            case .temporary(let name): removeIfAbandoned(name, shard: shard)
            }
        }
        return failure ?? listing
    }

    private enum File {
        case entry(ListedEntry)
        case temporary(TemporaryName)
    }

    private func forEachFile(_ body: (_ shard: Int, File) -> Void) -> DataCacheError? {
        var failure: DataCacheError?
        for shard in 0..<EntryName.shardCount {
            let path = folderPath(shard)
            do throws(SystemError) {
                var folder = try OpenFolder(path)
                while let file = Self.nextFile(of: &folder, shard: shard) { body(shard, file) }
            } catch {
                if error == .noSuchFile || error == .notADirectory { continue }
                failure = failure ?? error.error(.directoryUnavailable, path: path)
            }
        }
        return failure
    }

    private static func nextFile(of folder: inout OpenFolder, shard: Int) -> File? {
        folder.next { name, status in
            if let name = TemporaryName(fileName: name) { return .temporary(name) }
            guard let name = EntryName(shard: shard, fileName: name), let status = status(), status.isRegularFile else {
                return nil
            }
            return .entry(ListedEntry(name: name, status: status))
        }
    }

    /// Removes a file that was being written if nobody holds its lock any more.
    ///
    /// On a file system without locks it stays: one cannot tell.
    private func removeIfAbandoned(_ name: TemporaryName, shard: Int) {
        let path = temporaryPath(shard: shard, name)
        // Whatever fails, another sweep will come.
        guard let file = try? OpenFile(reading: path), let isLocked = try? file.lock(), isLocked else { return }
        try? FileSystem.remove(path)
    }
}
