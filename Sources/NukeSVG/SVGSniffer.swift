internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells by the first bytes whether a file is an SVG document, compressed or not.
enum SVGSniffer {
    /// Bytes of decompressed text that are looked at.
    private static let inflatedCount = 16 << 10

    /// Whether the bytes begin as gzip does, with its one method (RFC 1952, 2.3.1).
    static func isCompressed(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B, 0x08]) }

    /// What the first bytes say.
    ///
    /// The root element's local name is `svg`, whatever the prefix; before it stand a byte order mark, a declaration, comments,
    /// instructions and a document type, or nothing. What gzip hides is looked at if the libraries are there; if they are not it
    /// counts as SVG, so that decoding tells what is missing.
    static func answer(for bytes: Data, isComplete: Bool, library: SVGLibrary? = nil) -> ImageFormat.Sniff {
        guard isCompressed(bytes) else { return plainAnswer(for: bytes, isComplete: isComplete) }
        let library = library ?? .shared
        guard library.defect == nil else { return .yes }
        let text = try? library.inflate(bytes, limit: inflatedCount, isPrefix: true)
        guard let text, !text.isEmpty else { return isComplete ? .no : .needsMoreData }
        return plainAnswer(for: text, isComplete: isComplete || text.count == inflatedCount)
    }

    private static func plainAnswer(for bytes: Data, isComplete: Bool) -> ImageFormat.Sniff {
        var scanner = SVGScanner(bytes)
        guard scanner.bytes.contains(where: { !SVGScanner.isWhite($0) }) else {
            return isComplete || bytes.count > 1024 ? .no : .needsMoreData
        }
        guard scanner.isWhiteBeforeFirstTag else { return isMark(bytes) && !isComplete ? .needsMoreData : .no }
        while true {
            switch scanner.next() {
            case .startTag: return scanner.localName.elementsEqual("svg".utf8) ? .yes : .no
            case .subset: continue
            case .endTag: return .no
            case .end(let isCut): return isCut && !isComplete ? .needsMoreData : .no
            }
        }
    }

    /// Whether these few bytes may be the start of a byte order mark, or of text in UTF-16.
    private static func isMark(_ bytes: Data) -> Bool {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF], [0, 0x3C], [0x1F, 0x8B, 0x08]]
        return marks.contains { bytes.count <= $0.count && $0.starts(with: bytes) }
    }
}
