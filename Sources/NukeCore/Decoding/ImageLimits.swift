/// What a picture may ask for before any of its pixels are decoded.
public struct ImageLimits: Hashable, Sendable {
    /// Pixels of the stored picture; 100,000,000 by default.
    public var pixelCount: Int = 100_000_000
    /// Pixels of either side; 65,535 by default.
    public var sideLength: Int = 65_535
    /// Bytes that one decode may hold at once; 512 MiB by default.
    public var workingSetBytes: Int = 512 << 20
    /// Frames of an animation; 10,000 by default.
    public var frameCount: Int = 10_000
    /// Scans of a progressive JPEG; 100 by default.
    public var scanCount: Int = 100
    /// Bytes of metadata read from one file; 16 MiB by default.
    public var metadataBytes: Int = 16 << 20
    /// Seconds one decode may take, where the codec can be stopped; 30 by default.
    public var seconds: Double = 30

    /// Creates the default limits.
    public init() {}

    /// Throws `limitExceeded` unless a picture of this size, decoded as told, stays within the limits.
    ///
    /// - Parameters:
    ///   - width: Columns that the header declares, in pixels.
    ///   - height: Rows that the header declares, in pixels.
    ///   - decodedBytes: Bytes of the pixels that will be kept; nil if that is the whole picture as RGBA8.
    ///   - codecBytes: Bytes that the codec holds beside them.
    ///   - codec: The codec's name, for the error.
    public func check(
        width: Int, height: Int, decodedBytes: Int? = nil, codecBytes: Int = 0, codec: String
    ) throws(ImageDecodingError) {
        guard width > 0, height > 0 else {
            throw .corruptData("the header declares \(width)x\(height) pixels", codec: codec)
        }
        guard width <= sideLength, height <= sideLength else {
            throw .limitExceeded("\(width)x\(height) pixels; a side may have \(sideLength)", codec: codec)
        }
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= pixelCount else {
            throw .limitExceeded("\(width)x\(height) pixels; a picture may have \(pixelCount)", codec: codec)
        }
        let (bytes, bytesOverflow) = (decodedBytes ?? pixels * 4).addingReportingOverflow(codecBytes)
        guard !bytesOverflow, bytes <= workingSetBytes else {
            throw .limitExceeded(
                "\(width)x\(height) pixels need \(bytes >> 20) MiB; a decode may hold \(workingSetBytes >> 20) MiB",
                codec: codec)
        }
    }
}
