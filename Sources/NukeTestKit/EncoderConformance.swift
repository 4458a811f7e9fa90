public import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Checks that a format's encoder keeps the promises of `ImageEncoding`, by what the format's decoder makes of its files.
///
/// ```swift
/// var suite = EncoderConformance(format: .pix)
/// suite.minimumPSNR = .infinity  // lossless
/// #expect(await suite.violations().isEmpty)
/// ```
public struct EncoderConformance: Sendable {
    /// What files of a format hold beside the pixels.
    public struct Features: OptionSet, Sendable, Hashable {
        /// One bit a feature.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// ICC profiles.
        public static let profiles = Features(rawValue: 1 << 0)
        /// EXIF data.
        public static let metadata = Features(rawValue: 1 << 1)
    }

    /// The format under test; it needs an encoder and a decoder.
    public let format: ImageFormat
    /// How to encode; quality 0.9 with all chroma by default.
    public var options = ImageEncodingOptions(quality: 0.9, chromaSubsampling: .none)
    /// The signal-to-noise ratio in dB, over all channels, that every picture comes back with; 30 by default.
    ///
    /// Infinity: without loss. Of pictures of less than 8 pixels a side lossy formats need bring back the size only.
    public var minimumPSNR = 30.0
    /// Whether a pixel of the format's files is either opaque or transparent; false by default.
    public var isAlphaBinary = false
    /// What the files hold beside the pixels; nothing by default, and then the checks for it are left out.
    public var features: Features = []
    /// Pixels of the longest side that the format can store; nil, the default, if no picture of the suite is too large.
    public var largestSide: Int?

    /// Creates a suite for a format.
    public init(format: ImageFormat) { self.format = format }

    /// The names of the checks, which stay what they are from version to version.
    ///
    /// - `encoder`: there is one, a decoder too, and the format knows the files.
    /// - `round trip`: pictures of every pixel format and of odd sizes, down to one pixel, come back.
    /// - `opacity`: opaque pictures come back opaque, others with their alpha where the format has the capability `alpha`.
    /// - `determinism`, `concurrency`: the same bytes twice, and several at a time.
    /// - `input`: the picture that is encoded stays as it is.
    /// - `agreement`: `encode` and `encodedData` give the same.
    /// - `quality`: whatever number it is, there is a file or a typed error.
    /// - `too large`: a picture that the format can't store gives a typed error.
    /// - `profile`, `metadata`: they are written, and only if the container has them.
    public static let checks = [
        "encoder", "round trip", "opacity", "determinism", "concurrency", "input", "agreement", "quality", "too large",
        "profile", "metadata",
    ]

    /// Runs all checks and returns what they found; empty if the encoder conforms.
    public func violations() async -> [ConformanceViolation] {
        guard let encoder = format.makeEncoder?(options), format.makeDecoder != nil else {
            let message = "\(format.name) has no encoder for these options, or no decoder to check it with"
            return [ConformanceViolation(check: "encoder", message: message)]
        }
        var found = Self.subjects.flatMap { check(encoder, $0) }
        found += await checkConcurrency(encoder)
        found += checkQualities() + checkLargestSide(encoder)
        if features.contains(.profiles) { found += checkProfile(encoder) }
        if features.contains(.metadata) { found += checkMetadata(encoder) }
        return found
    }
}

extension EncoderConformance {
    /// A picture to be encoded.
    struct Subject {
        let name: String
        let image: Bitmap
    }

    /// What became of encoding.
    enum Outcome: CustomStringConvertible {
        case data(Data)
        case failed(ImageEncodingError)
        /// Failed with an error of some other type.
        case failedUntyped(any Error)

        var data: Data? {
            guard case .data(let data) = self else { return nil }
            return data
        }

        var isTyped: Bool {
            guard case .failedUntyped = self else { return true }
            return false
        }

        var description: String {
            switch self {
            case .data(let data): "gives \(data.count) bytes"
            case .failed(let error): "fails with \(error.code) (\(error))"
            case .failedUntyped(let error): "fails with an error that is no ImageEncodingError: \(error)"
            }
        }
    }

    static var subjects: [Subject] {
        let sizes = [(97, 61), (1, 1), (1, 37), (41, 1), (2, 3), (17, 16)]
        let pictures = sizes.flatMap { width, height in
            [TestPicture.Alpha.opaque, .graded].map { alpha in
                ("\(alpha) \(width)x\(height)", TestPicture.make(width, height, alpha: alpha))
            }
        }
        let others = [
            ("clear 20x10", TestPicture.make(20, 10, alpha: .clear)),
            ("gray8 33x25", TestPicture.make(33, 25, format: .gray8)),
            ("opaque rgba16 33x25", TestPicture.make(33, 25, format: .rgba16)),
            ("graded rgba16 33x25", TestPicture.make(33, 25, alpha: .graded, format: .rgba16)),
        ]
        return (pictures + others).compactMap { name, image in image.map { Subject(name: name, image: $0) } }
    }

    func encode(_ encoder: any ImageEncoding, _ container: ImageContainer) -> Outcome {
        do {
            return .data(try encoder.encodedData(for: container, context: Self.context(container)))
        } catch let error as ImageEncodingError {
            return .failed(error)
        } catch {
            return .failedUntyped(error)
        }
    }

    static func context(_ container: ImageContainer) -> ImageEncodingContext {
        ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
    }

    /// What the format's decoder makes of a file; throws what it throws.
    func decode(_ data: Data, options: ImageRequest.Options = []) throws -> ImageContainer? {
        var context = ImageDecodingContext(request: ImageRequest(url: nil, options: options), data: data)
        context.limits.sideLength = .max
        return try format.makeDecoder?(context)?.decode(data)
    }

    func violation(_ check: String, _ message: String) -> ConformanceViolation {
        ConformanceViolation(check: check, message: message)
    }
}
