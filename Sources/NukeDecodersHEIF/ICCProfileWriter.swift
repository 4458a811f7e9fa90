#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Writes a profile of three primaries and one curve (ICC.1:2022, 8.3.3: a display profile of version 4).
struct ICCProfileWriter {
    private let chromaticities: ColorCoding.Chromaticities
    private let curve: ColorCoding.Curve

    init(_ chromaticities: ColorCoding.Chromaticities, _ curve: ColorCoding.Curve) {
        self.chromaticities = chromaticities
        self.curve = curve
    }

    /// The bytes of the profile.
    var data: Data {
        let adaptation = Matrix.adaptation(from: chromaticities.white)
        let columns = adaptation * primaryColumns
        let trc = curveBytes
        let tags: [(name: String, bytes: [UInt8])] = [
            ("desc", text("RGB by H.273")), ("cprt", text("No copyright")), ("wtpt", xyz(Matrix.d50)),
            ("chad", Array("sf32".utf8) + [0, 0, 0, 0] + adaptation.rows.flatMap { $0.flatMap(fixed) }),
            ("rXYZ", xyz(columns.column(0))), ("gXYZ", xyz(columns.column(1))), ("bXYZ", xyz(columns.column(2))),
            ("rTRC", trc), ("gTRC", trc), ("bTRC", trc),
        ]
        var table = integer(tags.count, 4)
        var body: [UInt8] = []
        var curveStart: Int?
        for tag in tags {
            let isCurve = tag.name.hasSuffix("TRC")
            let start = isCurve ? curveStart ?? body.count : body.count
            table += Array(tag.name.utf8) + integer(132 + tags.count * 12 + start, 4) + integer(tag.bytes.count, 4)
            guard start == body.count else { continue }
            if isCurve { curveStart = start }
            body += tag.bytes + [UInt8](repeating: 0, count: (4 - tag.bytes.count % 4) % 4)
        }
        return Data(header(size: 128 + table.count + body.count) + table + body)
    }

    /// 7.2: display device, RGB to XYZ, perceptual intent, the illuminant D50; no date, so equal profiles are equal bytes.
    private func header(size: Int) -> [UInt8] {
        var header = integer(size, 4) + [0, 0, 0, 0, 4, 0x40, 0, 0] + Array("mntrRGB XYZ ".utf8)
        header += [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + Matrix.d50.flatMap(fixed)
        return header + [UInt8](repeating: 0, count: 128 - header.count)
    }

    /// 10.6 and 10.18.
    private var curveBytes: [UInt8] {
        switch curve {
        case .sRGB:
            let parameters = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]
            return Array("para".utf8) + [0, 0, 0, 0, 0, 3, 0, 0] + parameters.flatMap(fixed)
        case .gamma(let exponent):
            return Array("para".utf8) + [0, 0, 0, 0, 0, 0, 0, 0] + fixed(exponent)
        case .table(let values):
            let samples = values.flatMap { integer(Int(($0 * 65_535).rounded()), 2) }
            return Array("curv".utf8) + [0, 0, 0, 0] + integer(values.count, 4) + samples
        }
    }

    /// Colours of the primaries at the strengths that together make white.
    private var primaryColumns: Matrix {
        let corners = [chromaticities.red, chromaticities.green, chromaticities.blue].map(Matrix.light)
        let matrix = Matrix(columns: corners)
        let strengths = matrix.inverse * Matrix.light(chromaticities.white)
        return Matrix(columns: zip(corners, strengths).map { corner, strength in corner.map { $0 * strength } })
    }

    private func xyz(_ light: [Double]) -> [UInt8] { Array("XYZ ".utf8) + [0, 0, 0, 0] + light.flatMap(fixed) }

    /// 10.15, one record in English.
    private func text(_ text: String) -> [UInt8] {
        let characters = text.utf16.flatMap { integer(Int($0), 2) }
        return Array("mluc".utf8) + [0, 0, 0, 0] + integer(1, 4) + integer(12, 4) + Array("enUS".utf8)
            + integer(characters.count, 4) + integer(28, 4) + characters
    }

    /// s15Fixed16Number.
    private func fixed(_ value: Double) -> [UInt8] { integer(Int((value * 65_536).rounded()), 4) }

    private func integer(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}

/// Three by three numbers.
private struct Matrix {
    /// The light of D50 as profiles have it (7.2.16).
    static let d50 = [0.9642, 1.0, 0.8249]

    var rows: [[Double]]

    init(rows: [[Double]]) { self.rows = rows }

    init(columns: [[Double]]) { rows = (0..<3).map { row in columns.map { $0[row] } } }

    /// X, Y and Z of a chromaticity, at Y = 1.
    static func light(_ xy: SIMD2<Double>) -> [Double] { [xy.x / xy.y, 1, (1 - xy.x - xy.y) / xy.y] }

    /// From a white to D50, by the linear Bradford transform (ICC.1:2022, E.3).
    static func adaptation(from white: SIMD2<Double>) -> Matrix {
        let bradford = Matrix(rows: [
            [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
        ])
        let (from, to) = (bradford * light(white), bradford * d50)
        let scale = Matrix(rows: (0..<3).map { row in (0..<3).map { $0 == row ? to[row] / from[row] : 0 } })
        return bradford.inverse * scale * bradford
    }

    func column(_ index: Int) -> [Double] { rows.map { $0[index] } }

    static func * (a: Matrix, b: [Double]) -> [Double] {
        a.rows.map { row in row[0] * b[0] + row[1] * b[1] + row[2] * b[2] }
    }

    static func * (a: Matrix, b: Matrix) -> Matrix { Matrix(columns: (0..<3).map { a * b.column($0) }) }

    /// By the adjugate; of matrices that have one.
    var inverse: Matrix {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ([0, 1, 2].filter { $0 != row }, [0, 1, 2].filter { $0 != column })
            let value = rows[r[0]][c[0]] * rows[r[1]][c[1]] - rows[r[0]][c[1]] * rows[r[1]][c[0]]
            return (row + column) % 2 == 0 ? value : -value
        }
        let determinant = (0..<3).reduce(0.0) { $0 + rows[0][$1] * minor(0, $1) }
        return Matrix(rows: (0..<3).map { row in (0..<3).map { minor($0, row) / determinant } })
    }
}
