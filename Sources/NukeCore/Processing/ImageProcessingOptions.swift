/// Settings that several processors share.
public enum ImageProcessingOptions {
    /// What a length is measured in.
    public enum Unit: Hashable, Sendable {
        /// Pixels divided by the image's scale, which is 1 unless the request says otherwise.
        case points
        /// Pixels.
        case pixels
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
