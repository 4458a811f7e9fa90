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
}
