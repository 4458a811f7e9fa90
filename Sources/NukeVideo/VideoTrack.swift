internal import NukeCore

/// What a container tells of the stream that is shown.
struct VideoTrack: Sendable {
    /// Columns and rows as coded.
    let codedWidth, codedHeight: Int
    /// Seconds; nil if it is not told.
    let duration: Double?
    /// Pictures a second; nil if it is not told.
    let frameRate: Double?
    /// A pixel's width by its height; 0 if it is not told.
    var aspect: (Int, Int)
    /// How pictures are to be turned.
    let orientation: ImageOrientation
    /// Whether it is one picture that goes with sound.
    let isPicture: Bool
    let hasAudio: Bool
    /// libav's name of the coding.
    let codec: String

    /// The size at which pictures are shown, upright: of square pixels, for which the shorter side grows.
    var size: ImageSize {
        let (width, height) = squared
        return orientation.applied(to: ImageSize(width: width, height: height))
    }

    private var squared: (Int, Int) {
        let (numerator, denominator) = aspect
        // Shapes beyond these are no pictures but mistakes.
        guard numerator > 0, denominator > 0, numerator != denominator else { return (codedWidth, codedHeight) }
        let ratio = Double(numerator) / Double(denominator)
        guard (1.0 / 16...16).contains(ratio) else { return (codedWidth, codedHeight) }
        if ratio > 1 { return (Int((Double(codedWidth) * ratio).rounded()), codedHeight) }
        return (codedWidth, max(1, Int((Double(codedHeight) / ratio).rounded())))
    }

    /// The nearest orientation to a display matrix (ISO/IEC 14496-12, 8.3.2), of which the upper left is this.
    ///
    /// It maps a column x and row y to a·x + c·y and b·x + d·y.
    static func orientation(a: Int32, b: Int32, c: Int32, d: Int32) -> ImageOrientation {
        let (a, b, c, d) = (Int64(a), Int64(b), Int64(c), Int64(d))
        if abs(a) + abs(d) >= abs(b) + abs(c) {
            switch (a >= 0, d >= 0) {
            case (true, true): return .up
            case (false, true): return .upMirrored
            case (false, false): return .down
            case (true, false): return .downMirrored
            }
        }
        switch (b >= 0, c >= 0) {
        case (true, true): return .leftMirrored
        case (true, false): return .right
        case (false, false): return .rightMirrored
        case (false, true): return .left
        }
    }
}

/// What is known of a decoded picture.
struct VideoFrame: Sendable {
    /// Seconds from the start.
    let time: Double
    /// Seconds; 0 if it is not told.
    let duration: Double
    /// Columns and rows as decoded.
    let width, height: Int
    /// Whether the decoder has made something up.
    let isDamaged: Bool
    let isInterlaced: Bool
    /// Code points of ITU-T H.273.
    let primaries, transfer: Int
    /// A pixel's width by its height; 0 if the coding does not tell.
    let aspect: (Int, Int)
}
