import FoundationEssentials

/// Writes small ICC profiles for tests.
struct ICCProfileBuilder {
    var space = "RGB "
    var tags: [(name: String, data: Data)] = []

    static func curve(gamma: Double) -> Data {
        Data("curv".utf8) + number(0) + number(1) + number16(Int(gamma * 256)) + number16(0)
    }

    static func curve(table: [Int]) -> Data {
        Data("curv".utf8) + number(0) + number(table.count) + table.reduce(Data()) { $0 + number16($1) }
    }

    static func parametric(_ kind: Int, _ values: [Double]) -> Data {
        Data("para".utf8) + number(0) + number16(kind) + number16(0) + values.reduce(Data()) { $0 + fixed($1) }
    }

    /// sRGB's own curve.
    static let standardCurve = parametric(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])

    static func point(_ x: Double, _ y: Double, _ z: Double) -> Data {
        Data("XYZ ".utf8) + number(0) + fixed(x) + fixed(y) + fixed(z)
    }

    /// The colorants of sRGB under D50.
    static let standardColorants = [
        point(0.43607, 0.22249, 0.01392), point(0.38515, 0.71687, 0.09708), point(0.14307, 0.06061, 0.71410),
    ]

    /// Those of Adobe RGB (1998).
    static let adobeColorants = [
        point(0.60974, 0.31111, 0.01947), point(0.20528, 0.62567, 0.06087), point(0.14919, 0.06322, 0.74457),
    ]

    /// Those of ProPhoto RGB (ROMM).
    static let proPhotoColorants = [
        point(0.79767, 0.28804, 0), point(0.13519, 0.71187, 0), point(0.03134, 0.00009, 0.82491),
    ]

    /// Those of Display P3.
    static let p3Colorants = [
        point(0.51512, 0.24120, -0.00105), point(0.29198, 0.69225, 0.04189), point(0.15710, 0.06657, 0.78407),
    ]

    static func rgb(_ colorants: [Data], _ curves: [Data]) -> Data {
        var builder = ICCProfileBuilder()
        builder.tags = Array(zip(["rXYZ", "gXYZ", "bXYZ"], colorants)) + Array(zip(["rTRC", "gTRC", "bTRC"], curves))
        return builder.data
    }

    static func gray(_ curve: Data) -> Data {
        var builder = ICCProfileBuilder(space: "GRAY")
        builder.tags = [("kTRC", curve)]
        return builder.data
    }

    var data: Data {
        var table = Self.number(tags.count)
        var body = Data()
        let start = 132 + tags.count * 12
        for tag in tags {
            table += Data(tag.name.utf8) + Self.number(start + body.count) + Self.number(tag.data.count)
            body += tag.data
        }
        var header = Data(count: 128)
        header.replaceSubrange(16..<20, with: space.utf8)
        header.replaceSubrange(20..<24, with: "XYZ ".utf8)
        header.replaceSubrange(36..<40, with: "acsp".utf8)
        return header + table + body
    }

    private static func number(_ value: Int) -> Data { Data((0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) }) }
    private static func number16(_ value: Int) -> Data { Data([UInt8(value >> 8 & 255), UInt8(value & 255)]) }
    private static func fixed(_ value: Double) -> Data { number(Int((value * 65536).rounded())) }
}
