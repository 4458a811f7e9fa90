import FoundationEssentials
import NukeCore
import NukeDecodersGIF
import NukeTestSupport

extension Bitmap {
    /// Gradients with noise on them: thousands of colours.
    static func photograph(_ width: Int, _ height: Int, seed: UInt64 = 1) throws -> Bitmap {
        var random = SeededGenerator(seed)
        return try picture(width, height, isOpaque: true) { x, y in
            let noise = Int.random(in: -9...9, using: &random)
            let samples = [x * 230 / width + 12, y * 220 / height + 12, (x + y) * 110 / (width + height) + 70]
            return samples.enumerated().reduce(0xFF00_0000) { $0 | UInt32($1.element + noise) << UInt32(8 * $1.offset) }
        }
    }

    /// The peak signal to noise ratio of the colours, in dB; infinite for equal ones.
    func peakSignalToNoise(_ other: Bitmap) -> Double {
        var sum = 0.0
        for (index, pair) in zip(byteArray, other.byteArray).enumerated() where index % 4 != 3 {
            let difference = Double(pair.0) - Double(pair.1)
            sum += difference * difference
        }
        return sum == 0 ? .infinity : -10 * _log10(sum / Double(width * height * 3) / (255 * 255))
    }

    private func _log10(_ value: Double) -> Double {
        // By halves, so that no more than the standard library is needed.
        var (rest, result) = (value, 0.0)
        while rest < 1 { (rest, result) = (rest * 10, result - 1) }
        var step = 0.5
        while step > 1e-6 {
            rest *= rest
            if rest >= 10 { (rest, result) = (rest / 10, result + step) }
            step /= 2
        }
        return result
    }
}

extension ImageEncoders.GIF {
    /// The file of a container.
    func file(_ container: ImageContainer) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        return try encodedData(for: container, context: context)
    }
}
