#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a decoder is made from: the request, the bytes so far, and how the result will be used.
public struct ImageDecodingContext: Sendable {
    /// The request that the data is loaded for.
    public var request: ImageRequest
    /// The data, or what has been received of it.
    public var data: Data
    /// Whether the data is complete; true by default.
    public var isCompleted: Bool
    /// The response that brought the data; nil for cached, local and closure data.
    public var dataResponse: DataResponse?
    /// The cache that the data came from; nil if it was loaded.
    public var cacheType: ImageResponse.CacheType?
    /// What previews are wanted; incremental by default.
    public var previewPolicy: ImagePipeline.PreviewPolicy = .incremental
    /// What the picture may ask for.
    public var limits: ImageLimits = ImageLimits()
    /// What becomes of a picture of which data is lacking; strict by default.
    public var truncationPolicy: TruncationPolicy = .strict
    /// Set when the result is no longer wanted; codecs look at it at least every 64 rows.
    public var cancellation: CancellationFlag = CancellationFlag()
    /// What converts colours that the core can't, CMYK among them; by default what is registered when this is created.
    public var colorConverter: (any ColorConverting)? = ColorManagement.shared.converter
    /// The processor that will run first on the image, if its answer to `decodeHint` counts for this decode.
    var hintingProcessor: (any ImageProcessing)?

    /// Creates a context.
    public init(
        request: ImageRequest, data: Data, isCompleted: Bool = true, dataResponse: DataResponse? = nil,
        cacheType: ImageResponse.CacheType? = nil
    ) {
        self.request = request
        self.data = data
        self.isCompleted = isCompleted
        self.dataResponse = dataResponse
        self.cacheType = cacheType
    }

    /// The size at which the result will be used, in upright pixels, given the size that the header tells.
    ///
    /// Nil: every pixel is needed. A decoder that can do so for less decodes at the nearest size that is at least twice
    /// this one (so that the resampling that follows has enough to work with), and never below. One that scales as well as
    /// that resampling would may decode at exactly this size.
    public func decodeHint(for original: ImageSize) -> ImageSize? {
        if let thumbnail = request.resolvedThumbnail { return thumbnail.targetSize(for: original) }
        return hintingProcessor?.decodeHint(for: original)
    }

    /// The size at which a picture that is made of shapes is best drawn, given the one that it has by itself.
    ///
    /// Whole numbers of pixels. As `decodeHint` has it, but that a processor which enlarges gets the size that it makes: what is
    /// drawn at once is not blurred.
    public func drawingSize(for natural: ImageSize) -> ImageSize {
        let (width, height) = exactDrawingSize(for: natural).roundedToPixels
        return ImageSize(width: width, height: height)
    }

    private func exactDrawingSize(for natural: ImageSize) -> ImageSize {
        if let hint = decodeHint(for: natural) { return hint }
        guard request.resolvedThumbnail == nil, let processor = hintingProcessor else { return natural }
        let output = processor.outputSize(for: natural)
        guard output.width > natural.width || output.height > natural.height else { return natural }
        // Of something large enough the same processor makes less, at the size before it crops.
        return processor.decodeHint(for: natural.scaled(by: 16_777_216)) ?? natural
    }

    /// Whether the request takes the thumbnail that a file embeds, if it does, rather than one made from the picture.
    public var prefersEmbeddedThumbnail: Bool { request.thumbnail?.createThumbnailFromImageAlways == false }

    /// Makes the container of a decoded picture: sets the scale and the size before reduction, and applies the thumbnail.
    ///
    /// Throws `unsupported` if the request wants an embedded thumbnail or nothing, and this is not one.
    ///
    /// - Parameters:
    ///   - image: The pixels, whole or reduced as `decodeHint` allows; upright but for thumbnails without transform.
    ///   - type: The format.
    ///   - originalSize: The size that the header tells, in pixels; upright if `image` is.
    ///   - orientation: What `image` is still to be turned by, which is put into `userInfo`; up by default.
    ///   - isEmbeddedThumbnail: Whether this is the thumbnail that the file embeds; false by default.
    public func makeContainer(
        image: Bitmap, type: AssetType, originalSize: ImageSize, orientation: ImageOrientation = .up,
        isEmbeddedThumbnail: Bool = false
    ) throws(ImageDecodingError) -> ImageContainer {
        var image = image
        if prefersEmbeddedThumbnail, !isEmbeddedThumbnail,
            request.thumbnail?.createThumbnailFromImageIfAbsent == false
        {
            throw .unsupported("no usable thumbnail is embedded, and none may be made from the picture", codec: "")
        }
        if let target = request.resolvedThumbnail?.targetSize(for: originalSize) {
            let (width, height) = target.roundedToPixels
            if width != image.width || height != image.height {
                guard let resized = Resampler.resample(image, width: width, height: height) else {
                    throw .outOfMemory("no memory for a thumbnail of \(width)x\(height) pixels", codec: "")
                }
                image = resized
            }
        }
        if image.scale != request.scale { image = image.withScale(request.scale) }
        var container = ImageContainer(image: image, type: type)
        container.originalSize = originalSize
        if orientation != .up { container.userInfo[.orientationKey] = orientation }
        return container
    }

    /// Gives a container the metadata that its file holds, if the request has the option `preserveMetadata`.
    ///
    /// The orientation becomes the one that is in the container's `userInfo`, or up. EXIF data that is damaged from the start
    /// on is left out. Throws `limitExceeded` if there is more than `limits.metadataBytes` of it.
    ///
    /// - Parameters:
    ///   - exif: EXIF data as the file holds it; nil or empty if there is none. Copied.
    ///   - container: What `makeContainer` made of the file.
    public func attachMetadata(exif: Data?, to container: inout ImageContainer) throws(ImageDecodingError) {
        guard request.options.contains(.preserveMetadata), let exif, !exif.isEmpty else { return }
        guard exif.count <= limits.metadataBytes else {
            throw .limitExceeded(
                "\(exif.count) bytes of EXIF data, of which \(limits.metadataBytes) are allowed", codec: "")
        }
        let orientation = container.userInfo[.orientationKey] as? ImageOrientation
        container.metadata = ImageMetadata(exif: exif, orientation: orientation ?? .up)
    }
}
