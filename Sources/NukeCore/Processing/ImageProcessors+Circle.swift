extension ImageProcessors {
    /// Cuts an image to the circle in its middle, transparent outside, with an optional border.
    ///
    /// An image that is not square is cropped to its middle first. Gray images become RGBA.
    public struct Circle: ImageProcessing, Hashable, CustomStringConvertible {
        private let border: ImageProcessingOptions.Border?

        /// Creates a processor; without a border by default.
        public init(border: ImageProcessingOptions.Border? = nil) { self.border = border }

        /// The circle; nil if there is no memory.
        public func process(_ image: PlatformImage) -> PlatformImage? { try? paint(image, scale: image.scale) }

        /// The container with the circle.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            var container = container
            container.image = try paint(container.image, scale: context.request.scale)
            return container
        }

        /// The same processor with the border's width in pixels.
        public func inPixels(scale: Double) -> any ImageProcessing { Circle(border: border?.inPixels(scale: scale)) }

        /// A square of the shorter side.
        public func outputSize(for size: ImageSize) -> ImageSize {
            ImageSize(width: min(size.width, size.height), height: min(size.width, size.height))
        }

        /// The border, if there is one.
        public var identifier: String {
            "com.github.kean/nuke/circle" + (border.map { "?border=\($0)" } ?? "")
        }

        /// The border, for people.
        public var description: String { "Circle(border: \(border?.description ?? "nil"))" }

        private func paint(_ image: Bitmap, scale: Double) throws(ImageProcessingError) -> Bitmap {
            let side = min(image.width, image.height)
            let painter = try ShapePainter(
                image, left: (image.width - side) / 2, top: (image.height - side) / 2, width: side, height: side,
                radius: Double(side) / 2, border: border, scale: scale)
            return try painter.paint()
        }
    }
}
