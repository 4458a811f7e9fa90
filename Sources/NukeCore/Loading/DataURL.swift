#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Parses `data:` URLs (RFC 2397): an optional media type, `;base64` or percent-encoding, and the data.
enum DataURL {
    /// The bytes that a data URL carries, and their media type (`text/plain;charset=US-ASCII` where none is named).
    static func parse(_ url: String) throws(DataLoadingError) -> (data: Data, mediaType: String) {
        let text = url.utf8
        guard text.count > 5, url.prefix(5).lowercased() == "data:" else { throw .malformedDataURL("no data: scheme") }
        let rest = text.dropFirst(5)
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { throw .malformedDataURL("no comma") }
        var header = String(Substring(rest[..<comma]))
        // A fragment is no part of the data (RFC 3986, 3.5).
        let payload = rest[rest.index(after: comma)...].prefix { $0 != UInt8(ascii: "#") }
        let isBase64 = header.lowercased().hasSuffix(";base64")
        if isBase64 { header = String(header.dropLast(7)) }
        if header.isEmpty { header = "text/plain;charset=US-ASCII" }
        if header.hasPrefix(";") { header = "text/plain" + header }
        let bytes = try percentDecoded(payload)
        return (isBase64 ? try base64Decoded(bytes) : Data(bytes), header)
    }

    private static func percentDecoded(_ text: Substring.UTF8View) throws(DataLoadingError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                throw .malformedDataURL("a % without two hexadecimal digits")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// RFC 4648 with either alphabet; white space is skipped; padding may be left out, but must be right where it is.
    private static func base64Decoded(_ text: [UInt8]) throws(DataLoadingError) -> Data {
        var bytes = Data(capacity: text.count / 4 * 3 + 3)
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for byte in text where byte != 0x20 && !(0x09...0x0D).contains(byte) {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = base64Value(byte) else {
                throw .malformedDataURL("a byte that is not of base64")
            }
            bits = bits << 6 | UInt32(value)
            digits += 1
            if digits % 4 == 0 {
                bytes.append(contentsOf: [UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8)])
                bytes.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        let left = digits % 4
        guard left != 1, padding == 0 || left + padding == 4 else { throw .malformedDataURL("base64 cut short") }
        if left == 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> 4)) }
        if left == 3 {
            bytes.append(contentsOf: [UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2)])
        }
        return bytes
    }

    private static func base64Value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// The value of a hexadecimal digit in either letter case.
func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
