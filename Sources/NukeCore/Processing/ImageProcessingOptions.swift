/// Settings that several processors share.
public enum ImageProcessingOptions {
    /// What a length is measured in.
    public enum Unit: Hashable, Sendable {
        /// Pixels divided by the image's scale, which is 1 unless the request says otherwise.
        case points
        /// Pixels.
        case pixels
    }

    /// A line along the edge of a shape, inside it.
    public struct Border: Hashable, Sendable, CustomStringConvertible {
        let color: PlatformColor
        private let length: Float
        private let unit: LengthUnit

        /// Creates a border; a width that is not a positive, finite number means no line.
        ///
        /// - Parameters:
        ///   - color: The colour, blended over the image if it is not opaque.
        ///   - width: How wide the line is, all of it visible; 1 by default.
        ///   - unit: What the width is measured in; points by default.
        public init(color: PlatformColor, width: Double = 1, unit: Unit = .points) {
            self.color = color
            length = Float(width)
            self.unit = LengthUnit(unit)
        }

        /// Pixels, 0 if there is nothing to draw.
        func width(scale: Double) -> Double {
            let pixels = Double(length) * unit.pixels(scale: scale)
            return pixels.isFinite && pixels > 0 ? pixels : 0
        }

        /// The same border with its width in pixels.
        func inPixels(scale: Double) -> Border {
            Border(color: color, width: Double(length) * unit.pixels(scale: scale), unit: .pixels)
        }

        /// Colour and width, as identifiers have it.
        public var description: String { "Border(color: \(color.hex), width: \(Double(length)) pixels)" }
    }

    /// How an image is brought to a size of another shape.
    public enum ContentMode: Hashable, Sendable, CustomStringConvertible {
        /// As small as it can be while it covers the size.
        case aspectFill
        /// As large as it can be while it stays within the size.
        case aspectFit

        /// The name as written in code, with the dot.
        public var description: String { self == .aspectFill ? ".aspectFill" : ".aspectFit" }
    }
}

extension ImageSize {
    /// The size with both sides multiplied.
    func scaled(by factor: Double) -> ImageSize { ImageSize(width: width * factor, height: height * factor) }

    /// Both sides rounded to the nearest whole pixel, at least 1.
    var roundedToPixels: (width: Int, height: Int) {
        (max(1, Int(width.rounded())), max(1, Int(height.rounded())))
    }
}

/// What a processor's lengths are measured in; no part of its identity.
///
/// Processors are compared by their lengths alone, as if at scale 1. Requests of another scale compare them in pixels.
struct LengthUnit: Hashable, Sendable {
    private let unit: ImageProcessingOptions.Unit

    init(_ unit: ImageProcessingOptions.Unit) { self.unit = unit }

    /// How many pixels one is; a scale that is not a positive, finite number counts as 1.
    func pixels(scale: Double) -> Double {
        unit == .points && scale > 0 && scale.isFinite ? scale : 1
    }

    static func == (a: LengthUnit, b: LengthUnit) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
