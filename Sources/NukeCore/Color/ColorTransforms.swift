#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The transforms of the profiles that were met last: most pictures of a run share a few.
enum ColorTransforms {
    /// What there is to do about a profile.
    enum Step: Sendable {
        /// Its colours are those of sRGB, as far as one can see.
        case relabel
        case convert(ColorTransform)
        /// It is a profile of tables, or damaged: a registered converter's, else left as it is, and the colours with it.
        case leave
    }

    private static let limit = 8
    /// Profiles are arrays here: leak checkers take what a global `Data` refers to for lost, as its pointers carry marks.
    private static let steps = Lock<[(profile: [UInt8], step: Step)]>([])

    /// What to do about a profile.
    static func step(for profile: Data) -> Step {
        let known = steps.withLock { steps in
            steps.firstIndex { $0.profile.count == profile.count && profile.elementsEqual($0.profile) }.map { index in
                let entry = steps.remove(at: index)
                steps.append(entry)
                return entry.step
            }
        }
        if let known { return known }
        let step = makeStep(for: profile)
        steps.withLock { steps in
            if steps.count >= limit { steps.removeFirst() }
            steps.append((Array(profile), step))
        }
        return step
    }

    private static func makeStep(for profile: Data) -> Step {
        guard let profile = ICCProfile(profile), let transform = ColorTransform(profile) else { return .leave }
        return transform.isNearIdentity ? .relabel : .convert(transform)
    }
}
