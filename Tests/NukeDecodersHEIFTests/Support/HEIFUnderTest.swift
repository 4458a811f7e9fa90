import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeDecodersHEIF

extension Trait where Self == ConditionTrait {
    /// Skips what needs libheif where it is not installed, or was not when the package was built.
    static var needsLibrary: Self {
        .enabled(if: HEIFLibrary.shared.version != nil, "there is no libheif")
    }
}

/// Decodes and encodes as one load does.
enum HEIFUnderTest {
    static let types: [AssetType] = [.heic, .avif]

    static func context(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingContext {
        var context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        change(&context)
        return context
    }

    static func container(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) throws(ImageDecodingError) -> ImageContainer {
        try ImageDecoders.HEIF(context: context(data, change)).decode(data)
    }

    static func image(_ data: Data) throws(ImageDecodingError) -> Bitmap { try container(data).image }

    static func properties(_ data: Data) throws -> ImageProperties {
        try #require(try ImageDecoders.HEIF(context: context(data)).properties(of: data))
    }

    static func error(
        _ data: Data, _ change: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> ImageDecodingError? {
        do throws(ImageDecodingError) {
            _ = try container(data, change)
            return nil
        } catch {
            return error
        }
    }

    /// A file of a picture; its chroma is at the full size, so colours stay what they were.
    static func encoded(_ image: Bitmap, _ type: AssetType, quality: Double = 0.95) throws -> Data {
        let options = ImageEncodingOptions(quality: quality, chromaSubsampling: .none)
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        let encoder = ImageEncoders.HEIF(type: type, options: options)
        return try encoder.encodedData(for: ImageContainer(image: image), context: context)
    }
}

/// Pictures made by formulas.
enum Picture {
    /// A picture of premultiplied samples 0…255 that `sample` gives for each pixel: red, green, blue, alpha.
    static func make(
        _ width: Int, _ height: Int, format: PixelFormat = .rgba8, isOpaque: Bool = true,
        colorSpace: ColorSpace = .sRGB, sample: (Int, Int) -> [Int]
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else {
            throw ImageProcessingError.outOfMemory
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    for (channel, value) in sample(x, y).prefix(format.channelCount).enumerated() {
                        let index = x * format.channelCount + channel
                        if format == .rgba16 {
                            row.storeBytes(of: UInt16(value * 257), toByteOffset: index * 2, as: UInt16.self)
                        } else {
                            row.storeBytes(of: UInt8(value), toByteOffset: index, as: UInt8.self)
                        }
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }

    /// Smooth colours that differ from place to place.
    static func gradient(_ width: Int, _ height: Int) throws -> Bitmap {
        try make(width, height) { x, y in [255 * x / width, 255 * y / height, 255 - 255 * x / width, 255] }
    }

    /// One colour.
    static func flat(_ width: Int, _ height: Int, _ color: [Int]) throws -> Bitmap {
        try make(width, height) { _, _ in color + [255] }
    }
}

extension Bitmap {
    /// The samples of a pixel.
    func samples(_ x: Int, _ y: Int) -> [Int] {
        let row = row(y)
        return (0..<4).map { Int(row.unsafeLoad(fromByteOffset: x * 4 + $0, as: UInt8.self)) }
    }

    /// Whether the colours of a pixel are at most so far from others.
    func isNear(_ color: [Int], _ x: Int, _ y: Int, by tolerance: Int = 6) -> Bool {
        zip(samples(x, y), color).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
