/// A linear change of colours, 0…1: each component of the result is a sum of those of the source, and a constant.
struct ColorMatrix: Hashable, Sendable {
    /// What a unit of red, green and blue contributes to (red, green, blue).
    private(set) var columns: [SIMD3<Double>]
    /// What is added.
    private(set) var bias: SIMD3<Double>

    /// How bright the components are (ITU-R BT.709).
    private static let luminance = SIMD3(0.2126, 0.7152, 0.0722)
    private static let identity = ColorMatrix(rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    private init(rows: [SIMD3<Double>], bias: SIMD3<Double> = .zero) {
        columns = (0..<3).map { column in SIMD3(rows[0][column], rows[1][column], rows[2][column]) }
        self.bias = bias
    }

    var isFinite: Bool {
        (columns + [bias]).allSatisfy { $0.x.isFinite && $0.y.isFinite && $0.z.isFinite }
    }

    /// Whether what is gray stays gray.
    var keepsGray: Bool {
        let sum = columns.reduce(.zero, +)
        func isGray(_ value: SIMD3<Double>) -> Bool { abs(value.x - value.y) < 1e-9 && abs(value.y - value.z) < 1e-9 }
        return isGray(sum) && isGray(bias)
    }

    /// What becomes of a colour, not clamped.
    func apply(_ color: SIMD3<Double>) -> SIMD3<Double> {
        columns[0] * color.x + columns[1] * color.y + columns[2] * color.z + bias
    }

    /// This one first, then the other.
    func followed(by other: ColorMatrix) -> ColorMatrix {
        var result = self
        result.columns = columns.map { other.apply($0) - other.bias }
        result.bias = other.apply(bias)
        return result
    }

    /// Between no change, at 0, and this one, at 1.
    func mixed(_ amount: Double) -> ColorMatrix {
        var result = self
        for index in 0..<3 {
            result.columns[index] = Self.identity.columns[index] * (1 - amount) + columns[index] * amount
        }
        result.bias = bias * amount
        return result
    }

    /// The sepia matrix of the W3C's Filter Effects, 13.2.
    static let sepia = ColorMatrix(rows: [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
    static let invert = ColorMatrix(rows: [[-1, 0, 0], [0, -1, 0], [0, 0, -1]], bias: .one)

    static func saturation(_ amount: Double) -> ColorMatrix {
        ColorMatrix(rows: [luminance, luminance, luminance]).mixed(1 - amount)
    }

    static func brightness(_ amount: Double) -> ColorMatrix {
        var result = identity
        result.bias = SIMD3(repeating: amount)
        return result
    }

    static func contrast(_ amount: Double) -> ColorMatrix {
        ColorMatrix(
            rows: [[amount, 0, 0], [0, amount, 0], [0, 0, amount]], bias: SIMD3(repeating: (1 - amount) / 2))
    }

    static func monochrome(_ color: PlatformColor) -> ColorMatrix {
        ColorMatrix(rows: [luminance * color.red, luminance * color.green, luminance * color.blue])
    }

    /// A rotation around the gray axis, along planes of equal luminance.
    static func hue(_ angle: Double) -> ColorMatrix {
        let (c, s) = (RealFunctions.cos(angle), RealFunctions.sin(angle))
        let gray = ColorMatrix(rows: [luminance, luminance, luminance])
        let turned = [SIMD3(-0.2126, -0.7152, 0.9278), SIMD3(0.143, 0.14, -0.283), SIMD3(-0.7874, 0.7152, 0.0722)]
        let rows = (0..<3).map { row -> SIMD3<Double> in
            var unit = SIMD3<Double>.zero
            unit[row] = 1
            return luminance + (unit - luminance) * c + turned[row] * s
        }
        return angle.isFinite ? ColorMatrix(rows: rows) : gray.mixed(.nan)
    }
}

/// A change of every component by itself, 0…1.
enum ColorCurve: Hashable, Sendable {
    case exposure(Double)
    case gamma(Double)
    case posterize(Int)
    case threshold(Double)

    var isFinite: Bool {
        switch self {
        case .exposure(let value), .gamma(let value), .threshold(let value): value.isFinite
        case .posterize: true
        }
    }

    /// What becomes of a component; within 0…1.
    func apply(_ x: Double) -> Double {
        let value: Double
        switch self {
        case .exposure(let stops): value = Self.encode(min(1, Self.decode(x) * RealFunctions.exp2(stops)))
        case .gamma(let power): value = RealFunctions.pow(x, power)
        case .posterize(let levels):
            value = min((x * Double(levels)).rounded(.down), Double(levels - 1)) / Double(levels - 1)
        case .threshold(let threshold): value = x >= threshold ? 1 : 0
        }
        return value.isNaN ? 0 : min(max(value, 0), 1)
    }

    /// From sRGB to light (IEC 61966-2-1).
    private static func decode(_ x: Double) -> Double {
        x <= 0.04045 ? x / 12.92 : RealFunctions.pow((x + 0.055) / 1.055, 2.4)
    }

    /// From light to sRGB.
    private static func encode(_ x: Double) -> Double {
        x <= 0.0031308 ? x * 12.92 : 1.055 * RealFunctions.pow(x, 1 / 2.4) - 0.055
    }
}
