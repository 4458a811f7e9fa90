public import NukeCore

/// Pictures made by arithmetic from a seed: the same on every run and machine.
public enum GeneratedImage {
    /// A picture like a photograph: soft shapes over noise of every size, and the grain of a sensor.
    public static func photo(width: Int, height: Int, seed: UInt64) -> Bitmap {
        let octaves = (0..<6).map { Noise(seed: seed &* 31 &+ UInt64($0), cell: Double(width) / Double(4 << $0)) }
        var grain = SplitMix(seed: seed)
        return fill(width: width, height: height, isOpaque: true) { x, y, pixel in
            var (value, weight) = (0.0, 0.5)
            for noise in octaves {
                value += noise.value(Double(x), Double(y)) * weight
                weight *= 0.5
            }
            let u = Double(x) / Double(width), v = Double(y) / Double(height)
            let grainValue = Double(grain.next() & 15) - 7.5
            pixel[0] = clamp(value * 190 + u * 60 + grainValue)
            pixel[1] = clamp(value * 170 + v * 70 + grainValue)
            pixel[2] = clamp(value * 150 + (1 - u) * 50 + 25 + grainValue)
            pixel[3] = 255
        }
    }

    /// A disc that fades out, on nothing: premultiplied.
    public static func disc(size: Int) -> Bitmap {
        fill(width: size, height: size, isOpaque: false) { x, y, pixel in
            let dx = Double(x) / Double(size) - 0.5, dy = Double(y) / Double(size) - 0.5
            let alpha = max(0, min(1, 1.5 - (dx * dx + dy * dy).squareRoot() * 4))
            pixel[0] = clamp(alpha * 255 * Double(x) / Double(size))
            pixel[1] = clamp(alpha * 120)
            pixel[2] = clamp(alpha * 255 * Double(y) / Double(size))
            pixel[3] = clamp(alpha * 255)
        }
    }

    /// A slope of luminance, as gray pixels.
    public static func gray(width: Int, height: Int) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: .gray8) else {
            preconditionFailure("no memory for \(width)x\(height) pixels")
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    let value = UInt8((x * 200 / width + y * 55 / height) & 255)
                    row.storeBytes(of: value, toByteOffset: x, as: UInt8.self)
                }
            }
        }
        return buffer.freeze()
    }

    /// A slope in 16 bits a sample, finer than 8 bits can tell.
    public static func deep(width: Int, height: Int) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: .rgba16) else {
            preconditionFailure("no memory for \(width)x\(height) pixels")
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    let values = [x * 65_535 / width, y * 65_535 / height, (x + y) * 65_535 / (width + height), 65_535]
                    for (channel, value) in values.enumerated() {
                        row.storeBytes(of: UInt16(value), toByteOffset: x * 8 + channel * 2, as: UInt16.self)
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: true)
    }

    private static func fill(
        width: Int, height: Int, isOpaque: Bool, _ make: (Int, Int, inout [4 of UInt8]) -> Void
    ) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else {
            preconditionFailure("no memory for \(width)x\(height) pixels")
        }
        for y in 0..<height {
            buffer.withRow(y) { row in
                var pixel: [4 of UInt8] = [0, 0, 0, 0]
                for x in 0..<width {
                    make(x, y, &pixel)
                    for channel in 0..<4 {
                        row.storeBytes(of: pixel[channel], toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: isOpaque)
    }

    private static func clamp(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value))) }
}

/// Values on a grid, smoothly joined.
struct Noise: Sendable {
    let seed: UInt64
    let cell: Double

    /// A value from 0 to 1.
    func value(_ x: Double, _ y: Double) -> Double {
        let (column, row) = ((x / cell).rounded(.down), (y / cell).rounded(.down))
        let (u, v) = (smooth(x / cell - column), smooth(y / cell - row))
        let (i, j) = (Int(column), Int(row))
        let top = corner(i, j) * (1 - u) + corner(i + 1, j) * u
        let bottom = corner(i, j + 1) * (1 - u) + corner(i + 1, j + 1) * u
        return top * (1 - v) + bottom * v
    }

    private func smooth(_ t: Double) -> Double { t * t * (3 - 2 * t) }

    private func corner(_ i: Int, _ j: Int) -> Double {
        var random = SplitMix(seed: seed ^ UInt64(bitPattern: Int64(i &* 0x1F1F_1F1F &+ j &* 0x5DEE_CE66)))
        return Double(random.next() >> 11) / Double(1 << 53)
    }
}

/// A generator of random numbers (Steele, Lea and Flood, 2014): small, and the same everywhere.
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
