internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The transforms made last: pictures of a run share a few profiles.
final class TransformCache: Sendable {
    /// A transform takes about a megabyte, for CMYK up to three.
    private static let limit = 4

    private struct Entry {
        // An array: leak checkers take what a `Data` that lives for ever refers to for lost, as its pointers carry marks.
        let profile: [UInt8]
        let samples: ColorSamples
        /// Nil: nothing can be done with the profile.
        let transform: (any ColorTransforming)?
    }

    private let entries = Lock<[Entry]>([])

    /// The transform of a profile: a kept one, or what `make` makes, outside the lock.
    func transform(
        from profile: Data, for samples: ColorSamples, make: () -> (any ColorTransforming)?
    ) -> (any ColorTransforming)? {
        let known = entries.withLock { entries -> Entry? in
            let index = entries.firstIndex {
                $0.samples == samples && $0.profile.count == profile.count && profile.elementsEqual($0.profile)
            }
            guard let index else { return nil }
            let entry = entries.remove(at: index)
            entries.append(entry)
            return entry
        }
        if let known { return known.transform }
        let entry = Entry(profile: Array(profile), samples: samples, transform: make())
        entries.withLock { entries in
            if entries.count >= Self.limit { entries.removeFirst() }
            entries.append(entry)
        }
        return entry.transform
    }
}
