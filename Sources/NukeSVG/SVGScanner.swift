internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Goes through the tags of a document: once, from the start, resolving nothing and keeping nothing.
///
/// Just enough of XML 1.0 to see what elements there are: what it can't make sense of is the end.
struct SVGScanner {
    /// What was come to.
    enum Step: Equatable {
        case startTag, endTag
        /// The internal subset of the document type, as a range of bytes.
        case subset(Range<Int>)
        /// The end of the text, or something that is no markup; within something where more text could tell.
        case end(isCut: Bool)
    }

    /// A name or a value.
    struct Attribute {
        let name: Range<Int>
        let value: Range<Int>
    }

    /// The text in ASCII as far as markup goes: UTF-8, or the low halves of UTF-16.
    let bytes: [UInt8]
    private var place = 0
    /// The name of the last start tag.
    private(set) var name = 0..<0
    /// Its attributes.
    private(set) var attributes: [Attribute] = []
    /// Whether it has no end tag of its own.
    private(set) var isEmptyElement = false

    init(_ data: Data) { bytes = Self.plain(data) }

    /// The text without a byte order mark, and of UTF-16 (XML 1.0, appendix F) what is in ASCII.
    private static func plain(_ data: Data) -> [UInt8] {
        let bytes = [UInt8](data)
        func half(_ start: Int, _ low: Int) -> [UInt8] {
            stride(from: start, to: bytes.count - 1, by: 2).map { bytes[$0 + 1 - low] == 0 ? bytes[$0 + low] : 0x7F }
        }
        switch (bytes.first, bytes.dropFirst().first) {
        case (0xFF, 0xFE): return half(2, 0)
        case (0xFE, 0xFF): return half(2, 1)
        case (0x3C, 0): return half(0, 0)
        case (0, 0x3C): return half(0, 1)
        default: return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        }
    }

    /// Goes to the next tag.
    mutating func next() -> Step {
        while place < bytes.count {
            guard let tag = bytes[place...].firstIndex(of: UInt8(ascii: "<")) else { break }
            place = tag
            if has("<!--") {
                guard skip(past: "-->", from: place + 4) else { return .end(isCut: true) }
            } else if has("<?") {
                guard skip(past: "?>", from: place + 2) else { return .end(isCut: true) }
            } else if has("<![CDATA[") {
                guard skip(past: "]]>", from: place + 9) else { return .end(isCut: true) }
            } else if has("<!DOCTYPE") {
                return documentType()
            } else if has("</") {
                guard skip(past: ">", from: place + 2) else { return .end(isCut: true) }
                return .endTag
            } else if bytes.count - place < 9, "<![CDATA[".utf8.starts(with: bytes[place...]) || isStartOfMark {
                return .end(isCut: true)
            } else {
                return startTag()
            }
        }
        return .end(isCut: true)
    }

    private var isStartOfMark: Bool {
        "<!DOCTYPE".utf8.starts(with: bytes[place...]) || "<!--".utf8.starts(with: bytes[place...])
    }

    /// The local name of the last start tag, without the prefix of its namespace.
    var localName: ArraySlice<UInt8> {
        let name = bytes[name]
        return name.firstIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name
    }

    /// The value of an attribute of the last start tag; nil if it has none of this very name.
    func value(of name: StaticString) -> ArraySlice<UInt8>? {
        let wanted = name.description.utf8
        return attributes.first { bytes[$0.name].elementsEqual(wanted) }.map { bytes[$0.value] }
    }

    /// Whether what stands before the root is white.
    var isWhiteBeforeFirstTag: Bool { bytes.first { !Self.isWhite($0) } == UInt8(ascii: "<") }

    private func has(_ text: StaticString) -> Bool { bytes[place...].starts(with: text.description.utf8) }

    /// Goes behind a mark; says whether there is one.
    private mutating func skip(past mark: StaticString, from start: Int) -> Bool {
        let mark = Array(mark.description.utf8)
        var index = min(start, bytes.count)
        while let found = bytes[index...].firstIndex(of: mark[0]) {
            if bytes[found...].starts(with: mark) {
                place = found + mark.count
                return true
            }
            index = found + 1
        }
        place = bytes.count
        return false
    }

    /// Skips `<!DOCTYPE svg … [ … ]>`, in whose subset brackets and angles may stand in quotes and comments.
    private mutating func documentType() -> Step {
        var index = place + 9
        var start: Int?
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = bytes[(index + 1)...].firstIndex(of: bytes[index]) else { return .end(isCut: true) }
                index = end
            case UInt8(ascii: "<") where start != nil && bytes[index...].starts(with: "<!--".utf8):
                guard skip(past: "-->", from: index + 4) else { return .end(isCut: true) }
                index = place - 1
            case UInt8(ascii: "["): start = start ?? index + 1
            case UInt8(ascii: "]"):
                guard let subset = start, skip(past: ">", from: index) else { return .end(isCut: true) }
                return .subset(subset..<index)
            case UInt8(ascii: ">") where start == nil:
                place = index + 1
                return .subset(index..<index)
            default: break
            }
            index += 1
        }
        return .end(isCut: true)
    }

    private mutating func startTag() -> Step {
        attributes.removeAll(keepingCapacity: true)
        isEmptyElement = false
        var index = place + 1
        let start = index
        while index < bytes.count, !Self.endsName(bytes[index]) { index += 1 }
        guard index < bytes.count else { return .end(isCut: true) }
        name = start..<index
        guard !name.isEmpty else { return .end(isCut: false) }
        place = index
        readAttributes()
        return .startTag
    }

    /// Reads attributes up to the end of the tag, or of the text.
    private mutating func readAttributes() {
        var index = place
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: ">") {
                isEmptyElement = bytes[index - 1] == UInt8(ascii: "/")
                place = index + 1
                return
            }
            if Self.isWhite(byte) || byte == UInt8(ascii: "/") {
                index += 1
                continue
            }
            let start = index
            while index < bytes.count, !Self.endsName(bytes[index]), bytes[index] != UInt8(ascii: "=") { index += 1 }
            let end = index
            while index < bytes.count, Self.isWhite(bytes[index]) || bytes[index] == UInt8(ascii: "=") { index += 1 }
            guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "'"),
                let close = bytes[(index + 1)...].firstIndex(of: bytes[index])
            else { break }
            attributes.append(Attribute(name: start..<end, value: index + 1..<close))
            index = close + 1
        }
        place = bytes.count
    }

    static func isWhite(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func endsName(_ byte: UInt8) -> Bool {
        isWhite(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
    }
}
