/// A step that makes one image out of another: pure, so that equal steps can be shared and their results cached.
///
/// Called on codec threads, several at once: a processor holds no mutable state.
public protocol ImageProcessing: Sendable {
    /// The processed image; nil if it can't be made.
    func process(_ image: PlatformImage) -> PlatformImage?

    /// The processed container; by default `process(_:)` of its image with everything else kept.
    func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer

    /// A string that is equal for processors that do the same, in this run and the next: it goes into disk keys.
    var identifier: String { get }

    /// A value that is equal for processors that do the same, in this run; `identifier` by default.
    var hashableIdentifier: AnyHashable { get }

    /// The size of the result for an original of this size, if the result can be made as well from a smaller original.
    ///
    /// In upright pixels. Nil, the default: every pixel is needed. Decoders use it to decode less; what they decode is at
    /// least twice the hint or whole, and `ImageProcessingContext.originalSize` tells the size that the original has.
    func decodeHint(for original: ImageSize) -> ImageSize?

    /// The size of the result for an image of this size, in pixels: what the pipeline counts on to keep its memory budget.
    ///
    /// By default the `decodeHint`, if there is one, else the size of the image: to be told by what enlarges.
    func outputSize(for size: ImageSize) -> ImageSize

    /// The same processor with its lengths in pixels, where they are in points; itself by default.
    ///
    /// A request's processors are compared and cached in this form, so that a scale in the request needs no place in their
    /// identifiers.
    func inPixels(scale: Double) -> any ImageProcessing
}

extension ImageProcessing {
    /// Processes the image and keeps type, data, preview flag and user info.
    public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
        guard let image = process(container.image) else { throw ImageProcessingError.unknown }
        var container = container
        container.image = image
        return container
    }

    /// The identifier.
    public var hashableIdentifier: AnyHashable { identifier }

    /// Nil: every pixel is needed.
    public func decodeHint(for original: ImageSize) -> ImageSize? { nil }

    /// The hint, or the size itself.
    public func outputSize(for size: ImageSize) -> ImageSize { decodeHint(for: size) ?? size }

    /// The processor itself: it has no lengths in points.
    public func inPixels(scale: Double) -> any ImageProcessing { self }
}

extension ImageProcessing where Self: Hashable {
    /// The processor itself.
    public var hashableIdentifier: AnyHashable { self }
}

/// What a processor is told beside the image.
public struct ImageProcessingContext: Sendable {
    /// The request being served.
    public var request: ImageRequest
    /// The response that the image came with.
    public var response: ImageResponse
    /// Whether the image is final; false for previews.
    public var isCompleted: Bool
    /// The upright size, in pixels, that the image has before any reduction while decoding; nil if it was not reduced.
    ///
    /// Only for the processor that comes first after decoding.
    public var originalSize: ImageSize?

    /// Creates a context.
    public init(request: ImageRequest, response: ImageResponse, isCompleted: Bool) {
        self.request = request
        self.response = response
        self.isCompleted = isCompleted
        self.originalSize = response.container.originalSize
    }
}

/// Why an image could not be processed.
public enum ImageProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A processor gave no image and no reason.
    case unknown
    /// The target size is not a positive, finite number of pixels.
    case invalidSize(String)
    /// A parameter of the processor is not a number that it can work with.
    case invalidParameter(String)
    /// The system has no memory for the pixels.
    case outOfMemory

    /// The failure in words.
    public var description: String {
        switch self {
        case .unknown: "the processor gave no image and no reason"
        case .invalidSize(let size): "the target size \(size) is not a positive, finite number of pixels"
        case .invalidParameter(let parameter): "\(parameter) is nothing that the processor can work with"
        case .outOfMemory: "no memory for the processed pixels"
        }
    }
}
