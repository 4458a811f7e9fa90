import FoundationEssentials
import NukeCore
import NukeDecodersJPEG

/// Decodes data as one load does.
enum JPEGUnderTest {
    static func context(
        _ data: Data, limits: ImageLimits = ImageLimits(), thumbnail: ImageRequest.ThumbnailOptions? = nil
    ) -> ImageDecodingContext {
        var request = ImageRequest(url: nil)
        request.thumbnail = thumbnail
        var context = ImageDecodingContext(request: request, data: data)
        context.limits = limits
        return context
    }

    static func decode(
        _ data: Data, limits: ImageLimits = ImageLimits(), thumbnail: ImageRequest.ThumbnailOptions? = nil,
        truncationPolicy: TruncationPolicy = .strict
    ) throws(ImageDecodingError) -> ImageContainer {
        var context = context(data, limits: limits, thumbnail: thumbnail)
        context.truncationPolicy = truncationPolicy
        return try ImageDecoders.JPEG(context: context).decode(data)
    }

    static func properties(
        _ data: Data, limits: ImageLimits = ImageLimits()
    ) throws(ImageDecodingError) -> ImageProperties? {
        try ImageDecoders.JPEG(context: context(data, limits: limits)).properties(of: data)
    }
}
