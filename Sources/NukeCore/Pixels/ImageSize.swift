/// A width and a height, in pixels unless said otherwise.
public struct ImageSize: Hashable, Sendable, CustomStringConvertible {
    /// The horizontal extent.
    public var width: Double
    /// The vertical extent.
    public var height: Double

    /// Creates a size.
    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Creates a size of whole pixels.
    public init(width: Int, height: Int) {
        self.init(width: Double(width), height: Double(height))
    }

    /// The form used in identifiers: `(640.0, 480.0)`.
    public var description: String { "(\(width), \(height))" }
}
