internal import NukeCore

// How the cache stays within its limit.
extension DataCache {
    /// The part of the limit that may be written before the cache looks at its size again.
    private static let sweepStep = 0.05
    /// The part of the limit that a sweep leaves.
    private static let trimRatio = 0.7

    /// Whether the cache sweeps by itself, when 5 % of the limit was written since the last sweep; true by default.
    public var isSweepEnabled: Bool {
        get { state.withLock { $0.isSweepEnabled } }
        set { state.withLock { $0.isSweepEnabled = newValue } }
    }

    /// Removes the entries used longest ago until 70 % of the limit is left, if the cache is beyond it.
    ///
    /// An entry larger than the limit goes first. What counts is the space that files take on disk. Files that a dead
    /// process left half written go too. Looks at every file, on the calling thread; changes that wait to be written do not
    /// count.
    public func sweep() {
        sweeping.withLock { _ in
            state.withLock { $0.sweepProgress = 0 }
            let (entries, failure) = files.list(removingAbandonedFiles: true)
            if let failure { note(failure) }
            let (limit, uses) = state.withLock { ($0.sizeLimit, $0.uses) }
            var total = entries.reduce(0) { $0 + $1.footprint }
            guard total > limit else { return }
            let target = Int(Double(limit) * Self.trimRatio)
            let order = Self.orderOfRemoval(entries, limit: limit, uses: uses)
            for index in order where total > target {
                do throws(DataCacheError) {
                    if try files.remove(entries[index]) { total -= entries[index].footprint }
                } catch { note(error) }
            }
        }
    }

    /// Sweeps, and again if so much was written meanwhile.
    func sweepWhileDue() {
        repeat {
            sweep()
        } while state.withLock { $0.needsSweepAgain() }
    }

    private static func orderOfRemoval(_ entries: [ListedEntry], limit: Int, uses: RecentUses) -> [Int] {
        let times = entries.map { max($0.status.modified, uses[$0.name] ?? .min) }
        let isTooLarge = entries.map { $0.footprint > limit }
        return entries.indices.sorted { a, b in
            isTooLarge[a] != isTooLarge[b] ? isTooLarge[a] : times[a] < times[b]
        }
    }
}

extension DataCache.State {
    /// Counts bytes as written; returns whether the caller has to start a sweep.
    mutating func noteWritten(_ length: Int) -> Bool {
        sweepProgress += Double(length) / max(1, Double(sizeLimit) * 0.05)
        guard isSweepDue, !isSweepScheduled else { return false }
        isSweepScheduled = true
        return true
    }

    /// Whether so much was written during a scheduled sweep that another is due; if not, none is scheduled any more.
    mutating func needsSweepAgain() -> Bool {
        isSweepScheduled = isSweepDue
        return isSweepScheduled
    }

    private var isSweepDue: Bool { isSweepEnabled && sweepProgress >= 1 }
}

/// When entries were used lately, where their files do not tell.
///
/// A file's time of modification is its entry's last use. Setting it costs half a read, so it is set when it is off by more
/// than a minute; what happens within the minute is noted here. So the order is exact within a process, and to a minute
/// between processes. When there are too many notes all are dropped.
struct RecentUses {
    /// Nanoseconds by which a file's time may be off.
    static let interval: Int64 = 60_000_000_000

    private static let capacity = 8192
    private var times: [EntryName: Int64] = [:]

    var count: Int { times.count }

    subscript(name: EntryName) -> Int64? { times[name] }

    mutating func note(_ name: EntryName, at time: Int64) {
        if times.count >= Self.capacity, times[name] == nil { times.removeAll(keepingCapacity: true) }
        times[name] = time
    }
}
