internal import CNukeCore

/// A matrix profile's way to sRGB for components of 8 bits, as tables of integers.
///
/// What each value of a component contributes to red, green and blue light is added, and the sum looked up in sRGB's curve.
struct ColorTables: Sendable {
    /// Steps of red, green and blue light, 21 bits each from the lowest; 256 entries a component.
    ///
    /// A bias keeps them from being negative.
    private let contributions: [UInt64]
    /// sRGB's code value of each sum of three contributions, cut to its range at both ends (IEC 61966-2-1).
    private let encoded: [UInt8]
    /// For each green and red value sRGB's red, its green, and the steps of blue light without blue's; or empty.
    ///
    /// For spaces that share sRGB's blue, as Display P3 and Adobe RGB do: their red and green need no look at blue.
    private let pairs: [UInt32]
    /// Steps of blue light for each blue value, if there are pairs.
    private let blueSteps: [UInt32]

    /// Light's steps up to white: so fine that a step is less than half a code value even in the dark.
    private static let white = 8191.0
    /// What blue may add to red and green, of white, and still count as nothing: a third of a code value in the dark.
    private static let negligible = 1e-4

    /// Nil for a matrix that no real profile has: the tables would be huge.
    ///
    /// - Parameters:
    ///   - columns: What a unit of each component's light is in sRGB's light.
    ///   - curves: From device values to light.
    init?(columns: [SIMD3<Double>], curves: [ToneCurve]) {
        let highest = columns.reduce(SIMD3<Double>.zero) { $0 + pointwiseMax($1, .zero) }
        let lowest = columns.reduce(SIMD3<Double>.zero) { $0 + pointwiseMin($1, .zero) }
        guard max(highest.max(), -lowest.min()) < 3.9 else { return nil }
        let biases = columns.map { Int((max(0, -$0.min()) * Self.white).rounded(.up)) }
        contributions = zip(zip(columns, biases), curves).flatMap { component, curve in
            (0..<256).map { value in
                let light = component.0 * (curve(Double(value) / 255) * Self.white)
                let steps = SIMD3<Int64>(light, rounding: .toNearestOrAwayFromZero) &+ Int64(component.1)
                return UInt64(steps.x) | UInt64(steps.y) << 21 | UInt64(steps.z) << 42
            }
        }
        let bias = biases.reduce(0, +)
        // Three contributions, each rounded by half a step.
        let count = bias + Int(highest.max() * Self.white) + 3
        encoded = (0..<count).map { step in
            UInt8((ColorTransform.encode(Double(step - bias) / Self.white) * 255).rounded())
        }
        pairs =
            max(abs(columns[2].x), abs(columns[2].y)) < Self.negligible
            ? Self.pairs(contributions, encoded) : []
        blueSteps = contributions[512...].map { UInt32($0 >> 42) }
    }

    private static func pairs(_ contributions: [UInt64], _ encoded: [UInt8]) -> [UInt32] {
        // What blue has in red and green is its bias.
        let blue = contributions[512] & (1 << 42 - 1)
        return (0..<1 << 16).map { pair in
            let sum = contributions[pair & 255] + contributions[256 + pair >> 8] + blue
            let red = UInt32(encoded[Int(sum & 0x1F_FFFF)])
            let green = UInt32(encoded[Int(sum >> 21 & 0x1F_FFFF)])
            return red | green << 8 | UInt32(sum >> 42) << 16
        }
    }

    /// Converts pixels, premultiplied, in place.
    func convertRGBA8(_ bytes: inout MutableRawSpan, isOpaque: Bool) {
        if isOpaque, !pairs.isEmpty, UInt32(littleEndian: 1) == 1 {
            convertOpaquePairs(&bytes)
        } else {
            convertAny(&bytes, isOpaque: isOpaque)
        }
    }

    private func convertOpaquePairs(_ bytes: inout MutableRawSpan) {
        // SAFETY: indices are bytes, pairs of bytes, or sums that `init` made the table for; pixels start on multiples of four
        // bytes, and the last whole one ends the loop.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            let pixels = unsafe bytes.bindMemory(to: UInt32.self)
            guard let first = pixels.baseAddress else { return }
            unsafe CNukeCore_convertOpaquePixels(first, pixels.count, pairs, blueSteps, encoded)
        }
    }

    private func convertAny(_ bytes: inout MutableRawSpan, isOpaque: Bool) {
        // SAFETY: indices are bytes, pairs of bytes, or sums that `init` made the table for; the loop ends at the last
        // whole pixel.
        unsafe contributions.withUnsafeBufferPointer { contributions in
            unsafe encoded.withUnsafeBufferPointer { encoded in
                unsafe pairs.withUnsafeBufferPointer { pairs in
                    guard let table = contributions.baseAddress, let encoded = encoded.baseAddress else { return }
                    if pairs.count == 1 << 16, let pairs = pairs.baseAddress {
                        Self.convert(&bytes, isOpaque: isOpaque) { pixel in
                            let pair = unsafe pairs[Int(pixel & 0xFFFF)]
                            let blue = unsafe Int(pair >> 16) &+ Int(table[512 + Int(pixel >> 16 & 255)] >> 42)
                            return unsafe pair & 0xFFFF | UInt32(encoded[blue]) << 16 | pixel & 0xFF00_0000
                        }
                    } else {
                        Self.convert(&bytes, isOpaque: isOpaque) { pixel in
                            let sum =
                                unsafe table[Int(pixel & 255)] &+ table[256 + Int(pixel >> 8 & 255)]
                                &+ table[512 + Int(pixel >> 16 & 255)]
                            let red = unsafe UInt32(encoded[Int(sum & 0x1F_FFFF)])
                            let green = unsafe UInt32(encoded[Int(sum >> 21 & 0x1F_FFFF)])
                            let blue = unsafe UInt32(encoded[Int(sum >> 42)])
                            return red | green << 8 | blue << 16 | pixel & 0xFF00_0000
                        }
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func convert(_ bytes: inout MutableRawSpan, isOpaque: Bool, _ converted: (UInt32) -> UInt32) {
        // SAFETY: any bytes are integers; the loop ends at the last whole pixel.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            let pixels = unsafe bytes.bindMemory(to: UInt32.self)
            for index in pixels.indices {
                let pixel = unsafe UInt32(littleEndian: pixels[index])
                let alpha = pixel >> 24
                if isOpaque || alpha == 255 {
                    unsafe pixels[index] = converted(pixel).littleEndian
                } else if alpha > 0 {
                    let result = converted(straight(pixel, alpha))
                    unsafe pixels[index] = premultiplied(result, alpha).littleEndian
                }
            }
        }
    }

    static func straight(_ pixel: UInt32, _ alpha: UInt32) -> UInt32 {
        (0..<3).reduce(pixel & 0xFF00_0000) { result, component in
            let shift = UInt32(component * 8)
            return result | min(255, ((pixel >> shift & 255) * 255 + alpha / 2) / alpha) << shift
        }
    }

    static func premultiplied(_ pixel: UInt32, _ alpha: UInt32) -> UInt32 {
        (0..<3).reduce(pixel & 0xFF00_0000) { result, component in
            let shift = UInt32(component * 8)
            return result | (((pixel >> shift & 255) * alpha + 127) / 255) << shift
        }
    }
}
