import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeVideo

/// Decodes as one load does, with what tests want to look at.
enum VideoUnderTest {
    static let formats: [ImageFormat] = [.mp4, .m4v, .mov, .webm, .mkv]

    /// A file of those in the repository.
    static func data(_ name: String) throws -> Data { try Fixture.data("video/" + name) }

    static func context(
        _ data: Data, poster: ImageRequest.VideoPoster? = nil,
        _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var request = ImageRequest(url: nil)
        request.videoPoster = poster
        var context = ImageDecodingContext(request: request, data: data)
        configure(&context)
        return context
    }

    /// What is decoded of data.
    static func decode(
        _ data: Data, poster: ImageRequest.VideoPoster? = nil,
        _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws -> ImageContainer {
        try #require(ImageDecoders.Video(context: context(data, poster: poster, configure))).decode(data)
    }

    /// The error that decoding throws; nil if it throws none.
    static func error(
        _ data: Data, poster: ImageRequest.VideoPoster? = nil,
        _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingError? {
        guard let decoder = ImageDecoders.Video(context: context(data, poster: poster, configure)) else { return nil }
        do {
            _ = try decoder.decode(data)
            return nil
        } catch {
            #expect(error is ImageDecodingError, "\(error)")
            return error as? ImageDecodingError
        }
    }

    /// Means of red, green and blue.
    static func mean(_ image: Bitmap) -> [Double] { Array(PixelStatistics(image).mean.prefix(3)) }

    static func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double) -> Bool {
        zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips what needs libav where the package was built without it.
    static var needsLibrary: Self { .enabled(if: VideoLibrary.shared.defect == nil, "libav is not there") }
    /// Skips what needs files of the corpus.
    static var needsCorpus: Self { .enabled(if: Fixture.corpus != nil, "NUKE_CORPUS is not set") }
}
