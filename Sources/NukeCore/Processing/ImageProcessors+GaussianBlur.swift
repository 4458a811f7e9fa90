extension ImageProcessors {
    /// Blurs an image as a Gaussian does, at a cost that does not depend on the radius.
    ///
    /// Size, format and opacity stay; what lies beyond the edges counts as the pixel at the edge. Transparent pixels blur
    /// with their alpha, so no colour bleeds out of them.
    public struct GaussianBlur: ImageProcessing, Hashable, CustomStringConvertible {
        /// The largest radius; greater ones count as this.
        private static let maximumRadius = 1000

        private let radius: Int

        /// Creates a processor; the radius is the standard deviation in pixels, at most 1,000; 8 by default.
        ///
        /// With 0 and less the image stays as it is.
        public init(radius: Int = 8) { self.radius = min(max(0, radius), Self.maximumRadius) }

        /// The blurred image; the same object for radius 0, nil if there is no memory.
        public func process(_ image: PlatformImage) -> PlatformImage? {
            radius == 0 ? image : BoxBlur.blur(image, radius: radius)
        }

        /// The container with the blurred image.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            guard let image = process(container.image) else { throw ImageProcessingError.outOfMemory }
            var container = container
            container.image = image
            return container
        }

        /// The radius.
        public var identifier: String { "com.github.kean/nuke/gaussian_blur?radius=\(radius)" }

        /// The radius, for people.
        public var description: String { "GaussianBlur(radius: \(radius))" }
    }
}
