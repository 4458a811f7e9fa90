extension ImageProcessors {
    /// Rounds the corners of an image, transparent outside, with an optional border.
    ///
    /// The size stays. Gray images become RGBA.
    public struct RoundedCorners: ImageProcessing, Hashable, CustomStringConvertible {
        private let radius: Double
        private let unit: LengthUnit
        private let border: ImageProcessingOptions.Border?

        /// Creates a processor.
        ///
        /// - Parameters:
        ///   - radius: The corners' radius, at most half the shorter side; 0 and less leave the corners as they are.
        ///   - unit: What the radius is measured in; points by default.
        ///   - border: A line along the edge; none by default.
        public init(
            radius: Double, unit: ImageProcessingOptions.Unit = .points, border: ImageProcessingOptions.Border? = nil
        ) {
            self.radius = radius > 0 || radius.isNaN ? radius : 0
            self.unit = LengthUnit(unit)
            self.border = border
        }

        /// The image with round corners; the same object if nothing is to be done, nil if the radius is no finite number.
        public func process(_ image: PlatformImage) -> PlatformImage? { try? paint(image, scale: image.scale) }

        /// The container with the image with round corners.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            var container = container
            container.image = try paint(container.image, scale: context.request.scale)
            return container
        }

        /// The same processor with its lengths in pixels.
        public func inPixels(scale: Double) -> any ImageProcessing {
            RoundedCorners(
                radius: radius * unit.pixels(scale: scale), unit: .pixels, border: border?.inPixels(scale: scale))
        }

        /// Radius and border.
        public var identifier: String {
            "com.github.kean/nuke/rounded_corners?radius=\(radius)" + (border.map { ",border=\($0)" } ?? "")
        }

        /// Radius and border, for people.
        public var description: String {
            "RoundedCorners(radius: \(radius) pixels, border: \(border?.description ?? "nil"))"
        }

        private func paint(_ image: Bitmap, scale: Double) throws(ImageProcessingError) -> Bitmap {
            let radius = radius * unit.pixels(scale: scale)
            guard radius.isFinite else { throw .invalidParameter("the radius \(radius)") }
            if radius == 0, (border?.width(scale: scale) ?? 0) == 0 { return image }
            return try ShapePainter(image, radius: radius, border: border, scale: scale).paint()
        }
    }
}
