import FoundationEssentials
import Glibc

/// Writes profiles whose colours are in a table (ICC.1:2022, 10.10: `lut16Type`), for tests.
struct TableProfile {
    /// "RGB ", "GRAY" or "CMYK".
    let space: String
    /// Entries of the table along each component.
    let gridCount: Int
    /// The sRGB colour, 0…1, of device values, 0…1: ink for CMYK.
    let color: ([Double]) -> [Double]

    private var channelCount: Int { space == "GRAY" ? 1 : space == "CMYK" ? 4 : 3 }

    var data: Data {
        var table = Data("mft2".utf8) + number(0) + Data([UInt8(channelCount), 3, UInt8(gridCount), 0])
        for value in [1, 0, 0, 0, 1, 0, 0, 0, 1] { table += number(value << 16) }
        table += number16(2) + number16(2)
        for _ in 0..<channelCount { table += number16(0) + number16(65535) }
        var counters = [Int](repeating: 0, count: channelCount)
        let count = counters.reduce(1) { product, _ in product * gridCount }
        for _ in 0..<count {
            let lab = Self.lab(color(counters.map { Double($0) / Double(gridCount - 1) }))
            // The encoding of L*, a* and b* that this type has in all versions.
            table += number16(Int((lab[0] * 652.8).rounded())) + number16(Int(((lab[1] + 128) * 256).rounded()))
            table += number16(Int(((lab[2] + 128) * 256).rounded()))
            // The last component moves fastest.
            for index in counters.indices.reversed() {
                counters[index] = (counters[index] + 1) % gridCount
                if counters[index] > 0 { break }
            }
        }
        for _ in 0..<3 { table += number16(0) + number16(65535) }
        var header = Data(count: 128)
        header.replaceSubrange(0..<4, with: number(144 + table.count))
        header.replaceSubrange(8..<12, with: [2, 0x40, 0, 0])
        header.replaceSubrange(12..<16, with: Data((space == "CMYK" ? "prtr" : "scnr").utf8))
        header.replaceSubrange(16..<20, with: Data(space.utf8))
        header.replaceSubrange(20..<24, with: Data("Lab ".utf8))
        header.replaceSubrange(36..<40, with: Data("acsp".utf8))
        // D50.
        header.replaceSubrange(68..<80, with: number(0xF6D6) + number(0x10000) + number(0xD32D))
        return header + number(1) + Data("A2B0".utf8) + number(144) + number(table.count) + table
    }

    /// L*, a* and b* under D50 of an sRGB colour.
    private static func lab(_ color: [Double]) -> [Double] {
        let light: [Double] = color.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        let rows = [[0.43607, 0.38515, 0.14307], [0.22249, 0.71687, 0.06061], [0.01392, 0.09708, 0.71410]]
        let white = [0.9642, 1, 0.8249]
        let f = zip(rows, white).map { row, white -> Double in
            let ratio: Double = (row[0] * light[0] + row[1] * light[1] + row[2] * light[2]) / white
            return ratio > 0.008856 ? pow(ratio, 1 / 3) : 7.787 * ratio + 16.0 / 116
        }
        return [min(100, max(0, 116 * f[1] - 16)), 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
    }

    private func number(_ value: Int) -> Data { Data((0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) }) }
    private func number16(_ value: Int) -> Data {
        let value = min(65535, max(0, value))
        return Data([UInt8(value >> 8), UInt8(value & 255)])
    }
}

extension TableProfile {
    /// RGB whose components mean blue, red and green.
    static var rotated: Data { Data(rotatedBytes) }
    /// Gray that means its negative.
    static var negative: Data { Data(negativeBytes) }
    /// CMYK as the plain formula has it.
    static var plainInks: Data { Data(plainInksBytes) }
    /// CMYK whose first ink is yellow and whose third is cyan.
    static var swappedInks: Data { Data(swappedInksBytes) }

    // Arrays: leak checkers take what a `Data` that lives for ever refers to for lost, as its pointers carry marks.
    private static let rotatedBytes = [UInt8](
        TableProfile(space: "RGB ", gridCount: 17) { [$0[1], $0[2], $0[0]] }.data)
    private static let negativeBytes = [UInt8](
        TableProfile(space: "GRAY", gridCount: 255) { [1 - $0[0], 1 - $0[0], 1 - $0[0]] }.data)
    private static let plainInksBytes = [UInt8](
        TableProfile(space: "CMYK", gridCount: 10) { inks in inks[0..<3].map { (1 - $0) * (1 - inks[3]) } }.data)
    private static let swappedInksBytes = [UInt8](
        TableProfile(space: "CMYK", gridCount: 10) { inks in
            [inks[2], inks[1], inks[0]].map { (1 - $0) * (1 - inks[3]) }
        }.data)
}
