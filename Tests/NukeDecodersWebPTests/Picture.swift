import FoundationEssentials
import NukeCore
import NukeDecodersWebP
import Testing

/// Pictures made by formulas.
enum Picture {
    /// Smooth colours with some texture, that differ from place to place.
    static func photo(width: Int, height: Int) throws -> Bitmap {
        try make(width: width, height: height) { x, y in
            let grain = (x * 37 + y * 91 + x * y * 13) % 23
            return [UInt8(x * 200 / width + grain), UInt8(y * 200 / height + grain), UInt8((x + y) % 200 + grain), 255]
        }
    }

    /// Every alpha with every colour that can be under it, more or less.
    static func translucent(width: Int, height: Int) throws -> Bitmap {
        try make(width: width, height: height, isOpaque: false) { x, y in
            let alpha = (x * 5 + y * 3) % 256
            return [alpha * (x % 7) / 6, alpha * (y % 5) / 4, alpha * ((x * y) % 11) / 10, alpha].map { UInt8($0) }
        }
    }

    /// One colour.
    static func flat(_ pixel: [UInt8], width: Int, height: Int) throws -> Bitmap {
        try make(width: width, height: height, isOpaque: pixel[3] == 255) { _, _ in pixel }
    }

    /// A picture of premultiplied RGBA8.
    static func make(
        width: Int, height: Int, isOpaque: Bool = true, colorSpace: ColorSpace = .sRGB,
        pixel: (Int, Int) -> [UInt8]
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else {
            throw ImageDecodingError.outOfMemory("no memory for a picture", codec: "test")
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    for (channel, sample) in pixel(x, y).enumerated() {
                        row.storeBytes(of: sample, toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }

    /// A file of a picture, without loss where the quality is 1.
    static func encode(_ image: Bitmap, quality: Double = 1) throws -> Data {
        try ImageEncoders.WebP(options: ImageEncodingOptions(quality: quality))
            .encodedData(
                for: ImageContainer(image: image),
                context: ImageEncodingContext(request: ImageRequest(url: nil), image: image))
    }
}
