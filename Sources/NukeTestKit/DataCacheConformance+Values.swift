internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DataCacheConformance {
    static let valueChecks: [Check] = [
        Check(name: "an unknown key has nothing") { cache, report in
            report.expect(cache, "unknown", holds: nil)
            cache.removeData(for: "unknown")
            cache.removeAll()
            report.expect(cache, "unknown", holds: nil)
        },
        Check(name: "what was stored is read", run: storesAndReads),
        Check(name: "storing again replaces", run: replaces),
        Check(name: "removing removes", run: removes),
        Check(name: "removing all removes all", run: removesAll),
        Check(name: "data of any size is kept") { cache, report in
            let sizes = [0, 1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 65_535, 65_536, 262_145, 1 << 20, (5 << 20) + 3]
            for size in sizes { cache.storeData(TestValue.data(UInt64(size), size: size), for: "size \(size)") }
            for size in sizes.reversed() {
                report.expect(cache, "size \(size)", holds: TestValue.data(UInt64(size), size: size))
            }
        },
        Check(name: "stored data is the cache's own") { cache, report in
            var data = TestValue.data(1, size: 1000)
            cache.storeData(data, for: "key")
            data[500] ^= 255
            report.expect(cache, "key", holds: TestValue.data(1, size: 1000))
            var read = cache.cachedData(for: "key") ?? Data()
            if !read.isEmpty { read[read.startIndex] ^= 255 }
            report.expect(cache, "key", holds: TestValue.data(1, size: 1000))
            cache.storeData(TestValue.data(2, size: 1000)[100..<300], for: "slice")
            report.expect(cache, "slice", holds: Data(TestValue.data(2, size: 1000)[100..<300]))
        },
    ]

    private static func storesAndReads(_ cache: any DataCaching, _ report: Report) {
        for number in 0..<50 {
            cache.storeData(TestValue.data(UInt64(number), size: number * 100), for: "key \(number)")
        }
        for _ in 0..<2 {
            for number in 0..<50 {
                report.expect(cache, "key \(number)", holds: TestValue.data(UInt64(number), size: number * 100))
            }
        }
        report.expect(cache, "key 50", holds: nil)
    }

    private static func replaces(_ cache: any DataCaching, _ report: Report) {
        cache.storeData(TestValue.data(1, size: 500_000), for: "other")
        for (number, size) in [100_000, 10, 0, 200_000, 199_999].enumerated() {
            cache.storeData(TestValue.data(UInt64(number), size: size), for: "key")
            report.expect(cache, "key", holds: TestValue.data(UInt64(number), size: size))
        }
        report.expect(cache, "other", holds: TestValue.data(1, size: 500_000))
    }

    private static func removes(_ cache: any DataCaching, _ report: Report) {
        let value = TestValue.data(1, size: 3000)
        cache.storeData(value, for: "a")
        cache.storeData(value, for: "b")
        cache.removeData(for: "a")
        report.expect(cache, "a", holds: nil)
        report.expect(cache, "b", holds: value)
        cache.removeData(for: "a")
        report.expect(cache, "a", holds: nil)
        cache.storeData(TestValue.data(2, size: 10), for: "a")
        report.expect(cache, "a", holds: TestValue.data(2, size: 10))
    }

    private static func removesAll(_ cache: any DataCaching, _ report: Report) {
        for number in 0..<20 { cache.storeData(TestValue.data(1, size: 3000), for: "key \(number)") }
        cache.removeAll()
        cache.storeData(TestValue.data(2, size: 20), for: "key 7")
        for number in 0..<20 {
            report.expect(cache, "key \(number)", holds: number == 7 ? TestValue.data(2, size: 20) : nil)
        }
        cache.removeAll()
        report.expect(cache, "key 7", holds: nil)
        cache.storeData(TestValue.data(3, size: 30), for: "later")
        report.expect(cache, "later", holds: TestValue.data(3, size: 30))
    }
}
