#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The tone curves and the matrix of an ICC profile (ICC.1:2022), if those are what it describes its colours by.
///
/// Nil for profiles of tables, and for damaged ones.
struct ICCProfile {
    /// From device values to light, a curve for each component: three, or one for gray.
    let curves: [ToneCurve]
    /// What a unit of red, green and blue light contributes to X, Y and Z under D50; nil for gray.
    let colorants: [SIMD3<Double>]?

    init?(_ data: Data) {
        let bytes = BigEndianBytes(data)
        guard let count = bytes.number32(at: 128), count <= 256, bytes.text(at: 36) == "acsp" else { return nil }
        var tags: [String: Range<Int>] = [:]
        for index in 0..<count {
            let entry = 132 + index * 12
            guard let name = bytes.text(at: entry), let offset = bytes.number32(at: entry + 4),
                let length = bytes.number32(at: entry + 8), offset + length <= bytes.count
            else { return nil }
            tags[name] = offset..<offset + length
        }
        // Where there are tables they count, and they may say something else than the matrix (9.2).
        guard tags["A2B0"] == nil else { return nil }
        func curve(_ name: String) -> ToneCurve? { tags[name].flatMap { ToneCurve(bytes, at: $0) } }
        switch bytes.text(at: 16) {
        case "GRAY":
            guard let gray = curve("kTRC") else { return nil }
            curves = [gray]
            colorants = nil
        case "RGB ":
            guard bytes.text(at: 20) == "XYZ ", let red = curve("rTRC"), let green = curve("gTRC"),
                let blue = curve("bTRC")
            else { return nil }
            let columns = ["rXYZ", "gXYZ", "bXYZ"].compactMap { tags[$0].flatMap(bytes.point) }
            guard columns.count == 3 else { return nil }
            curves = [red, green, blue]
            colorants = columns
        default: return nil
        }
    }
}

/// A tone curve of an ICC profile: `curveType` or `parametricCurveType` (10.6 and 10.18).
enum ToneCurve {
    case table([Double])
    /// g, a, b, c, d, e and f of the function's fourth form, which has the others in it.
    case parametric(g: Double, a: Double, b: Double, c: Double, d: Double, e: Double, f: Double)

    fileprivate init?(_ bytes: BigEndianBytes, at range: Range<Int>) {
        let start = range.lowerBound
        switch bytes.text(at: start) {
        case "curv":
            guard let count = bytes.number32(at: start + 8), count <= 1 << 16, 12 + 2 * count <= range.count else {
                return nil
            }
            let values = (0..<count).compactMap { bytes.number16(at: start + 12 + 2 * $0) }
            switch values.count {
            case 0: self = .power(1)
            case 1: self = .power(Double(values[0]) / 256)
            default: self = .table(values.map { Double($0) / 65535 })
            }
        case "para":
            guard let kind = bytes.number16(at: start + 8), kind <= 4 else { return nil }
            let count = [1, 3, 4, 5, 7][kind]
            guard 12 + 4 * count <= range.count else { return nil }
            let p = (0..<count).compactMap { bytes.fixed(at: start + 12 + 4 * $0) }
            switch kind {
            case 0: self = .power(p[0])
            case 1, 2:
                // Zero, or c, up to −b / a.
                guard p[1] != 0 else { return nil }
                let constant = kind == 2 ? p[3] : 0
                self = .parametric(g: p[0], a: p[1], b: p[2], c: 0, d: -p[2] / p[1], e: constant, f: constant)
            case 3: self = .parametric(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: 0, f: 0)
            default: self = .parametric(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: p[5], f: p[6])
            }
        default: return nil
        }
    }

    private static func power(_ g: Double) -> ToneCurve { .parametric(g: g, a: 1, b: 0, c: 0, d: 0, e: 0, f: 0) }

    /// Light, 0…1, of a device value, 0…1.
    func callAsFunction(_ x: Double) -> Double {
        let y: Double
        switch self {
        case .table(let values):
            let place = x * Double(values.count - 1)
            let index = min(Int(place), values.count - 2)
            y = values[index] + (values[index + 1] - values[index]) * (place - Double(index))
        case .parametric(let g, let a, let b, let c, let d, let e, let f):
            y = x >= d ? RealFunctions.pow(max(0, a * x + b), g) + e : c * x + f
        }
        return y.isFinite ? min(1, max(0, y)) : 0
    }
}

/// Numbers of an ICC profile; nil beyond its end.
private struct BigEndianBytes {
    private let data: Data

    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    func number16(at offset: Int) -> Int? { number(2, at: offset) }

    func number32(at offset: Int) -> Int? { number(4, at: offset) }

    /// s15Fixed16Number (4.6).
    func fixed(at offset: Int) -> Double? {
        number32(at: offset).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    /// XYZType (10.31).
    func point(at range: Range<Int>) -> SIMD3<Double>? {
        let start = range.lowerBound
        guard range.count >= 20, text(at: start) == "XYZ ", let x = fixed(at: start + 8), let y = fixed(at: start + 12),
            let z = fixed(at: start + 16)
        else { return nil }
        return SIMD3(x, y, z)
    }

    /// Four characters.
    func text(at offset: Int) -> String? {
        guard offset >= 0, offset <= data.count - 4 else { return nil }
        let start = data.startIndex + offset
        return String(decoding: data[start..<start + 4], as: UTF8.self)
    }

    private func number(_ size: Int, at offset: Int) -> Int? {
        guard offset >= 0, offset <= data.count - size else { return nil }
        let start = data.startIndex + offset
        return data[start..<start + size].reduce(0) { $0 << 8 | Int($1) }
    }
}
