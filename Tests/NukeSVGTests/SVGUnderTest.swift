import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeSVG

/// Decodes as one load does, with what tests want to look at.
enum SVGUnderTest {
    /// A document of these elements.
    static func document(
        _ content: String = "", width: String? = "40", height: String? = "30", attributes: String = ""
    ) -> Data {
        let sides = [("width", width), ("height", height)].compactMap { name, value in value.map { "\(name)=\"\($0)\"" }
        }
        return Data(
            """
            <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \
            \((sides + [attributes]).joined(separator: " "))>\(content)</svg>
            """.utf8)
    }

    static func context(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        configure(&context)
        return context
    }

    /// What is decoded of data.
    static func decode(
        _ data: Data, _ options: ImageDecoders.SVG.Options = .init(),
        _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws -> ImageContainer {
        let decoder: any ImageDecoding = try #require(
            ImageDecoders.SVG(context: context(data, configure), options: options))
        return try decoder.decode(data)
    }

    /// The error that decoding throws; nil if it throws none, or no decoder is made.
    static func error(
        _ data: Data, _ options: ImageDecoders.SVG.Options = .init(),
        _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingError? {
        let decoder: (any ImageDecoding)? = ImageDecoders.SVG(context: context(data, configure), options: options)
        do {
            _ = try decoder?.decode(data)
            return nil
        } catch {
            #expect(error is ImageDecodingError, "\(error)")
            return error as? ImageDecodingError
        }
    }

    /// What the header tells of the size.
    static func size(_ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }) throws -> [Int] {
        let decoder = try #require(ImageDecoders.SVG(context: context(data, configure)))
        let properties = try #require(try decoder.properties(of: data))
        return [properties.width, properties.height]
    }

    /// A pipeline that knows nothing but SVG and what a test adds.
    static func pipeline(_ formats: ImageFormat...) -> ImagePipeline {
        let registry = ImageDecoderRegistry()
        for format in formats { registry.register(format) }
        return ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = nil
        }
    }
}

extension Bitmap {
    /// Red, green, blue and alpha of a pixel, as they are stored.
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        row(y).withUnsafeBytes { Array($0[x * 4..<x * 4 + 4]) }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips what needs librsvg where it is not installed.
    static var needsLibrary: Self { .enabled(if: SVGLibrary.shared.defect == nil, "librsvg is not there") }
    /// Skips what needs files of the corpus.
    static var needsCorpus: Self { .enabled(if: Fixture.corpus != nil, "NUKE_CORPUS is not set") }
}

/// The same numbers each run (SplitMix64, public domain, Sebastiano Vigna).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
