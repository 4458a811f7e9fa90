#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The way from the colours of a matrix profile to sRGB, as tables.
///
/// Device values become light, light is mixed by a matrix, and what comes out is cut to sRGB's range and encoded; the same
/// that a colour management system does with such profiles and the relative colorimetric intent.
final class ColorTransform: Sendable {
    /// What each value of a component contributes to red, green and blue light, one entry a value, component by component.
    private let contributions: [SIMD4<Int16>]
    /// For gray: the encoded value of each value.
    private let grays: [UInt8]
    /// The profile's curves, and the matrix to sRGB's light.
    private let curves: [ToneCurve]
    private let columns: [SIMD3<Double>]

    /// Light's steps: so fine that a step is less than half a code value even in the dark, and small enough for the cache.
    private static let lightCount = 8192

    /// sRGB's code value of each step of light (IEC 61966-2-1).
    private static let encoded: [UInt8] = (0..<lightCount).map { step in
        UInt8((encode(Double(step) / Double(lightCount - 1)) * 255).rounded())
    }

    /// Nil for a matrix that no real profile has: sums of what it gives would not fit the tables' integers.
    init?(_ profile: ICCProfile) {
        curves = profile.curves
        columns = (profile.colorants ?? []).map(Self.light)
        let highest = columns.reduce(SIMD3<Double>.zero) { $0 + pointwiseMax($1, .zero) }
        let lowest = columns.reduce(SIMD3<Double>.zero) { $0 + pointwiseMin($1, .zero) }
        guard max(highest.max(), -lowest.min()) < 3.9 else { return nil }
        grays =
            profile.colorants != nil
            ? []
            : (0..<256).map { value in
                UInt8((Self.encode(profile.curves[0](Double(value) / 255)) * 255).rounded())
            }
        contributions = zip(columns, profile.curves).enumerated().flatMap { index, component in
            let (column, curve) = component
            return (0..<256).map { value in
                let light = column * (curve(Double(value) / 255) * Double(Self.lightCount - 1))
                let rounded = SIMD3<Int16>(light, rounding: .toNearestOrAwayFromZero)
                return SIMD4(rounded.x, rounded.y, rounded.z, 0)
            }
        }
    }

    /// Whether it changes no colour by more than one code value, so that leaving it out is as good.
    var isNearIdentity: Bool {
        if columns.isEmpty { return grays.enumerated().allSatisfy { abs($0 - Int($1)) <= 1 } }
        let steps = stride(from: 0, through: 255, by: 15)
        for red in steps {
            for green in steps {
                for blue in steps where !isNear(SIMD3(red, green, blue)) { return false }
            }
        }
        return true
    }

    private func isNear(_ color: SIMD3<Int>) -> Bool {
        let result = convert(SIMD3<Double>(color) / 255) * 255
        let difference = result - SIMD3<Double>(color)
        return max(abs(difference.x), abs(difference.y), abs(difference.z)) <= 1
    }

    /// One colour, 0…1, exactly.
    func convert(_ color: SIMD3<Double>) -> SIMD3<Double> {
        guard columns.count == 3 else { return SIMD3(repeating: Self.encode(curves[0](color.x))) }
        let light = columns[0] * curves[0](color.x) + columns[1] * curves[1](color.y) + columns[2] * curves[2](color.z)
        return SIMD3(Self.encode(light.x), Self.encode(light.y), Self.encode(light.z))
    }

    // MARK: Rows

    /// Converts pixels of 8 bits a component, premultiplied, in place.
    func convertRGBA8(_ bytes: inout MutableRawSpan, isOpaque: Bool) {
        // SAFETY: indices are bytes, or clamped to the table; the loop ends at the last whole pixel.
        unsafe contributions.withUnsafeBufferPointer { contributions in
            unsafe Self.encoded.withUnsafeBufferPointer { encoded in
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    guard let table = contributions.baseAddress, let encoded = encoded.baseAddress else { return }
                    let pixels = unsafe bytes.bindMemory(to: UInt32.self)
                    for index in pixels.indices {
                        let pixel = unsafe UInt32(littleEndian: pixels[index])
                        let alpha = pixel >> 24
                        if isOpaque || alpha == 255 {
                            unsafe pixels[index] = Self.converted(pixel, table, encoded).littleEndian
                        } else if alpha > 0 {
                            let straight = Self.straight(pixel, alpha)
                            let result = unsafe Self.converted(straight, table, encoded)
                            unsafe pixels[index] = Self.premultiplied(result, alpha).littleEndian
                        }
                    }
                }
            }
        }
    }

    @inline(__always)
    private static func converted(
        _ pixel: UInt32, _ table: UnsafePointer<SIMD4<Int16>>, _ encoded: UnsafePointer<UInt8>
    ) -> UInt32 {
        // SAFETY: three tables of 256 entries; sums are clamped to the other's size.
        let sum =
            unsafe table[Int(pixel & 255)] &+ table[256 + Int(pixel >> 8 & 255)] &+ table[512 + Int(pixel >> 16 & 255)]
        let low = sum.replacing(with: 0, where: sum .< 0)
        let top = Int16(lightCount - 1)
        let light = low.replacing(with: top, where: low .> top)
        let red = unsafe UInt32(encoded[Int(light.x)])
        let green = unsafe UInt32(encoded[Int(light.y)])
        let blue = unsafe UInt32(encoded[Int(light.z)])
        return red | green << 8 | blue << 16 | pixel & 0xFF00_0000
    }

    private static func straight(_ pixel: UInt32, _ alpha: UInt32) -> UInt32 {
        (0..<3).reduce(pixel & 0xFF00_0000) { result, component in
            let shift = UInt32(component * 8)
            return result | min(255, ((pixel >> shift & 255) * 255 + alpha / 2) / alpha) << shift
        }
    }

    private static func premultiplied(_ pixel: UInt32, _ alpha: UInt32) -> UInt32 {
        (0..<3).reduce(pixel & 0xFF00_0000) { result, component in
            let shift = UInt32(component * 8)
            return result | (((pixel >> shift & 255) * alpha + 127) / 255) << shift
        }
    }

    /// Converts gray pixels of 8 bits, in place.
    func convertGray8(_ bytes: inout MutableRawSpan) {
        // SAFETY: the table has an entry for every byte.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { unsafe bytes[index] = grays[Int(bytes[index])] }
        }
    }

    /// Converts pixels of 16 bits a component, premultiplied, in place; slowly, as they are rare.
    func convertRGBA16(_ bytes: inout MutableRawSpan) {
        // SAFETY: any bytes are integers; the loop ends at the last whole pixel.
        unsafe bytes.withUnsafeMutableBytes { bytes in
            let pixels = unsafe bytes.bindMemory(to: SIMD4<UInt16>.self)
            for index in pixels.indices {
                let pixel = unsafe SIMD4<Double>(pixels[index])
                guard pixel.w > 0 else { continue }
                let straight = (SIMD3(pixel.x, pixel.y, pixel.z) / pixel.w).clamped(lowerBound: .zero, upperBound: .one)
                let result = convert(straight) * pixel.w
                let values = SIMD4(result.x, result.y, result.z, pixel.w)
                unsafe pixels[index] = SIMD4<UInt16>(values, rounding: .toNearestOrAwayFromZero)
            }
        }
    }

    // MARK: sRGB

    /// From X, Y and Z under D50 to sRGB's light: the inverse of its colorants, adapted by Bradford's matrix.
    private static func light(_ xyz: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(
            3.1338561 * xyz.x - 1.6168667 * xyz.y - 0.4906146 * xyz.z,
            -0.9787684 * xyz.x + 1.9161415 * xyz.y + 0.0334540 * xyz.z,
            0.0719453 * xyz.x - 0.2289914 * xyz.y + 1.4052427 * xyz.z)
    }

    /// From light, cut to 0…1, to sRGB's values (IEC 61966-2-1).
    private static func encode(_ light: Double) -> Double {
        let x = min(1, max(0, light))
        return x <= 0.0031308 ? x * 12.92 : 1.055 * RealFunctions.pow(x, 1 / 2.4) - 0.055
    }
}
