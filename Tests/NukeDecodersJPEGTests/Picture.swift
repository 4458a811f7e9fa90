import NukeCore

/// Pictures made by formulas.
enum Picture {
    /// Smooth colours that differ from place to place.
    static func gradient(width: Int, height: Int, format: PixelFormat = .rgba8, alpha: Double = 1) throws -> Bitmap {
        try make(width: width, height: height, format: format, isOpaque: alpha == 1) { x, y in
            let (u, v) = (Double(x) / Double(width), Double(y) / Double(height))
            return [u, v, (1 - u) * (1 - v), 1].map { $0 * alpha }
        }
    }

    /// A picture of premultiplied samples 0…1 that `sample` gives for each pixel: red, green, blue, alpha.
    static func make(
        width: Int, height: Int, format: PixelFormat = .rgba8, isOpaque: Bool = true, colorSpace: ColorSpace = .sRGB,
        sample: (Int, Int) -> [Double]
    ) throws -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else {
            throw ImageDecodingError.outOfMemory("no memory for a picture", codec: "test")
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    let values = sample(x, y)
                    for channel in 0..<format.channelCount {
                        let index = x * format.channelCount + channel
                        if format == .rgba16 {
                            let value = UInt16((values[channel] * 65_535).rounded())
                            row.storeBytes(of: value, toByteOffset: index * 2, as: UInt16.self)
                        } else {
                            let value = UInt8((values[channel] * 255).rounded())
                            row.storeBytes(of: value, toByteOffset: index, as: UInt8.self)
                        }
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }
}
