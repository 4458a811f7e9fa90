/// The processors that come with the package.
public enum ImageProcessors {}

extension ImageProcessing where Self == ImageProcessors.Resize {
    /// Resizes to fill or fit a size.
    public static func resize(
        size: ImageSize, unit: ImageProcessingOptions.Unit = .points,
        contentMode: ImageProcessingOptions.ContentMode = .aspectFill, crop: Bool = false, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(size: size, unit: unit, contentMode: contentMode, crop: crop, upscale: upscale)
    }

    /// Resizes to a width, keeping the shape.
    public static func resize(
        width: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(width: width, unit: unit, upscale: upscale)
    }

    /// Resizes to a height, keeping the shape.
    public static func resize(
        height: Double, unit: ImageProcessingOptions.Unit = .points, upscale: Bool = false
    ) -> ImageProcessors.Resize {
        ImageProcessors.Resize(height: height, unit: unit, upscale: upscale)
    }
}

extension ImageProcessing where Self == ImageProcessors.Anonymous {
    /// Processes with a closure; processors with equal ids count as equal.
    public static func process(
        id: String, _ closure: @escaping @Sendable (PlatformImage) -> PlatformImage?
    ) -> ImageProcessors.Anonymous {
        ImageProcessors.Anonymous(id: id, closure)
    }
}
