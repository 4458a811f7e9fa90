internal import Glibc
internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// Limits that the picture exceeds fail it, and before its pixels are looked at.
    func checkLimits(_ item: Decoded) -> [ConformanceViolation] {
        let (width, height) = (item.image.width, item.image.height)
        var pixels = ImageLimits()
        pixels.pixelCount = width * height - 1
        var side = ImageLimits()
        side.sideLength = max(width, height) - 1
        var memory = ImageLimits()
        memory.workingSetBytes = width * height * item.image.format.bytesPerPixel - 1
        let data = item.sample.data
        // Where half the file has a whole header, the limits show before the lack of pixels does.
        let half = data.prefix(data.count / 2)
        let inputs = properties(of: half) == nil ? [data] : [data, half]
        var found: [ConformanceViolation] = []
        for (name, limits) in [("pixelCount", pixels), ("sideLength", side), ("workingSetBytes", memory)] {
            for input in inputs {
                let outcome = decode(input) { $0.limits = limits }
                guard outcome.errorCode != .limitExceeded else { continue }
                let part = input.count == data.count ? "" : ", cut to half"
                found.append(violation("limits", item.sample, "with \(name) below its need\(part), it \(outcome)"))
            }
        }
        return found
    }

    /// A decode that is not wanted any more ends with `cancelled`.
    func checkCancellation(_ item: Decoded) -> [ConformanceViolation] {
        let outcome = decode(item.sample.data) { $0.cancellation.cancel() }
        if outcome.errorCode == .cancelled { return [] }
        return [violation("cancellation", item.sample, "cancelled before it starts, it \(outcome.description)")]
    }

    /// Cancelled from another thread at any time, a decode ends with `cancelled`, or with the whole picture if it was too late.
    func checkLateCancellation(_ item: Decoded) async -> [ConformanceViolation] {
        let threads = CodecThreads(name: "conformance", count: 2)
        let data = item.sample.data
        var found: [ConformanceViolation] = []
        for spins in [0, 100, 10_000, 1_000_000] {
            let flag = CancellationFlag()
            let hasBegun = CancellationFlag()
            async let outcome = threads.run {
                hasBegun.cancel()
                return self.decode(data) { $0.cancellation = flag }
            }
            await threads.run {
                while !hasBegun.isCancelled { sched_yield() }
                for _ in 0..<spins where flag.isCancelled { return }
                flag.cancel()
            }
            let end = await outcome
            let isWhole = end.image?.hasSamePixels(as: item.image) ?? false
            if !isWhole, end.errorCode != .cancelled {
                found.append(violation("cancellation", item.sample, "cancelled meanwhile, it \(end)"))
            }
        }
        return found
    }
}
