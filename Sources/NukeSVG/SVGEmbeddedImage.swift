internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// An image in an address of the scheme `data` (RFC 2397), as far as it has to be known how large it is.
///
/// librsvg leaves these to other libraries, which take any size.
struct SVGEmbeddedImage {
    /// What it is.
    enum Content {
        /// So many pixels; 0 if it is nothing that can be read.
        case pixels(Double)
        /// Another document.
        case document(Data)
    }

    private let bytes: Data

    /// Nil if the address is another; throws if an entity stands in it, which could be anything.
    init?(_ address: ArraySlice<UInt8>) throws(ImageDecodingError) {
        let address = try Self.withoutReferences(address).drop(while: SVGScanner.isWhite)
        guard String(decoding: address.prefix(5), as: UTF8.self).lowercased() == "data:" else { return nil }
        guard let comma = address.firstIndex(of: UInt8(ascii: ",")) else {
            bytes = Data()
            return
        }
        let isBase64 = String(decoding: address[..<comma], as: UTF8.self).lowercased().contains("base64")
        let content = Self.withoutEscapes(address[(comma + 1)...])
        bytes = isBase64 ? Self.base64(content) : Data(content)
    }

    /// What it is; throws for what is neither PNG, JPEG, GIF, WebP nor SVG.
    func content() throws(ImageDecodingError) -> Content {
        if SVGSniffer.isCompressed(bytes) {
            throw .unsupported("a compressed document is embedded", codec: ImageDecoders.SVG.codec)
        }
        if SVGSniffer.answer(for: bytes.prefix(16 << 10), isComplete: true) == .yes { return .document(bytes) }
        switch AssetType(bytes) {
        case .png: return .pixels(number(16, 4, isLittle: false) * number(20, 4, isLittle: false))
        case .gif: return .pixels(number(6, 2, isLittle: true) * number(8, 2, isLittle: true))
        case .jpeg: return .pixels(jpegPixels)
        case .webp: return .pixels(webpPixels)
        case nil: return .pixels(0)
        case let type?:
            throw .unsupported("an image of type \(type.rawValue) is embedded", codec: ImageDecoders.SVG.codec)
        }
    }

    /// The size in the frame header (ISO/IEC 10918-1, B.2.2), the largest if there are several.
    private var jpegPixels: Double {
        let span = bytes.bytes
        var place = 2
        var largest = 0.0
        while place + 9 < span.byteCount {
            guard byte(place) == 0xFF else {
                place += 1
                continue
            }
            let marker = byte(place + 1)
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                largest = max(largest, number(place + 5, 2, isLittle: false) * number(place + 7, 2, isLittle: false))
            }
            place += 1
        }
        return largest
    }

    /// The size of the canvas, or of the one picture (RFC 9649, 2.5 to 2.7, RFC 6386, 9.1).
    private var webpPixels: Double {
        switch String(decoding: bytes.dropFirst(12).prefix(4), as: UTF8.self) {
        case "VP8X": return (number(24, 3, isLittle: true) + 1) * (number(27, 3, isLittle: true) + 1)
        case "VP8L":
            let bits = UInt32(number(21, 4, isLittle: true))
            return Double((bits & 0x3FFF) + 1) * Double((bits >> 14 & 0x3FFF) + 1)
        default:
            let (width, height) = (UInt32(number(26, 2, isLittle: true)), UInt32(number(28, 2, isLittle: true)))
            return Double(width & 0x3FFF) * Double(height & 0x3FFF)
        }
    }

    private func byte(_ place: Int) -> UInt8 {
        let index = bytes.startIndex + place
        return index < bytes.endIndex ? bytes[index] : 0
    }

    private func number(_ place: Int, _ count: Int, isLittle: Bool) -> Double {
        let places = isLittle ? (0..<count).reversed().map { place + $0 } : (0..<count).map { place + $0 }
        return places.reduce(0) { $0 * 256 + Double(byte($1)) }
    }

    /// The text of an attribute (XML 1.0, 3.3.3): with characters for references by number and to what XML itself names.
    private static func withoutReferences(_ text: ArraySlice<UInt8>) throws(ImageDecodingError) -> ArraySlice<UInt8> {
        guard text.contains(UInt8(ascii: "&")) else { return text }
        let names: [String: UInt8] = ["lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "amp": 0x26]
        let numbered = SVGSurvey.withoutNumberedReferences(text)
        var result: [UInt8] = []
        result.reserveCapacity(numbered.count)
        var rest = numbered[...]
        while let byte = rest.first {
            rest = rest.dropFirst()
            guard byte == UInt8(ascii: "&") else {
                result.append(byte)
                continue
            }
            let name = rest.prefix(5).prefix { $0 != UInt8(ascii: ";") }
            guard let character = names[String(decoding: name, as: UTF8.self)] else {
                throw .unsupported("an entity in the address of an image", codec: ImageDecoders.SVG.codec)
            }
            result.append(character)
            rest = rest.dropFirst(name.count + 1)
        }
        return result[...]
    }

    /// Undoes escapes such as `%41` (RFC 3986, 2.1).
    private static func withoutEscapes(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.first {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "%"), let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) {
                result.append(code)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// What can be had of base64 (RFC 4648), with anything else in it passed over.
    private static func base64(_ text: [UInt8]) -> Data {
        var result = Data(capacity: text.count / 4 * 3)
        var word: UInt32 = 0
        var count = 0
        for byte in text {
            guard let digit = digit(byte) else { continue }
            word = word << 6 | digit
            count += 1
            guard count == 4 else { continue }
            for shift: UInt32 in [16, 8, 0] { result.append(UInt8(truncatingIfNeeded: word >> shift)) }
            (word, count) = (0, 0)
        }
        if count >= 2 { result.append(UInt8(truncatingIfNeeded: (word << (6 * UInt32(4 - count))) >> 16)) }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
