import FoundationEssentials
import NukeKit

/// Makes the inputs: a 12-megapixel photo-like JPEG, and 1,000 small ones.
enum Inputs {
    static func make(in folder: String) async throws {
        let small = folder + "/small"
        try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
        try encode(picture(width: 4000, height: 3000, seed: 1), quality: 0.85).write(
            to: URL(filePath: folder + "/photo12.jpg"))
        for index in 0..<1000 {
            let name = String(repeating: "0", count: 4 - "\(index)".count) + "\(index).jpg"
            try encode(picture(width: 256, height: 192, seed: UInt64(index)), quality: 0.9).write(
                to: URL(filePath: small + "/" + name))
        }
    }

    private static func encode(_ image: Bitmap, quality: Double) throws -> Data {
        guard let encoder = ImageFormat.jpeg.makeEncoder?(ImageEncodingOptions(quality: quality)) else {
            throw ImageEncodingError.encoderNotRegistered("no JPEG encoder")
        }
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: image)
        return try encoder.encodedData(for: ImageContainer(image: image), context: context)
    }

    /// Slopes, waves and grain: about as many bits a pixel as photographs have.
    private static func picture(width: Int, height: Int, seed: UInt64) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else { fatalError("no memory") }
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    let grain = Int(state & 15) - 8
                    let wave = (x * y >> 9) & 63
                    let value = [x * 160 / width + wave, y * 160 / height + wave, (x + y) * 90 / (width + height) + 80]
                    for channel in 0..<3 {
                        let sample = UInt8(max(0, min(255, value[channel] + grain)))
                        row.storeBytes(of: sample, toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                    row.storeBytes(of: 255, toByteOffset: x * 4 + 3, as: UInt8.self)
                }
            }
        }
        return buffer.freeze(isOpaque: true)
    }
}
