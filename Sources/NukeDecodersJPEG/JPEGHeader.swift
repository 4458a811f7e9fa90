internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a file tells before its first scan.
struct JPEGHeader {
    /// Columns as stored.
    let width: Int
    /// Rows as stored.
    let height: Int
    let bitDepth: Int
    /// Nil for a number of components that has no meaning of its own.
    let colorModel: ImageProperties.ColorModel?
    let isProgressive: Bool
    /// Whether the picture comes in several scans, whose coefficients are all held until the last is read.
    let hasMultipleScans: Bool
    /// Bytes of the coefficients of the whole stored picture.
    let coefficientBytes: Int
    let orientation: ImageOrientation
    let iccProfile: Data?

    /// The size of the upright picture.
    var uprightSize: ImageSize { orientation.applied(to: ImageSize(width: width, height: height)) }

    var properties: ImageProperties {
        ImageProperties(
            type: .jpeg, storedWidth: width, storedHeight: height, orientation: orientation, hasAlpha: false,
            bitDepth: bitDepth, colorModel: colorModel ?? .rgb, hasICCProfile: iccProfile != nil,
            isProgressive: isProgressive)
    }

    /// The divisor of a reduced decode: the largest that leaves both sides at least twice the hint, which is upright.
    ///
    /// 1 without a hint. Reduced sides are rounded up.
    func denominator(for hint: ImageSize?) -> Int {
        guard let hint else { return 1 }
        let target = orientation.applied(to: hint)
        let divisors = [8, 4, 2].first { divisor in
            Double(Self.reduced(width, by: divisor)) >= 2 * target.width
                && Double(Self.reduced(height, by: divisor)) >= 2 * target.height
        }
        return divisors ?? 1
    }

    /// Bytes that the codec holds beside the pixels.
    var codecBytes: Int { hasMultipleScans ? coefficientBytes : 0 }

    /// Bytes of the pixels of the picture reduced by a divisor; sides are 16-bit numbers in the file, so the product fits.
    func decodedBytes(reducedBy divisor: Int) -> Int {
        Self.reduced(width, by: divisor) * Self.reduced(height, by: divisor) * PixelFormat.rgba8.bytesPerPixel
    }

    /// A side of the picture reduced by a divisor, as the library rounds it.
    static func reduced(_ side: Int, by divisor: Int) -> Int { (side + divisor - 1) / divisor }
}
