import FoundationEssentials
import Glibc
import Testing

/// Reads a profile of three primaries and one curve (ICC.1:2022), as a colour engine does.
struct ProfileReader {
    private let bytes: [UInt8]

    init(_ profile: Data?) throws { bytes = [UInt8](try #require(profile)) }

    /// The bytes of a tag.
    func tag(_ name: String) throws -> [UInt8] {
        for index in 0..<number(128, 4) {
            let entry = 132 + index * 12
            guard bytes[entry..<entry + 4].elementsEqual(name.utf8) else { continue }
            let (start, count) = (number(entry + 4, 4), number(entry + 8, 4))
            try #require(start % 4 == 0 && start + count <= bytes.count)
            return Array(bytes[start..<start + count])
        }
        throw ProfileError.noTag(name)
    }

    enum ProfileError: Error { case noTag(String), unknownCurve }

    /// X, Y and Z of a tag.
    func light(_ name: String) throws -> [Double] {
        let tag = try tag(name)
        return (0..<3).map { Self.fixed(tag, 8 + $0 * 4) }
    }

    /// How much light a code value 0…1 is, by the curve.
    func curve(_ code: Double) throws -> Double {
        let tag = try tag("rTRC")
        switch String(decoding: tag.prefix(4), as: UTF8.self) {
        case "curv":
            let count = Bytes.number(tag[8..<12])
            let place = code * Double(count - 1)
            let (low, high) = (Int(place), min(Int(place) + 1, count - 1))
            let values = [low, high].map { Double(Bytes.number(tag[12 + $0 * 2..<14 + $0 * 2])) / 65_535 }
            return values[0] + (values[1] - values[0]) * (place - Double(low))
        case "para":
            guard tag[9] == 0 else { throw ProfileError.unknownCurve }
            return pow(code, Self.fixed(tag, 12))
        default: throw ProfileError.unknownCurve
        }
    }

    /// The number that the header tells, and the bytes that there are.
    var isSizeRight: Bool { number(0, 4) == bytes.count }

    private func number(_ start: Int, _ count: Int) -> Int { Bytes.number(bytes[start..<start + count]) }

    private static func fixed(_ tag: [UInt8], _ start: Int) -> Double {
        Double(Int32(truncatingIfNeeded: Bytes.number(tag[start..<start + 4]))) / 65_536
    }
}
