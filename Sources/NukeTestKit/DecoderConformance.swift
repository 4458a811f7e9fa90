public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Checks that a format's decoder keeps the promises of `ImageFormat` and `ImageDecoding`.
///
/// Give it files of the format that decode: small ones, at least two of different pictures, one of them larger than
/// 128 pixels. It decodes them whole, cut short, damaged, reduced, cancelled, several at a time, and with previews. What is
/// random comes from `seed`, so equal suites do the same. The names of the checks are those of `checks`.
public struct DecoderConformance: Sendable {
    /// A file of the format that decodes.
    public struct Sample: Sendable {
        /// The name in messages.
        public let name: String
        /// The bytes of the file.
        public let data: Data

        /// Creates a sample.
        public init(name: String, data: Data) {
            self.name = name
            self.data = data
        }
    }

    /// The format under test.
    public let format: ImageFormat
    /// Files that decode; without any, the suite reports a violation.
    public let samples: [Sample]
    /// Files that store the same pixels and say that they are of another orientation; none by default.
    ///
    /// Wider than tall or the other way round, and the one stored upright among them.
    public var orientations: [ImageOrientation: Data] = [:]
    /// Types that the format's sniff takes beside its own; none by default.
    public var relatedTypes: Set<AssetType> = []
    /// Damaged copies made of each sample; 64 by default.
    public var mutationCount = 64
    /// Places at which each sample is cut short, beside its first and last bytes; 24 by default.
    public var cutCount = 24
    /// Seconds after which what a decoder does in the background has to be over; 10 by default.
    ///
    /// They are used up only where a promise is broken.
    public var patience = 10.0
    /// Where the random numbers start; 1 by default.
    public var seed: UInt64 = 1

    /// Creates a suite for a format and files of it.
    public init(format: ImageFormat, samples: [Sample]) {
        self.format = format
        self.samples = samples
    }

    /// The names of the checks, which stay what they are from version to version.
    ///
    /// - `samples`: there are samples, and they decode.
    /// - `sniff`: the format knows its files, also as slices and while they grow, and no others.
    /// - `foreign`: files of other kinds, given to the decoder all the same, end in a typed error.
    /// - `picture`: type, flags and premultiplied pixels are what the container says.
    /// - `header`: `properties(of:)` tells what `decode` gives.
    /// - `repetition`, `slice`, `concurrency`: the same pixels twice, of a slice, and several at a time.
    /// - `scale`, `thumbnail`, `hint`, `orientation`: what the request asks for, exactly.
    /// - `limits`, `cancellation`: typed errors, before pixels are made.
    /// - `truncation`, `damage`: cut short or damaged, a typed error, or a picture that shows nothing of others.
    /// - `preview`: previews look like the final image, and leave it as it is.
    /// - `leak`: decoder and image are released; no thread and no open file stays.
    public static let checks = [
        "samples", "sniff", "foreign", "picture", "header", "repetition", "slice", "concurrency", "scale", "thumbnail",
        "hint", "orientation", "limits", "cancellation", "truncation", "damage", "preview", "leak",
    ]

    /// Runs all checks and returns what they found; empty if the decoder conforms.
    public func violations() async -> [ConformanceViolation] {
        guard !samples.isEmpty else {
            return [ConformanceViolation(check: "samples", message: "there are none, so nothing would be checked")]
        }
        guard format.makeDecoder != nil else {
            return [ConformanceViolation(check: "samples", message: "\(format.name) has no decoder")]
        }
        // Cuts come first, while nothing whole has been decoded that could show in them.
        let cuts = samples.map { Cuts(of: $0, suite: self) }
        var found: [ConformanceViolation] = []
        var decoded: [Decoded] = []
        for sample in samples {
            switch decode(sample.data) {
            case .image(let container): decoded.append(Decoded(sample: sample, container: container))
            case let outcome:
                found.append(violation("samples", sample, "does not decode: \(outcome.description)"))
            }
        }
        found += checkSniffing() + checkForeignData()
        for item in decoded {
            found += checkPicture(item) + checkProperties(item) + checkRepeatedDecode(item) + checkScale(item)
            found += checkSlice(item)
            found += checkLimits(item) + checkCancellation(item) + checkThumbnails(item) + checkMutations(item)
            found += await checkConcurrentDecodes(item)
            found += await checkLeaks(item)
        }
        for cuts in cuts { found += checkCuts(cuts, among: decoded) }
        if let largest = decoded.max(by: { $0.image.byteCount < $1.image.byteCount }) {
            found += await checkLateCancellation(largest)
        }
        found += checkPreviews(decoded)
        found += await checkHints(decoded)
        return found + checkOrientations()
    }
}

extension DecoderConformance {
    /// A sample with the picture it holds.
    struct Decoded {
        let sample: Sample
        let container: ImageContainer
        let gridMeans: [SIMD4<Double>]

        init(sample: Sample, container: ImageContainer) {
            self.sample = sample
            self.container = container
            gridMeans = container.image.gridMeans
        }

        var image: Bitmap { container.image }
    }

    func violation(_ check: String, _ sample: Sample, _ message: String) -> ConformanceViolation {
        ConformanceViolation(check: check, message: "\(sample.name): \(message)")
    }
}
