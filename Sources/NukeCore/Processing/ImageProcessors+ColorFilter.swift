extension ImageProcessors {
    /// Changes the colours of an image; size and opacity stay.
    ///
    /// Gray images stay gray where the result is gray, and become RGBA where it is not.
    public struct ColorFilter: ImageProcessing, Hashable, CustomStringConvertible {
        enum Operation: Hashable, Sendable {
            case matrix(ColorMatrix)
            case curve(ColorCurve)
            case vignette(intensity: Double, radius: Double)
        }

        let operation: Operation
        private let text: String

        private init(_ text: String, _ operation: Operation) {
            self.text = text
            self.operation = operation
        }

        init(_ text: String, _ matrix: ColorMatrix) { self.init(text, .matrix(matrix)) }

        /// The filtered image; nil if a parameter is no finite number, or there is no memory.
        public func process(_ image: PlatformImage) -> PlatformImage? { try? filter(image) }

        /// The container with the filtered image.
        public func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            var container = container
            container.image = try filter(container.image)
            return container
        }

        /// The name and the parameters.
        public var identifier: String { "com.github.kean/nuke/color_filter?\(text)" }

        /// The name and the parameters, for people.
        public var description: String { "ColorFilter(\(text))" }

        private func filter(_ image: Bitmap) throws(ImageProcessingError) -> Bitmap {
            switch operation {
            case .matrix(let matrix):
                guard matrix.isFinite else { throw .invalidParameter("the filter \(text)") }
                return try ColorPainter(matrix.keepsGray ? image : image.withColorChannels()).paint(matrix)
            case .curve(let curve):
                guard curve.isFinite else { throw .invalidParameter("the filter \(text)") }
                return try ColorPainter(image).paint(curve)
            case .vignette(let intensity, let radius):
                guard intensity.isFinite, radius.isFinite else { throw .invalidParameter("the filter \(text)") }
                return try ColorPainter(image).paintVignette(intensity: intensity, radius: radius)
            }
        }
    }
}

extension ImageProcessors.ColorFilter {
    /// Brown tones, as old photographs have them; intensity 0…1.
    public static func sepia(intensity: Double = 1) -> Self {
        Self("sepia,intensity=\(intensity)", .sepia.mixed(intensity))
    }

    /// Black and white.
    public static let mono = Self("mono", .saturation(0))

    /// Black and white with strong contrast.
    public static let noir = Self("noir", ColorMatrix.saturation(0).followed(by: .contrast(1.6)))

    /// Black and white with weak contrast.
    public static let tonal = Self("tonal", ColorMatrix.saturation(0).followed(by: .contrast(0.8)))

    /// The negative.
    public static let invert = Self("invert", .invert)

    /// Colours stronger, above 1, or weaker; 0 is black and white.
    public static func saturation(_ amount: Double) -> Self { Self("saturation=\(amount)", .saturation(amount)) }

    /// Lighter, above 0, or darker; −1…1.
    public static func brightness(_ amount: Double) -> Self { Self("brightness=\(amount)", .brightness(amount)) }

    /// More contrast, above 1, or less; 0 is gray.
    public static func contrast(_ amount: Double) -> Self { Self("contrast=\(amount)", .contrast(amount)) }

    /// Exposed longer, above 0, or shorter; one stop doubles the light.
    public static func exposure(_ stops: Double) -> Self { Self("exposure=\(stops)", .curve(.exposure(stops))) }

    /// Every component raised to a power: below 1 lighter, above 1 darker.
    public static func gamma(_ power: Double) -> Self { Self("gamma=\(power)", .curve(.gamma(power))) }

    /// Hues turned around the colour circle, by an angle in radians.
    public static func hue(_ angle: Double) -> Self { Self("hue=\(angle)", .hue(angle)) }

    /// Shades of one colour, by luminance; intensity 0…1.
    public static func monochrome(_ color: PlatformColor, intensity: Double = 1) -> Self {
        Self("monochrome=\(color.hex),intensity=\(intensity)", ColorMatrix.monochrome(color).mixed(intensity))
    }

    /// So many levels a component, at least 2.
    public static func posterize(levels: Int) -> Self {
        Self("posterize=\(max(2, levels))", .curve(.posterize(max(2, levels))))
    }

    /// Each component full from a value on, 0…1, and none below.
    public static func threshold(_ value: Double) -> Self { Self("threshold=\(value)", .curve(.threshold(value))) }

    /// Darker towards the corners.
    ///
    /// - Parameters:
    ///   - intensity: How much of the light the corners lose, 0…1; 1 by default.
    ///   - radius: How far from the corners to the middle it begins, 0…1; 1, the whole way, by default.
    public static func vignette(intensity: Double = 1, radius: Double = 1) -> Self {
        Self(
            "vignette,intensity=\(intensity),radius=\(radius)", .vignette(intensity: intensity, radius: radius))
    }
}
