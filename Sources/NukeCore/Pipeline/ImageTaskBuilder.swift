#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A load that is put together step by step: `pipeline.image(with: url).resize(width: 320).priority(.high).start { … }`.
///
/// A value: every step gives a new one, and nothing is loaded before the end of the chain.
public struct ImageTaskBuilder: Sendable {
    /// What has been put together so far.
    public private(set) var request: ImageRequest
    private let pipeline: ImagePipeline

    init(request: ImageRequest, pipeline: ImagePipeline) {
        self.request = request
        self.pipeline = pipeline
    }

    private func with(_ change: (inout ImageRequest) -> Void) -> ImageTaskBuilder {
        var copy = self
        change(&copy.request)
        return copy
    }

    // MARK: Processing

    /// Adds a processor behind those that are there.
    public func process(with processor: any ImageProcessing) -> ImageTaskBuilder { process(with: [processor]) }

    /// Adds processors behind those that are there.
    public func process(with processors: [any ImageProcessing]) -> ImageTaskBuilder {
        with { $0.processors += processors }
    }

    /// Adds a closure as a processor; those with equal ids count as equal.
    public func process(
        id: String, _ closure: @escaping @Sendable (PlatformImage) -> PlatformImage?
    ) -> ImageTaskBuilder { process(with: .process(id: id, closure)) }

    /// Resizes to fill or fit a size.
    public func resize(
        size: ImageSize, unit: ImageProcessingOptions.Unit = .points,
        contentMode: ImageProcessingOptions.ContentMode = .aspectFill, crop: Bool = false, upscale: Bool = false
    ) -> ImageTaskBuilder {
        process(with: .resize(size: size, unit: unit, contentMode: contentMode, crop: crop, upscale: upscale))
    }

    /// Resizes to a width, keeping the shape.
    public func resize(
        width: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageTaskBuilder { process(with: .resize(width: width, unit: unit, upscale: upscale)) }

    /// Resizes to a height, keeping the shape.
    public func resize(
        height: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageTaskBuilder { process(with: .resize(height: height, unit: unit, upscale: upscale)) }

    /// Fills a size and cuts what sticks out.
    public func fill(
        width: Double, height: Double, unit: ImageProcessingOptions.Unit = .points
    ) -> ImageTaskBuilder { resize(size: ImageSize(width: width, height: height), unit: unit, crop: true) }

    /// Blurs.
    public func blur(radius: Int = 8) -> ImageTaskBuilder { process(with: .gaussianBlur(radius: radius)) }

    // MARK: Request

    /// Sets how urgent the load is.
    public func priority(_ priority: ImageRequest.Priority) -> ImageTaskBuilder { with { $0.priority = priority } }

    /// Adds options.
    public func options(_ options: ImageRequest.Options) -> ImageTaskBuilder { with { $0.options.formUnion(options) } }

    /// Asks for a small version, decoded as cheaply as the format allows.
    public func thumbnail(_ thumbnail: ImageRequest.ThumbnailOptions?) -> ImageTaskBuilder {
        with { $0.thumbnail = thumbnail }
    }

    /// Sets how many pixels a point of the image has.
    public func scale(_ scale: Double) -> ImageTaskBuilder { with { $0.scale = scale } }

    /// Sets the identity of the image in caches.
    public func imageID(_ imageID: String?) -> ImageTaskBuilder { with { $0.imageID = imageID } }

    /// Sets a value of the caller's own.
    public func userInfo(_ key: ImageRequest.UserInfoKey, _ value: (any Sendable)?) -> ImageTaskBuilder {
        with { $0.userInfo[key] = value }
    }

    // MARK: Loading

    /// The image; cancelling the Swift task cancels the load.
    public func image() async throws(ImagePipeline.Error) -> PlatformImage { try await pipeline.image(for: request) }

    /// The response; cancelling the Swift task cancels the load.
    public func response() async throws(ImagePipeline.Error) -> ImageResponse {
        try await pipeline.imageTask(with: request).response
    }

    /// Starts the load and returns its task.
    @discardableResult
    public func start() -> ImageTask { pipeline.imageTask(with: request) }

    /// Starts the load and calls the closure on the main actor at the end.
    @discardableResult
    public func start(
        _ completion: @escaping @MainActor (Result<ImageResponse, ImagePipeline.Error>) -> Void
    ) -> ImageTask { pipeline.loadImage(with: request, completion: completion) }

    /// Starts the load and calls the closures on the main actor, on the way and at the end.
    @discardableResult
    public func start(
        progress: (@MainActor (_ preview: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)?,
        completion: @escaping @MainActor (Result<ImageResponse, ImagePipeline.Error>) -> Void
    ) -> ImageTask { pipeline.loadImage(with: request, progress: progress, completion: completion) }

    /// Starts the load and calls the closures on an executor, on the way and at the end.
    @discardableResult
    public func start(
        executor: any TaskExecutor,
        progress: (@Sendable (_ preview: ImageResponse?, _ completed: Int64, _ total: Int64) -> Void)? = nil,
        completion: @escaping @Sendable (Result<ImageResponse, ImagePipeline.Error>) -> Void
    ) -> ImageTask {
        pipeline.loadImage(with: request, executor: executor, progress: progress, completion: completion)
    }
}

extension ImagePipeline {
    /// Begins a chain of steps that describes a load of the image at a URL.
    public func image(with url: URL) -> ImageTaskBuilder { image(with: ImageRequest(url: url)) }

    /// Begins a chain of steps that describes a load, with what the request asks for.
    public func image(with request: ImageRequest) -> ImageTaskBuilder {
        ImageTaskBuilder(request: request, pipeline: self)
    }
}
