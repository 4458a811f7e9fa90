internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DataCacheConformance {
    /// What one check has found so far; threads may add at once.
    final class Report: Sendable {
        private let check: String
        private let found = Lock<[ConformanceViolation]>([])

        init(check: String) { self.check = check }

        /// At most 20, lest a broken loop fills the log.
        var violations: [ConformanceViolation] { Array(found.withLock { $0 }.prefix(20)) }

        func add(_ message: String) {
            found.withLock { $0.append(ConformanceViolation(check: check, message: message)) }
        }

        /// Expects that reading and asking agree with what a key has to hold.
        func expect(_ cache: any DataCaching, _ key: String, holds expected: Data?) {
            let name = key.utf8.count > 40 ? "\(key.prefix(20))… of \(key.utf8.count) bytes" : key.debugDescription
            let data = cache.cachedData(for: key)
            if data != expected {
                add("the key \(name) has \(Self.describe(data)) in place of \(Self.describe(expected))")
            }
            if cache.containsData(for: key) != (expected != nil) {
                add("containsData says \(expected == nil) for the key \(name), which has \(Self.describe(expected))")
            }
        }

        private static func describe(_ data: Data?) -> String { data.map { "\($0.count) bytes" } ?? "nothing" }
    }
}
