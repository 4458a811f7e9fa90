import FoundationEssentials
import NukeKit

/// Makes the inputs: a 12-megapixel photo-like JPEG, 1,000 small ones, and a drawing.
enum Inputs {
    static func make(in folder: String) async throws {
        let small = folder + "/small"
        try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
        try encode(picture(width: 4000, height: 3000, seed: 1), quality: 0.85).write(
            to: URL(filePath: folder + "/photo12.jpg"))
        try Data(drawing.utf8).write(to: URL(filePath: folder + "/scene.svg"))
        for index in 0..<1000 {
            let name = String(repeating: "0", count: 4 - "\(index)".count) + "\(index).jpg"
            try encode(picture(width: 256, height: 192, seed: UInt64(index)), quality: 0.9).write(
                to: URL(filePath: small + "/" + name))
        }
    }

    /// 400 paths with gradients, under a clip, some of them blurred.
    private static var drawing: String {
        var numbers = Numbers(state: 7)
        func coordinate() -> Int { Int(numbers.next() % 1000) }
        let gradients = (0..<20).map { index in
            """
            <linearGradient id="g\(index)"><stop offset="0" stop-color="rgb(\(coordinate() / 4),\(coordinate() / 4),90)"/>\
            <stop offset="1" stop-color="rgb(40,\(coordinate() / 4),\(coordinate() / 4))" stop-opacity="0.7"/></linearGradient>
            """
        }
        let paths = (0..<400).map { index in
            let curves = (0..<6).map { _ in
                "C\((0..<6).map { _ in "\(coordinate())" }.joined(separator: " "))"
            }
            let filter = index % 130 == 60 ? " filter=\"url(#b)\"" : ""
            return """
                <path d="M\(coordinate()) \(coordinate())\(curves.joined())Z" fill="url(#g\(index % 20))" \
                fill-opacity="0.3" stroke="black" stroke-width="\(index % 3)"\(filter)/>
                """
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000" width="1000" height="1000"><defs>
            \(gradients.joined(separator: "\n"))
            <filter id="b"><feGaussianBlur stdDeviation="6"/></filter>
            <clipPath id="c"><circle cx="500" cy="500" r="490"/></clipPath></defs><g clip-path="url(#c)">
            \(paths.joined(separator: "\n"))
            </g></svg>
            """
    }

    private struct Numbers {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
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
