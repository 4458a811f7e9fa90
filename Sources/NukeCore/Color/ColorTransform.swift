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
    /// For colour: the way of components of 8 bits.
    private let tables: ColorTables?
    /// For gray: the encoded value of each value.
    private let grays: [UInt8]
    /// The profile's curves, and the matrix to sRGB's light.
    private let curves: [ToneCurve]
    private let columns: [SIMD3<Double>]

    /// Nil for a matrix that no real profile has.
    init?(_ profile: ICCProfile) {
        curves = profile.curves
        columns = (profile.colorants ?? []).map(Self.light)
        if profile.colorants != nil {
            guard let tables = ColorTables(columns: columns, curves: curves) else { return nil }
            self.tables = tables
            grays = []
        } else {
            tables = nil
            grays = (0..<256).map { value in
                UInt8((Self.encode(profile.curves[0](Double(value) / 255)) * 255).rounded())
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
        tables?.convertRGBA8(&bytes, isOpaque: isOpaque)
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
    static func encode(_ light: Double) -> Double {
        let x = min(1, max(0, light))
        return x <= 0.0031308 ? x * 12.92 : 1.055 * RealFunctions.pow(x, 1 / 2.4) - 0.055
    }
}
