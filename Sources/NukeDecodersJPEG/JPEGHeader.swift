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
    let density: ImageProperties.Density?
    /// Where in the file the EXIF data lies; empty if there is none.
    let exif: Range<Int>
    /// Where in the file the embedded thumbnail lies, which is a JPEG file; nil if there is none.
    let thumbnail: Range<Int>?

    /// The size as stored.
    var storedSize: ImageSize { ImageSize(width: width, height: height) }

    var properties: ImageProperties {
        var properties = ImageProperties(
            type: .jpeg, storedWidth: width, storedHeight: height, orientation: orientation, hasAlpha: false,
            bitDepth: bitDepth, colorModel: colorModel ?? .rgb, hasICCProfile: iccProfile != nil,
            isProgressive: isProgressive)
        properties.hasEmbeddedThumbnail = thumbnail != nil
        properties.density = density
        return properties
    }

    /// The embedded profile, where it is one for the samples stored and for the pixels made of them.
    var colorSpace: ColorSpace {
        // Gray files come as RGBA, for which a profile of gray says nothing; one of RGB is wrong in such a file.
        guard colorModel == .rgb, let iccProfile else { return .sRGB }
        return ColorSpace(iccProfile: iccProfile, for: .rgba8) ?? .sRGB
    }

    /// The divisor of a reduced decode: the largest that leaves both stored sides at least twice the target.
    ///
    /// 1 without a target. Reduced sides are rounded up.
    func denominator(for target: ImageSize?) -> Int {
        guard let target else { return 1 }
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
