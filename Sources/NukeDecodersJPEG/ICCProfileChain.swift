#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Puts together the ICC profile that a file holds in several segments (ICC.1:2022, B.4).
enum ICCProfileChain {
    /// The profile, or nil if the chain is damaged: a part missing, twice there, or at odds about how many there are.
    ///
    /// Each chunk begins with its number, which counts from 1, and the number of chunks; they may stand in any order.
    static func profile(of chunks: [Data]) -> Data? {
        guard let first = chunks.first?.dropFirst().first, chunks.count == Int(first) else { return nil }
        let sorted = chunks.sorted { $0.first ?? 0 < $1.first ?? 0 }
        for (index, chunk) in sorted.enumerated() {
            guard chunk.count >= 2, Int(chunk[chunk.startIndex]) == index + 1, chunk[chunk.startIndex + 1] == first
            else { return nil }
        }
        let profile = sorted.reduce(into: Data()) { $0.append($1.dropFirst(2)) }
        return profile.isEmpty ? nil : profile
    }
}
