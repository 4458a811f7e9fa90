internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tells by the first bytes which kind of video a file is, and where its index stands.
enum VideoSniffer {
    /// How a file is laid out.
    enum Container: Sendable { case isoMedia, matroska }

    /// What the first bytes say.
    enum Answer: Equatable {
        case type(AssetType)
        case other
        case needsMoreData
    }

    /// Major brands of MPEG-4 files that the core does not name: 3GPP and 3GPP2, audio, Flash, later versions of ISO's.
    private static let moreBrands: Set<String> = [
        "3gp4", "3gp5", "3gp6", "3gp7", "3gp8", "3gp9", "3gr6", "3gs6", "3ge6", "3g2a", "3g2b", "3g2c", "M4A ", "M4B ",
        "F4V ", "MSNV", "iso3", "iso7", "iso8", "iso9", "mp71", "msdh", "msix", "cmfc", "dby1",
    ]
    /// First boxes of QuickTime files that are older than `ftyp`.
    private static let oldBoxes: Set<String> = ["moov", "mdat", "wide", "pnot"]

    /// What the bytes say.
    static func answer(for bytes: Data, isComplete: Bool) -> Answer {
        if bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            if let type = AssetType(bytes), type == .webm || type == .mkv { return .type(type) }
            return bytes.count < 64 && !isComplete ? .needsMoreData : .other
        }
        guard bytes.count >= 12 else {
            return isComplete || bytes.isEmpty && bytes.first != 0 && bytes.first != 0x1A ? .other : .needsMoreData
        }
        let kind = text(in: bytes, at: 4)
        if kind == "ftyp" {
            if let type = AssetType(bytes), Self.types.contains(type) { return .type(type) }
            return moreBrands.contains(text(in: bytes, at: 8)) ? .type(.mp4) : .other
        }
        return oldBoxes.contains(kind) ? .type(.mov) : .other
    }

    /// The types that there are decoders for here.
    static let types: [AssetType] = [.mp4, .m4v, .mov, .webm, .mkv]

    static func container(of type: AssetType) -> Container { type == .webm || type == .mkv ? .matroska : .isoMedia }

    private static func text(in bytes: Data, at offset: Int) -> String {
        String(decoding: bytes.dropFirst(offset).prefix(4), as: UTF8.self)
    }

    /// Where the index of a file of ISO media stands, as far as the bytes so far tell.
    enum Index: Equatable {
        /// All of it has come; also where there are no boxes, which is then to be told by the one who reads.
        case there
        /// It ends so many bytes from the start, and has come up to another place.
        case ends(at: Int, have: Int)
        /// It is to be looked for further on, behind the pictures.
        case behind(Int)
        /// More bytes will tell.
        case unknown
    }

    /// Looks for the box `moov` (ISO/IEC 14496-12, 8.2.1) among those of the top level.
    static func index(in source: VideoSource) -> Index {
        guard case .data(let data) = source.origin else { return .there }
        let bytes = data.bytes
        var place = 0
        while place < source.size {
            guard source.has(place..<min(place + 16, source.size)) else {
                return place <= source.arrived + 64 << 10 ? .unknown : .behind(place)
            }
            guard let box = ISOBox(at: place, in: bytes, end: source.size) else { return .there }
            if box.kind == ISOBox.code("moov") {
                return source.has(place..<box.end) ? .there : .ends(at: box.end, have: source.reach(from: place))
            }
            if box.kind == ISOBox.code("moof") { return .there }
            place = box.end
        }
        return .there
    }
}

extension VideoSource {
    /// Whether all of these bytes have come.
    func has(_ range: Range<Int>) -> Bool { reach(from: range.lowerBound) >= range.upperBound }

    /// Up to where, without a gap, bytes from a place on have come; the place itself if there are none.
    func reach(from place: Int) -> Int {
        var end = max(place, arrived)
        // A range may begin where another ends; there are few.
        for _ in 0...ranges.count {
            guard let next = ranges.first(where: { $0.lowerBound <= end && end < $0.upperBound }) else { break }
            end = next.upperBound
        }
        return end
    }
}

/// A box of ISO media: a length, a name and what is in it (ISO/IEC 14496-12, 4.2).
struct ISOBox {
    /// The name, as a number.
    let kind: UInt32
    /// Where what is in it starts.
    let start: Int
    /// Where it ends, which may be behind the end of the bytes.
    let end: Int

    /// The box at a place; nil if there is none before `end` of a length that can be.
    init?(at place: Int, in bytes: RawSpan, end limit: Int) {
        guard place >= 0, place <= limit - 8, place <= bytes.byteCount - 8 else { return nil }
        var size = bytes.bigEndian(at: place, count: 4)
        kind = UInt32(bytes.bigEndian(at: place + 4, count: 4))
        var start = place + 8
        if size == 1 {
            guard place <= bytes.byteCount - 16 else { return nil }
            let long = bytes.bigEndian(at: place + 8, count: 8)
            guard long <= UInt64(Int.max) else { return nil }
            size = long
            start = place + 16
        }
        // 0: up to the end of the file.
        let (end, overflow) = size == 0 ? (limit, false) : place.addingReportingOverflow(Int(size))
        guard !overflow, end >= start else { return nil }
        self.start = start
        self.end = end
    }

    /// The number that a name of four letters is.
    static func code(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { unsafe $0.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }
}

extension RawSpan {
    /// A number of so many bytes, which must be there.
    func bigEndian(at place: Int, count: Int) -> UInt64 {
        // SAFETY: loads check the bounds; any byte is a number.
        (place..<place + count).reduce(0) { unsafe $0 << 8 | UInt64(unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
    }
}
