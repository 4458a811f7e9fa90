#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ImageRequest {
    /// A small version of an image, which decoders make for less than the whole would cost.
    public struct ThumbnailOptions: Hashable, Sendable {
        enum TargetSize: Hashable, Sendable {
            case longerSide(Double)
            case size(ImageSize, ImageProcessingOptions.Unit, ImageProcessingOptions.ContentMode)
        }

        private(set) var target: TargetSize

        /// Whether to make the thumbnail from the picture where the file embeds none; true by default.
        public var createThumbnailFromImageIfAbsent = true
        /// Whether to make the thumbnail from the picture even where the file embeds one; true by default.
        public var createThumbnailFromImageAlways = true
        /// Whether the thumbnail is upright; true by default.
        ///
        /// Else rows and columns are as stored, and `ImageContainer.UserInfoKey.orientationKey` tells what is to be done.
        public var createThumbnailWithTransform = true
        /// Has no effect here, as thumbnails are always decoded at once; part of the identity.
        ///
        /// True by default.
        public var shouldCacheImmediately = true

        /// Asks for a longer side of this many pixels.
        public init(maxPixelSize: Double) { target = .longerSide(maxPixelSize) }

        /// Asks for a size that the image fills or fits; points are pixels times the request's scale.
        public init(
            size: ImageSize, unit: ImageProcessingOptions.Unit = .points,
            contentMode: ImageProcessingOptions.ContentMode = .aspectFill
        ) {
            target = .size(size, unit, contentMode)
        }

        /// The same options with their size in pixels.
        func inPixels(scale: Double) -> ThumbnailOptions {
            guard case .size(let size, let unit, let mode) = target else { return self }
            var copy = self
            copy.target = .size(size.scaled(by: LengthUnit(unit).pixels(scale: scale)), .pixels, mode)
            return copy
        }

        /// The size, in upright pixels, of the thumbnail of a picture; never larger than the picture.
        ///
        /// Nil if the target is not a positive, finite number: the whole picture then.
        func targetSize(for original: ImageSize) -> ImageSize? {
            let factor: Double
            switch target {
            case .longerSide(let side):
                factor = side / max(original.width, original.height)
            case .size(let size, _, let mode):
                let ratios = (size.width / original.width, size.height / original.height)
                factor = mode == .aspectFill ? max(ratios.0, ratios.1) : min(ratios.0, ratios.1)
            }
            guard factor.isFinite, factor > 0 else { return nil }
            return original.scaled(by: min(1, factor))
        }

        /// Makes the thumbnail of an image file with the decoders that are registered; nil if that fails.
        ///
        /// Takes as long as decoding takes: not for a thread that must not block.
        public func makeThumbnail(with data: Data, registry: ImageDecoderRegistry = .shared) -> PlatformImage? {
            var request = ImageRequest(url: nil)
            request.thumbnail = self
            let decoder = registry.decoder(for: ImageDecodingContext(request: request, data: data))
            return try? decoder?.decode(data).image
        }

        /// The text that stands for these options in keys, once their size is in pixels.
        var identifier: String {
            let flags = [
                createThumbnailFromImageIfAbsent, createThumbnailFromImageAlways, createThumbnailWithTransform,
                shouldCacheImmediately,
            ]
            let options = flags.map { $0 ? "true" : "false" }.joined()
            switch target {
            case .longerSide(let side):
                return "com.github/kean/nuke/thumbnail?maxPixelSize=\(side),options=\(options)"
            case .size(let size, _, let mode):
                return """
                    com.github/kean/nuke/thumbnail?width=\(size.width),height=\(size.height),\
                    contentMode=\(mode),options=\(options)
                    """
            }
        }
    }
}
