public import NukeCore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Checks that a format's decoder keeps the promises of `ImageFormat` and `ImageDecoding`.
///
/// Give it files of the format that decode: small ones, at least two of different pictures, one of them larger than
/// 128 pixels. It decodes them whole, cut short, damaged, reduced, cancelled and several at a time. What is random comes
/// from `seed`, so equal suites do the same.
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
    /// Where the random numbers start; 1 by default.
    public var seed: UInt64 = 1

    /// Creates a suite for a format and files of it.
    public init(format: ImageFormat, samples: [Sample]) {
        self.format = format
        self.samples = samples
    }

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
        found += checkSniffing()
        for item in decoded {
            found += checkPicture(item) + checkProperties(item) + checkRepeatedDecode(item) + checkScale(item)
            found += checkLimits(item) + checkCancellation(item) + checkThumbnails(item) + checkMutations(item)
            found += await checkConcurrentDecodes(item)
        }
        for cuts in cuts { found += checkCuts(cuts, among: decoded) }
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
