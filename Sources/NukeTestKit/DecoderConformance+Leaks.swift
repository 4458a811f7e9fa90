internal import Glibc
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// Decodes at a time, each of which a leak would show in; more than what else goes on in a process starts meanwhile.
    private static let decodeCount = 32

    /// Nothing stays when a decode is over: neither decoder nor image, and no thread or open file.
    func checkLeaks(_ item: Decoded) async -> [ConformanceViolation] {
        var found: [String] = []
        let remains = remains(of: item.sample.data)
        if await !isTrueInTime({ remains.decoder == nil }) {
            found.append("the decoder is still there after its decode")
        }
        if await !isTrueInTime({ remains.image == nil }) { found.append("the image is still there after its last use") }
        for (what, folder) in [("threads", "/proc/self/task"), ("open files", "/proc/self/fd")] {
            // Others run in this process too: what grows every time is a leak.
            var isGrowing = true
            for _ in 0..<3 where isGrowing {
                guard let before = Self.entryCount(folder) else { return [] }
                for _ in 0..<Self.decodeCount { _ = decode(item.sample.data) }
                isGrowing = (Self.entryCount(folder) ?? 0) >= before + Self.decodeCount
            }
            if isGrowing { found.append("every decode leaves \(what) behind") }
        }
        return found.map { violation("leak", item.sample, $0) }
    }

    /// A decoder, if it is an object, and an image that it made, after both have gone.
    private func remains(of data: Data) -> Remains {
        let remains = Remains()
        guard let decoder = format.makeDecoder?(context(data)) else { return remains }
        if type(of: decoder) is AnyClass { remains.decoder = decoder as AnyObject }
        remains.image = (try? decoder.decode(data))?.image
        return remains
    }

    private func isTrueInTime(_ condition: () -> Bool) async -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return true
    }

    private static func entryCount(_ folder: String) -> Int? {
        try? FileManager.default.contentsOfDirectory(atPath: folder).count
    }

    private final class Remains {
        weak var decoder: AnyObject?
        weak var image: Bitmap?
    }
}
