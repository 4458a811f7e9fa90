/// A colour in sRGB with an alpha, 8 bits each.
///
/// What is drawn is what `hex` says, so equal texts mean equal colours.
public struct PlatformColor: Hashable, Sendable, CustomStringConvertible {
    /// Red, green, blue, alpha; straight, not premultiplied.
    let samples: SIMD4<UInt8>

    /// Creates a colour; components beyond 0…1 are clamped, and not-a-number counts as 0.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        let values = SIMD4(red, green, blue, alpha).replacing(
            with: 0, where: SIMD4(red, green, blue, alpha) .!= SIMD4(red, green, blue, alpha))
        samples = SIMD4<UInt8>(
            truncatingIfNeeded: SIMD4<Int32>(
                (values.clamped(lowerBound: .zero, upperBound: .one) * 255).rounded(.toNearestOrAwayFromZero)))
    }

    /// Creates a gray.
    public init(white: Double, alpha: Double = 1) { self.init(red: white, green: white, blue: white, alpha: alpha) }

    /// Creates a colour from `#RGB`, `#RRGGBB` or `#RRGGBBAA`, in either case, with or without the `#`; else nil.
    public init?(hex: String) {
        let digits = hex.hasPrefix("#") ? hex.dropFirst() : hex[...]
        let values = digits.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard values.count == digits.count else { return nil }
        var samples = SIMD4<UInt8>(repeating: 255)
        switch values.count {
        case 3: for index in 0..<3 { samples[index] = UInt8(values[index] * 17) }
        case 6, 8:
            for index in 0..<values.count / 2 { samples[index] = UInt8(values[index * 2] * 16 + values[index * 2 + 1]) }
        default: return nil
        }
        self.init(samples: samples)
    }

    private init(samples: SIMD4<UInt8>) { self.samples = samples }

    /// The red component, 0…1.
    public var red: Double { Double(samples[0]) / 255 }
    /// The green component, 0…1.
    public var green: Double { Double(samples[1]) / 255 }
    /// The blue component, 0…1.
    public var blue: Double { Double(samples[2]) / 255 }
    /// How opaque it is, 0…1.
    public var alpha: Double { Double(samples[3]) / 255 }

    /// The same colour with another alpha.
    public func withAlpha(_ alpha: Double) -> PlatformColor {
        PlatformColor(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// `#RRGGBB`, with two more digits if it is not opaque.
    public var hex: String {
        let digits = Array("0123456789ABCDEF")
        var text = "#"
        for index in 0..<(samples[3] == 255 ? 3 : 4) {
            text.append(digits[Int(samples[index] >> 4)])
            text.append(digits[Int(samples[index] & 15)])
        }
        return text
    }

    /// `hex`.
    public var description: String { hex }

    /// #000000.
    public static let black = PlatformColor(white: 0)
    /// #FFFFFF.
    public static let white = PlatformColor(white: 1)
    /// Transparent black.
    public static let clear = PlatformColor(white: 0, alpha: 0)
    /// #808080.
    public static let gray = PlatformColor(white: 0.5)
    /// #AAAAAA.
    public static let lightGray = PlatformColor(white: 2 / 3)
    /// #555555.
    public static let darkGray = PlatformColor(white: 1 / 3)
    /// #FF0000.
    public static let red = PlatformColor(red: 1, green: 0, blue: 0)
    /// #00FF00.
    public static let green = PlatformColor(red: 0, green: 1, blue: 0)
    /// #0000FF.
    public static let blue = PlatformColor(red: 0, green: 0, blue: 1)
    /// #FFFF00.
    public static let yellow = PlatformColor(red: 1, green: 1, blue: 0)
    /// #00FFFF.
    public static let cyan = PlatformColor(red: 0, green: 1, blue: 1)
    /// #FF00FF.
    public static let magenta = PlatformColor(red: 1, green: 0, blue: 1)
    /// #FF8000.
    public static let orange = PlatformColor(red: 1, green: 0.5, blue: 0)
    /// #800080.
    public static let purple = PlatformColor(red: 0.5, green: 0, blue: 0.5)
    /// #996633.
    public static let brown = PlatformColor(red: 0.6, green: 0.4, blue: 0.2)
}
