internal import NukeCore

/// A load that was asked for and checked.
final class CurlJob: Sendable {
    let order: CurlOrder
    let request: PreparedRequest

    init(order: CurlOrder, request: PreparedRequest) {
        self.order = order
        self.request = request
    }
}

/// The loads from one scheme, host and port: how many go on at a time, and which of the others is next.
///
/// libcurl has a limit of its own, and a way to wait for a connection that may turn out to carry several transfers. Both
/// keep transfers in a queue of libcurl's, in which they have been forgotten (7.88: a timer for now that is set within a
/// millisecond of `curl_multi_perform`'s start gets lost) or timed out while they wait (8.14 to 8.17), and which knows no
/// priorities. So loads wait here, and libcurl only hears of those that may begin.
///
/// With TLS and HTTP/2 enabled one load goes ahead until its connection is up, so that the others find it and, if it
/// speaks HTTP/2, share it. A pure value: no I/O, so tests drive it by hand.
struct OriginLine {
    /// What is known of the origin's connections.
    private enum Sharing {
        case unknown
        /// A connection is up, or there can be none: no reason to hold back the others.
        case undecided
        /// Each carries one load at a time.
        case exclusive
        /// One carries many.
        case shared
    }

    /// As many streams as libcurl opens on a connection of HTTP/2.
    private static let streamLimit = 100

    private let connectionLimit: Int
    private let mayBeShared: Bool
    private var sharing: Sharing
    private var waiting: [ObjectIdentifier: (job: CurlJob, priority: ImageRequest.Priority)] = [:]
    /// By priority; who has left, or changed the line, is found when its turn comes.
    private var lines = [Line](repeating: Line(), count: ImageRequest.Priority.allCases.count)

    /// How many loads are under way.
    private(set) var activeCount = 0

    /// `mayBeShared`: whether HTTP/2 may come about.
    init(connectionLimit: Int, mayBeShared: Bool) {
        self.connectionLimit = max(1, connectionLimit)
        self.mayBeShared = mayBeShared
        sharing = mayBeShared ? .unknown : .exclusive
    }

    /// Whether nothing is under way and nothing waits.
    var isEmpty: Bool { activeCount == 0 && waiting.isEmpty }

    /// Lets a load in if it may begin at once, and then counts it as under way; otherwise it waits.
    mutating func enter(_ job: CurlJob) -> Bool {
        guard activeCount < limit, waiting.isEmpty else {
            add(job)
            return false
        }
        activeCount += 1
        return true
    }

    /// Adds a load that waits.
    private mutating func add(_ job: CurlJob) {
        let id = ObjectIdentifier(job.order.transfer)
        let priority = job.order.transfer.priority
        waiting[id] = (job, priority)
        lines[priority.rawValue].append(id)
    }

    /// The load that may begin now, if there is one, which then counts as under way.
    ///
    /// The most urgent comes first, of equals the one that has waited longest.
    mutating func next() -> CurlJob? {
        guard activeCount < limit, !waiting.isEmpty else { return nil }
        for index in lines.indices.reversed() {
            while let id = lines[index].popFirst() {
                guard let entry = waiting[id], entry.priority.rawValue == index else { continue }
                waiting[id] = nil
                activeCount += 1
                return entry.job
            }
        }
        return nil
    }

    /// Puts a load that waits into the line of its new priority.
    mutating func reprioritize(_ transfer: CurlTransfer) {
        let id = ObjectIdentifier(transfer)
        let priority = transfer.priority
        guard let entry = waiting[id], entry.priority != priority else { return }
        waiting[id] = (entry.job, priority)
        lines[priority.rawValue].append(id)
    }

    /// Takes out a load that waits.
    mutating func remove(_ transfer: CurlTransfer) { waiting[ObjectIdentifier(transfer)] = nil }

    /// Takes out all loads that wait.
    mutating func removeAll() -> [CurlJob] {
        defer { waiting = [:] }
        return waiting.values.map(\.job)
    }

    /// A load under way is over; `hasFailed` if it brought an error.
    mutating func leave(hasFailed: Bool) {
        activeCount -= 1
        if hasFailed, sharing == .unknown { sharing = .undecided }
        // With the last load the connection may go, and then a crowd would open one for each.
        if isEmpty, sharing == .shared || sharing == .undecided { sharing = .unknown }
    }

    /// The connection of a load is up.
    mutating func connectionIsUp() {
        if sharing == .unknown { sharing = .undecided }
    }

    /// A response has come, over a connection that can be shared or not.
    mutating func responseHasCome(isShared: Bool) {
        if mayBeShared { sharing = isShared ? .shared : .exclusive }
    }

    private var limit: Int {
        switch sharing {
        case .unknown: 1
        case .undecided, .exclusive: connectionLimit
        case .shared: max(connectionLimit, Self.streamLimit)
        }
    }

    /// A queue that takes the first in constant time.
    private struct Line {
        private var ids: [ObjectIdentifier] = []
        private var first = 0

        mutating func append(_ id: ObjectIdentifier) { ids.append(id) }

        mutating func popFirst() -> ObjectIdentifier? {
            guard first < ids.count else { return nil }
            let id = ids[first]
            first += 1
            if first == ids.count || first >= 256 && first * 2 >= ids.count {
                ids.removeFirst(first)
                first = 0
            }
            return id
        }
    }
}
