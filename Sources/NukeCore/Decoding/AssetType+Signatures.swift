#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension AssetType {
    /// Finds the type by the data's first bytes; nil for what is not known.
    ///
    /// Looks at 64 bytes, or at 4 KB for text (SVG). Slices of other data serve as well.
    public init?(_ data: Data) {
        let bytes = Array(data.prefix(4096))
        guard let type = Self.signatures.first(where: { $0.matches(bytes) })?.type ?? Self.structured(bytes) else {
            return nil
        }
        self = type
    }

    /// Bytes at an offset that tell a format.
    private struct Signature: Sendable {
        let type: AssetType
        let parts: [(offset: Int, bytes: [UInt8])]

        init(_ type: AssetType, _ bytes: [UInt8], and second: (offset: Int, bytes: [UInt8])? = nil) {
            self.type = type
            self.parts = [(0, bytes)] + (second.map { [$0] } ?? [])
        }

        init(_ type: AssetType, _ text: String, and second: (offset: Int, text: String)? = nil) {
            self.init(type, Array(text.utf8), and: second.map { ($0.offset, Array($0.text.utf8)) })
        }

        func matches(_ data: [UInt8]) -> Bool {
            parts.allSatisfy { data.dropFirst($0.offset).starts(with: $0.bytes) }
        }
    }

    /// Signatures at fixed places; the ones that could be taken for others stand last.
    private static let signatures: [Signature] = [
        Signature(.jpeg, [0xFF, 0xD8, 0xFF]),
        Signature(.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Signature(.gif, "GIF87a"),
        Signature(.gif, "GIF89a"),
        Signature(.webp, "RIFF", and: (8, "WEBP")),
        Signature(.ico, [0x00, 0x00, 0x01, 0x00]),
        Signature(.jpeg2000, [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Signature(.jpeg2000, [0xFF, 0x4F, 0xFF, 0x51]),
        Signature(.jxl, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Signature(.jxl, [0xFF, 0x0A]),
        Signature(.tiff, [0x49, 0x49, 0x2A, 0x00]),
        Signature(.tiff, [0x4D, 0x4D, 0x00, 0x2A]),
    ]

    /// Formats whose first bytes have to be read a little: ISO media by brand, Matroska by document type, SVG by root.
    private static func structured(_ bytes: [UInt8]) -> AssetType? {
        if let type = isoMedia(bytes) ?? matroska(bytes) { return type }
        if SVGSniffer.isSVG(bytes) { return .svg }
        return bytes.starts(with: "BM".utf8) ? .bmp : nil
    }

    /// ISO base media (ISO/IEC 14496-12, 4.3): `ftyp` at 4, the major brand at 8.
    private static func isoMedia(_ bytes: [UInt8]) -> AssetType? {
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return nil }
        switch String(decoding: bytes[8..<12], as: UTF8.self) {
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
        case "avif", "avis": return .avif
        case "isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "mmp4", "avc1", "dash": return .mp4
        case "M4V ", "M4VH", "M4VP": return .m4v
        case "qt  ": return .mov
        default: return nil
        }
    }

    /// EBML (RFC 8794): the header's DocType element (0x4282) says "webm" or "matroska".
    private static func matroska(_ bytes: [UInt8]) -> AssetType? {
        guard bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
        let header = bytes.prefix(64)
        guard let element = header.indices.dropLast(3).first(where: { header[$0] == 0x42 && header[$0 + 1] == 0x82 })
        else { return nil }
        let text = header.dropFirst(element + 3)
        if text.starts(with: "webm".utf8) { return .webm }
        return text.starts(with: "matroska".utf8) ? .mkv : nil
    }
}

/// Tells whether text is an XML document whose root element is `svg`, of any namespace prefix.
private enum SVGSniffer {
    static func isSVG(_ bytes: [UInt8]) -> Bool {
        var rest = text(bytes)[...]
        while true {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
            if rest.starts(with: "<?".utf8) {
                rest = skip(rest, past: "?>")
            } else if rest.starts(with: "<!--".utf8) {
                rest = skip(rest, past: "-->")
            } else if rest.starts(with: "<!DOCTYPE".utf8) {
                rest = skipDoctype(rest)
            } else {
                return rest.first == UInt8(ascii: "<") && rootName(rest.dropFirst()).elementsEqual("svg".utf8)
            }
        }
    }

    /// UTF-8 without its byte order mark; of UTF-16 every other byte, which is enough for markup.
    private static func text(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return stride(from: 2, to: bytes.count, by: 2).map { bytes[$0] } }
        if bytes.starts(with: [0xFE, 0xFF]) { return stride(from: 3, to: bytes.count, by: 2).map { bytes[$0] } }
        return bytes
    }

    private static func rootName(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let name = rest.prefix { byte in
            byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/") && byte > 0x20
        }
        guard name.endIndex < rest.endIndex else { return [] }  // the name may go on behind the prefix
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")) else { return name }
        return name[(colon + 1)...]
    }

    /// Skips a document type with its internal subset: `<!DOCTYPE svg [ … ]>`.
    private static func skipDoctype(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
        let subset = rest.firstIndex(of: UInt8(ascii: "[")) ?? rest.endIndex
        guard subset < end else { return rest[end...].dropFirst() }
        return skip(skip(rest, past: "]"), past: ">")
    }

    private static func skip(_ rest: ArraySlice<UInt8>, past mark: String) -> ArraySlice<UInt8> {
        var rest = rest
        while !rest.isEmpty, !rest.starts(with: mark.utf8) { rest = rest.dropFirst() }
        return rest.dropFirst(mark.utf8.count)
    }
}
