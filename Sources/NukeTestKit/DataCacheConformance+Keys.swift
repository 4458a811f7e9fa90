internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DataCacheConformance {
    static let keyChecks: [Check] = [
        Check(name: "different keys never mix", run: keepsKeysApart),
        Check(name: "the empty key stores whole data or none") { cache, report in
            cache.storeData(TestValue.data(1, size: 100), for: "other")
            cache.storeData(TestValue.data(2, size: 200), for: "")
            let stored = cache.cachedData(for: "")
            report.expect(cache, "", holds: stored == nil ? nil : TestValue.data(2, size: 200))
            report.expect(cache, "other", holds: TestValue.data(1, size: 100))
            cache.removeData(for: "")
            report.expect(cache, "", holds: nil)
            report.expect(cache, "other", holds: TestValue.data(1, size: 100))
        },
    ]

    /// Keys that a careless cache takes for one another, for a path, or for too long.
    private static let oddKeys: [String] = {
        let long = String(repeating: "a", count: 9_999)
        var keys = ["a", "A", "a ", " a", "á", "ä", "a\u{0}", "\u{0}a", "a\u{0}b", "\u{0}", "\n", "a\nb", "\u{7f}"]
        keys += [".", "..", "...", "/", "//", "./a", "../a", "../../a", "a/b", "a//b", "a\\b", "/a", "a/", "~", "-a"]
        keys += ["a%2Fb", "a%2fb", "a+b", "a?b", "a*b", "a:b", "日本語", "👩‍👩‍👧", "👩", "\u{200b}", "\u{feff}a"]
        keys += ["http://example.com/a.jpg", "https://example.com/a.jpg", "https://example.com/a.jpg?w=1"]
        keys += [254, 255, 256, 300, 4_096].map { String(repeating: "k", count: $0) }
        keys += [long + "a", long + "b", "b" + long, long, long + "a/b"]
        return keys
    }()

    private static func keepsKeysApart(_ cache: any DataCaching, _ report: Report) {
        func value(_ number: Int) -> Data { TestValue.data(UInt64(number), size: 8 + number) }
        for (number, key) in oddKeys.enumerated() {
            report.expect(cache, key, holds: nil)
            cache.storeData(value(number), for: key)
        }
        for (number, key) in oddKeys.enumerated() { report.expect(cache, key, holds: value(number)) }
        for number in stride(from: 0, to: oddKeys.count, by: 2) {
            cache.removeData(for: oddKeys[number])
        }
        for (number, key) in oddKeys.enumerated() {
            report.expect(cache, key, holds: number % 2 == 0 ? nil : value(number))
        }
    }
}
