public import FoundationEssentials

/// Files for tests: those in the repository, and the larger corpus that `NUKE_CORPUS` names.
public enum Fixture {
    /// `Tests/Fixtures`.
    public static let folder: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        return parts.dropLast(2).joined(separator: "/") + "/Fixtures"
    }()

    /// The bytes of a file such as `jpeg/gen-420.jpg`.
    public static func data(_ path: String) throws -> Data {
        try File.read(folder + "/" + path)
    }

    /// What `MANIFEST.json` tells of the files in the repository.
    public static func manifest() throws -> [FixtureEntry] { try manifest(of: folder) }

    /// The folder of the larger corpus; nil where there is none.
    public static var corpus: String? {
        guard let path = ProcessInfo.processInfo.environment["NUKE_CORPUS"], !path.isEmpty else { return nil }
        return path
    }

    /// What the `MANIFEST.json` in a folder tells.
    public static func manifest(of folder: String) throws -> [FixtureEntry] {
        let data = try File.read(folder + "/MANIFEST.json")
        return try JSONDecoder().decode([FixtureEntry].self, from: data)
    }
}

/// One file of a manifest.
public struct FixtureEntry: Decodable, Sendable {
    /// Path within the folder.
    public let path: String
    /// The format that the content has, such as "jpeg".
    public let kind: String
    /// What a decoder has to make of it.
    public let expected: Expected

    /// What a decoder has to make of a file.
    public struct Expected: Decodable, Sendable {
        /// Whether the file must decode, must not, or either.
        public let error: Outcome
        /// Columns of the upright picture.
        public let width: Int?
        /// Rows of the upright picture.
        public let height: Int?
        /// Means of red, green, blue (on white) and alpha.
        public let mean: [Double]?
        /// How far a mean may be off.
        public let meanTolerance: Double?
        /// Means that other serious readers give.
        public let meanAlternatives: [[Double]]?
        /// The mean with `gAMA` honoured.
        public let meanGammaApplied: [Double]?
        /// The mean after conversion to sRGB.
        public let meanSRGB: [Double]?
        /// Means of red, green and blue of the four quarters, row by row.
        public let quadrantMeans: [[Double]]?
        /// The stored EXIF orientation, if it is not 1.
        public let orientation: Int?
        /// How many frames there are.
        public let frames: Int?
        /// The loop count as stored.
        public let loopCount: Int?
        /// Milliseconds that the first 32 frames are shown, as stored.
        public let frameDurationsMs: [Double]?
        /// Means of the first 16 frames, composited.
        public let frameMeans: [[Double]]?
        /// What other serious readers give, by reader.
        public let frameMeansAlternatives: [String: [[Double]]]?
        /// The mean of the picture that stands in place of an animation and is no frame of it.
        public let defaultImageMean: [Double]?

        enum CodingKeys: String, CodingKey {
            case error, width, height, mean, orientation, frames
            case meanTolerance = "mean_tolerance"
            case meanAlternatives = "mean_alternatives"
            case meanGammaApplied = "mean_gamma_applied"
            case meanSRGB = "mean_srgb"
            case quadrantMeans = "quadrant_means"
            case loopCount = "loop_count"
            case frameDurationsMs = "frame_durations_ms"
            case frameMeans = "frame_means"
            case frameMeansAlternatives = "frame_means_alternatives"
            case defaultImageMean = "default_image_mean"
        }
    }

    /// Whether a file must decode.
    public enum Outcome: Decodable, Sendable {
        case decodes, fails, either

        /// `false`, `true` or `"any"`.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) { self = flag ? .fails : .decodes } else { self = .either }
        }
    }
}
