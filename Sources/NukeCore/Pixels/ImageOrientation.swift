/// How stored rows and columns map to the upright picture: the values of the EXIF tag 0x0112.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Stored upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored
    /// Turned by 180°.
    case down
    /// Mirrored top to bottom.
    case downMirrored
    /// Mirrored along the main diagonal.
    case leftMirrored
    /// To be turned by 90° clockwise.
    case right
    /// Mirrored along the other diagonal.
    case rightMirrored
    /// To be turned by 90° counter-clockwise.
    case left

    /// Whether the upright picture's width is the stored height.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The upright size of a stored size, and the other way round.
    public func applied(to size: ImageSize) -> ImageSize {
        swapsSides ? ImageSize(width: size.height, height: size.width) : size
    }
}
