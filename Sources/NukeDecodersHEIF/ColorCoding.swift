internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
#if canImport(Glibc)
    internal import Glibc
#endif

/// The colours of a picture by code points of ITU-T H.273, made into an ICC profile.
struct ColorCoding: Hashable {
    /// `ColourPrimaries`.
    let primaries: Int
    /// `TransferCharacteristics`.
    let transfer: Int

    /// What they come to; sRGB for what is unspecified or not known.
    ///
    /// The curves of BT.709, BT.601 and BT.2020 are those of cameras: their pictures are shown as sRGB is, as everywhere.
    var colorSpace: ColorSpace {
        guard curve != .sRGB || isOfOtherPrimaries else { return .sRGB }
        return ColorSpace(iccProfile: ICCProfileWriter(chromaticities, curve).data, for: .rgba8) ?? .sRGB
    }

    private var isOfOtherPrimaries: Bool { Self.chromaticities[primaries] != nil && primaries != 1 }

    /// How code values become light.
    enum Curve: Hashable {
        case sRGB
        case gamma(Double)
        /// Light at evenly spaced code values from 0 to 1.
        case table([Double])
    }

    /// The curve of `transfer` (H.273, table 3).
    var curve: Curve {
        switch transfer {
        case 4: .gamma(2.2)
        case 5: .gamma(2.8)
        case 8: .gamma(1)
        case 16: .table(Self.table(ToneCurve.perceptualQuantizer))
        case 17: .gamma(2.6)
        case 18: .table(Self.table(ToneCurve.hybridLogGamma))
        default: .sRGB
        }
    }

    private static func table(_ curve: (Double) -> Double) -> [Double] {
        (0..<1024).map { curve(Double($0) / 1023) }
    }

    /// x and y of red, green, blue and white.
    struct Chromaticities: Hashable {
        let red, green, blue, white: SIMD2<Double>
    }

    private static let d65 = SIMD2(0.3127, 0.3290)
    private static let c = SIMD2(0.310, 0.316)

    /// H.273, table 2.
    private static let chromaticities: [Int: Chromaticities] = [
        1: .init(red: [0.640, 0.330], green: [0.300, 0.600], blue: [0.150, 0.060], white: d65),
        4: .init(red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: c),
        5: .init(red: [0.64, 0.33], green: [0.29, 0.60], blue: [0.15, 0.06], white: d65),
        6: .init(red: [0.630, 0.340], green: [0.310, 0.595], blue: [0.155, 0.070], white: d65),
        7: .init(red: [0.630, 0.340], green: [0.310, 0.595], blue: [0.155, 0.070], white: d65),
        8: .init(red: [0.681, 0.319], green: [0.243, 0.692], blue: [0.145, 0.049], white: c),
        9: .init(red: [0.708, 0.292], green: [0.170, 0.797], blue: [0.131, 0.046], white: d65),
        11: .init(red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060], white: [0.314, 0.351]),
        12: .init(red: [0.680, 0.320], green: [0.265, 0.690], blue: [0.150, 0.060], white: d65),
        22: .init(red: [0.630, 0.340], green: [0.295, 0.605], blue: [0.155, 0.077], white: d65),
    ]

    private var chromaticities: Chromaticities {
        Self.chromaticities[primaries]
            ?? .init(red: [0.640, 0.330], green: [0.300, 0.600], blue: [0.150, 0.060], white: Self.d65)
    }
}

/// Curves of high dynamic range, brought to the range of sRGB: 0 to 1, where 1 is all the light that a screen has.
///
/// Up to 60 % of diffuse white, which is at 203 cd/m² (ITU-R BT.2408, 2.1), light is kept; from there on it is compressed so
/// that 1,000 cd/m² and above are full.
private enum ToneCurve {
    private static let white = 203.0
    private static let peak = 1000.0
    private static let knee = 0.6

    /// The electro-optical transfer function of PQ (SMPTE ST 2084).
    static func perceptualQuantizer(_ code: Double) -> Double {
        let (m1, m2) = (2610.0 / 16_384, 2523.0 / 32)
        let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 128, 2392.0 / 128)
        let power = pow(code, 1 / m2)
        return compressed(10_000 * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1))
    }

    /// The inverse of HLG's opto-electronic function, on a screen of 1,000 cd/m² (ITU-R BT.2100, table 5).
    ///
    /// The system gamma of 1.2 is applied to each colour for itself.
    static func hybridLogGamma(_ code: Double) -> Double {
        let a = 0.178_832_77
        let (b, c) = (1 - 4 * a, 0.5 - a * log(4 * a))
        let scene = code <= 0.5 ? code * code / 3 : (exp((code - c) / a) + b) / 12
        return compressed(peak * pow(scene, 1.2))
    }

    private static func compressed(_ nits: Double) -> Double {
        let light = nits / white
        guard light > knee else { return light }
        let (over, most) = ((light - knee) / (1 - knee), (peak / white - knee) / (1 - knee))
        return min(knee + (1 - knee) * over * (1 + over / (most * most)) / (1 + over), 1)
    }
}
