import FoundationEssentials
import Glibc
import NukeCore
import Testing

/// Bytes of keys and not their meaning tell them apart, as on disk.
final class MemoryCache: DataCaching {
    private let storage = Lock<[[UInt8]: Data]>([:])

    func cachedData(for key: String) -> Data? { storage.withLock { $0[Array(key.utf8)] } }
    func containsData(for key: String) -> Bool { cachedData(for: key) != nil }
    func storeData(_ data: Data, for key: String) { storage.withLock { $0[Array(key.utf8)] = data } }
    func removeData(for key: String) { storage.withLock { $0[Array(key.utf8)] = nil } }
    func removeAll() { storage.withLock { $0 = [:] } }
}

/// A cache in memory with one defect, of a kind that caches on disk have had.
final class BrokenCache: DataCaching {
    enum Defect: CaseIterable, CustomTestStringConvertible {
        case shortensKeys, leavesTail, showsHalf, forgetsRemovals, losesEmptyData, alwaysContains, keepsSomeAtRemoveAll

        /// The check that has to find it.
        var check: String {
            switch self {
            case .shortensKeys: "different keys never mix"
            case .leavesTail: "storing again replaces"
            case .showsHalf: "readers of a key see whole values only"
            case .forgetsRemovals: "removing removes"
            case .losesEmptyData: "data of any size is kept"
            case .alwaysContains: "an unknown key has nothing"
            case .keepsSomeAtRemoveAll: "removing all removes all"
            }
        }

        var testDescription: String { "\(self)" }
    }

    private let defect: Defect
    private let storage = Lock<[[UInt8]: Data]>([:])
    private let reads = Lock(0)

    init(_ defect: Defect) { self.defect = defect }

    private func bytes(_ key: String) -> [UInt8] {
        defect == .shortensKeys ? Array(key.utf8.prefix(255)) : Array(key.utf8)
    }

    func cachedData(for key: String) -> Data? {
        reads.withLock { $0 += 1 }
        return storage.withLock { $0[bytes(key)] }
    }

    func containsData(for key: String) -> Bool { defect == .alwaysContains || cachedData(for: key) != nil }

    func storeData(_ data: Data, for key: String) {
        switch defect {
        case .leavesTail:
            storage.withLock { storage in
                let old = storage[bytes(key)] ?? Data()
                storage[bytes(key)] = data + old.dropFirst(data.count)
            }
        case .showsHalf:
            storage.withLock { $0[bytes(key)] = data.prefix(data.count / 2) }
            // Somebody reads meanwhile, if anybody reads at all.
            let before = reads.withLock { $0 }
            for _ in 0..<200 where reads.withLock({ $0 }) == before { sched_yield() }
            storage.withLock { $0[bytes(key)] = data }
        case .losesEmptyData where data.isEmpty: break
        default: storage.withLock { $0[bytes(key)] = data }
        }
    }

    func removeData(for key: String) {
        if defect != .forgetsRemovals { storage.withLock { $0[bytes(key)] = nil } }
    }

    func removeAll() {
        storage.withLock { storage in
            storage = defect == .keepsSomeAtRemoveAll ? storage.filter { $0.key.count > 5 } : [:]
        }
    }
}
