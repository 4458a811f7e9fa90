/// What is done to each frame of an animation once it is composed.
enum FrameStep: Sendable {
    /// Colours are brought to sRGB, by this where the core can't.
    case colors((any ColorConverting)?)
    /// The frame is said to be of a scale.
    case scale(Double)
    /// The frame becomes the thumbnail that a request wants.
    case thumbnail(ImageRequest.ThumbnailOptions)
    /// A request's processor is applied.
    case processor(any ImageProcessing, FrameSurroundings)
    /// What is larger is shrunk until both sides fit.
    case fit(ImageSize)

    /// The frame with all steps done in turn.
    static func apply(_ steps: [FrameStep], to frame: consuming Bitmap) throws -> Bitmap {
        var image = frame
        // Processors compute from the whole picture's size, as they do for the poster.
        var originalSize: ImageSize? = image.size
        for step in steps {
            switch step {
            case .colors(let converter): Bitmap.convertToSRGB(&image, by: converter)
            case .scale(let scale): if image.scale != scale { image = image.withScale(scale) }
            case .thumbnail(let options): image = try resize(image, to: options.targetSize(for: image.size))
            case .processor(let processor, let surroundings):
                image = try surroundings.process(image, with: processor, originalSize: originalSize)
                originalSize = nil
            case .fit(let size): image = try fit(image, size)
            }
        }
        return image
    }

    private static func fit(_ image: Bitmap, _ size: ImageSize) throws(ImageProcessingError) -> Bitmap {
        let factor = min(size.width / image.size.width, size.height / image.size.height)
        guard factor.isFinite, factor > 0 else { throw .invalidSize(size.description) }
        return try resize(image, to: factor < 1 ? image.size.scaled(by: factor) : nil)
    }

    private static func resize(_ image: Bitmap, to size: ImageSize?) throws(ImageProcessingError) -> Bitmap {
        guard let (width, height) = size?.roundedToPixels, width != image.width || height != image.height else {
            return image
        }
        guard let resized = Resampler.resample(image, width: width, height: height) else { throw .outOfMemory }
        return resized
    }
}

/// What a processor is told beside the frame: all that it was told beside the poster.
struct FrameSurroundings: Sendable {
    private let request: ImageRequest
    private let response: ImageResponse

    /// Takes what belongs to a poster; neither it nor the animation is kept.
    init(_ request: ImageRequest, _ response: ImageResponse) {
        var response = response
        response.container.image = .blank
        response.container.animation = nil
        response.container.originalSize = nil
        response.request = request
        self.request = request
        self.response = response
    }

    func process(_ image: Bitmap, with processor: any ImageProcessing, originalSize: ImageSize?) throws -> Bitmap {
        var response = response
        response.container.image = image
        response.container.originalSize = originalSize
        let context = ImageProcessingContext(request: request, response: response, isCompleted: true)
        return try processor.process(response.container, context: context).image
    }
}
