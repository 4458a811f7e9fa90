#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension URL {
    /// The URL that a text means: what may not stand in a URL is escaped, once; escapes that are there stay.
    ///
    /// `URL(string:)` escapes the percent signs of existing escapes too as soon as it escapes anything.
    package init?(escaping text: String) {
        self.init(string: Self.escaped(text))
    }

    private static func escaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && hexValue(bytes[index + 1]) != nil
                && hexValue(bytes[index + 2]) != nil
            if isEscape || isLegal(byte) { result.append(byte) } else { result.append(contentsOf: escape(byte)) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// RFC 3986: unreserved, or reserved for a purpose.
    private static func isLegal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: legalMarks.contains(byte)
        }
    }

    private static let legalMarks = Set("-._~:/?#[]@!$&'()*+,;=".utf8)

    private static func escape(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}
