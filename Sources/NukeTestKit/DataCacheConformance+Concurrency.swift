internal import Dispatch
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DataCacheConformance {
    static let concurrencyChecks: [Check] = [
        Check(name: "readers of a key see whole values only") { cache, report in
            let sizes = [16, 40_000, 300, 9_000]
            let writersLeft = Lock(3)
            onThreads(6) { thread in
                guard thread >= 3 else {
                    for round in 0..<150 {
                        let number = UInt64(thread * 1000 + round)
                        cache.storeData(TestValue.data(number, size: sizes[round % sizes.count]), for: "key")
                    }
                    return writersLeft.withLock { $0 -= 1 }
                }
                while writersLeft.withLock({ $0 > 0 }) {
                    guard let data = cache.cachedData(for: "key"), TestValue.number(of: data) == nil else { continue }
                    report.add("a reader got \(data.count) bytes that nobody stored")
                }
            }
        },
        Check(name: "a thread reads what it stored") { cache, report in
            onThreads(6) { thread in
                for round in 0..<60 {
                    let key = "key \(thread) \(round % 7)"
                    let value = TestValue.data(UInt64(thread * 1000 + round), size: 200 + round * 50)
                    cache.storeData(value, for: key)
                    report.expect(cache, key, holds: value)
                    if round % 3 == 0 {
                        cache.removeData(for: key)
                        report.expect(cache, key, holds: nil)
                    }
                }
            }
        },
        Check(name: "values of many keys never mix", run: keepsValuesApart),
    ]

    /// The key is part of the number of each value.
    private static func keepsValuesApart(_ cache: any DataCaching, _ report: Report) {
        onThreads(8) { thread in
            for round in 0..<150 {
                let key = (thread * 7 + round * 13) % 24
                switch round % 5 {
                case 0, 1: cache.storeData(TestValue.data(UInt64(key << 32 | round), size: 5_000), for: "key \(key)")
                case 2 where thread == 0 && round % 25 == 2: cache.removeAll()
                case 2 where thread == 1: cache.removeData(for: "key \(key)")
                default:
                    guard let data = cache.cachedData(for: "key \(key)") else { continue }
                    if TestValue.number(of: data).map({ $0 >> 32 == key }) != true {
                        report.add("key \(key) has \(data.count) bytes that nobody stored under it")
                    }
                }
            }
        }
    }

    /// Calls `body` on so many threads at once and returns when all are done.
    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let threads = CodecThreads(name: "conformance", count: count)
        let group = DispatchGroup()
        for thread in 0..<count {
            group.enter()
            threads.enqueue {
                body(thread)
                group.leave()
            }
        }
        group.wait()
    }
}
