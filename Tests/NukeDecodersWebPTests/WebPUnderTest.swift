import FoundationEssentials
import NukeCore
import NukeDecodersWebP

/// Decodes data as one load does.
enum WebPUnderTest {
    static func context(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        configure(&context)
        return context
    }

    static func decode(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageContainer {
        try ImageDecoders.WebP(context: context(data, configure)).decode(data)
    }

    static func properties(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageProperties? {
        try ImageDecoders.WebP(context: context(data, configure)).properties(of: data)
    }

    /// What a decode fails with; nil if it does not.
    static func errorCode(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decode(data, configure)
            return nil
        } catch {
            return error.code
        }
    }
}
