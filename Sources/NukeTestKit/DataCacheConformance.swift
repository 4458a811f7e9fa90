public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The promises of `DataCaching`, checked on caches of a kind.
///
/// ```swift
/// let suite = DataCacheConformance { MyCache(folder: newFolder()) }
/// #expect(suite.violations().isEmpty)
/// ```
public struct DataCacheConformance: Sendable {
    private let makeCache: @Sendable () throws -> any DataCaching
    private let reopen: (@Sendable (any DataCaching) throws -> any DataCaching)?

    /// Creates the suite.
    ///
    /// - Parameters:
    ///   - makeCache: Makes an empty cache that nobody else uses, with room for 64 MB.
    ///   - reopen: Closes a cache, after what it holds is safe, and opens another on the same storage; nil, the default, for
    ///     caches that keep nothing.
    public init(
        makeCache: @escaping @Sendable () throws -> any DataCaching,
        reopen: (@Sendable (any DataCaching) throws -> any DataCaching)? = nil
    ) {
        self.makeCache = makeCache
        self.reopen = reopen
    }

    /// Runs all checks, each on a cache of its own, and returns what does not hold; blocks the calling thread.
    public func violations() -> [ConformanceViolation] {
        Self.checks.flatMap { check in
            let report = Report(check: check.name)
            do {
                check.run(try makeCache(), report)
            } catch { report.add("makeCache threw \(error)") }
            return report.violations
        } + reopeningViolations()
    }

    struct Check: Sendable {
        let name: String
        let run: @Sendable (any DataCaching, Report) -> Void
    }

    private static let checks: [Check] = valueChecks + keyChecks + concurrencyChecks

    private func reopeningViolations() -> [ConformanceViolation] {
        guard let reopen else { return [] }
        let report = Report(check: "what was stored is there after reopening")
        do {
            let cache = try makeCache()
            cache.storeData(TestValue.data(1, size: 20_000), for: "kept")
            cache.storeData(TestValue.data(2, size: 500_000), for: "replaced")
            cache.storeData(TestValue.data(3, size: 300), for: "replaced")
            cache.storeData(TestValue.data(4, size: 300), for: "removed")
            cache.removeData(for: "removed")
            cache.storeData(Data(), for: "empty")
            let again = try reopen(cache)
            report.expect(again, "kept", holds: TestValue.data(1, size: 20_000))
            report.expect(again, "replaced", holds: TestValue.data(3, size: 300))
            report.expect(again, "removed", holds: nil)
            report.expect(again, "empty", holds: Data())
            again.removeAll()
            let last = try reopen(again)
            for key in ["kept", "replaced", "removed", "empty"] { report.expect(last, key, holds: nil) }
        } catch { report.add("threw \(error)") }
        return report.violations
    }
}
