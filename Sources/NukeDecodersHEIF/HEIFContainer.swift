internal import NukeCore

/// What is read of the container here, as libheif does not tell it before it decodes: what the primary picture is made of,
/// the order of its properties, and where thumbnails lie (ISO/IEC 14496-12, 8.11; ISO/IEC 23008-12, 6 and 9).
///
/// Nothing outside the data is read, whatever it says; what is not understood is as if it were not there.
struct HEIFContainer {
    /// Whether the primary picture, or the first of those that it is made of, stores luminance only.
    private(set) var isGray = false
    /// Whether the primary picture is made of others, such as the tiles of a grid.
    private(set) var isDerived = false
    /// Whether a quarter turn of the primary picture stands before its size, where libheif 1.15 overlooks it.
    private(set) var isTurnedBeforeSize = false
    /// Where the thumbnails of the primary picture lie; nil if there are none, or their places are not known.
    private(set) var thumbnailRange: Range<Int>?
    /// For items that are a canvas for others, how far into their bytes its size stands; by every entry, where there are several.
    private(set) var canvasOffsets: [Int: Set<Int>] = [:]
    /// Where the last byte lies that any item has.
    private(set) var end = 0

    /// The item that is to be shown.
    let primary: Int
    /// The items that are thumbnails of it.
    let thumbnails: Set<Int>
    /// How items refer to one another.
    let links: [Link]
    /// What belongs to items.
    private(set) var properties = Properties()
    /// Where the bytes of items lie, piece by piece.
    private(set) var extents: [Int: [Range<Int>]] = [:]

    /// Boxes looked at in any list of them, and entries in any list of those: more than real files have.
    static let limit = 65_536
    /// Bytes that thumbnails may span to be worth loading first.
    private static let thumbnailLimit = 1 << 20

    /// Nil if the box that describes all items is not there as a whole.
    init?(_ bytes: RawSpan) {
        // Of several the last one counts, as it does for libheif.
        guard let meta = Self.boxes(in: 0..<bytes.byteCount, of: bytes).last(where: { $0.type == "meta" }),
            meta.isWhole
        else { return nil }
        // A full box: four bytes of version and flags come first.
        let children = Self.boxes(in: meta.contents.dropFirst(4), of: bytes)
        func child(_ type: String) -> Fields? {
            guard let box = children.first(where: { $0.type == type }), box.isWhole else { return nil }
            return Fields(box.contents)
        }
        guard var item = child("pitm"), let version = item.number(4, of: bytes),
            let primary = item.number(version >> 24 == 0 ? 2 : 4, of: bytes)
        else { return nil }
        self.primary = primary
        let links = child("iref").map { Self.links($0, bytes) } ?? []
        let thumbnails = Set(links.filter { $0.type == "thmb" && $0.to == primary }.map(\.from))
        (self.links, self.thumbnails) = (links, thumbnails)
        if let box = child("iprp") {
            properties = Properties(Self.boxes(in: box.rest, of: bytes), bytes)
            isTurnedBeforeSize = properties.isTurnedBeforeSize(primary, bytes)
            let part = links.first { $0.type == "dimg" && $0.from == primary }?.to
            isDerived = part != nil
            isGray = properties.isGray(part ?? primary, bytes)
        }
        canvasOffsets = child("iinf").map { Self.canvasOffsets($0, bytes) } ?? [:]
        guard var locations = child("iloc") else { return }
        extents = Self.extents(&locations, inline: child("idat")?.rest, bytes)
        end = extents.values.joined().reduce(0) { max($0, $1.upperBound) }
        // What belongs to thumbnails, such as their alpha, is needed as well.
        let parts = links.filter { $0.type == "auxl" && thumbnails.contains($0.to) }.map(\.from)
        thumbnailRange = Self.hull(of: (thumbnails.sorted() + parts).map { extents[$0] })
    }

    // MARK: Properties

    /// The properties of all items.
    struct Properties {
        private var boxes: [Box] = []
        private var indices: [Int: [Int]] = [:]

        init() {}

        init(_ children: [Box], _ bytes: RawSpan) {
            if let container = children.first(where: { $0.type == "ipco" }) {
                boxes = HEIFContainer.boxes(in: container.contents, of: bytes)
            }
            for box in children where box.type == "ipma" { readIndices(Fields(box.contents), bytes) }
        }

        private mutating func readIndices(_ fields: Fields, _ bytes: RawSpan) {
            var fields = fields
            guard let version = fields.number(4, of: bytes), let count = fields.number(4, of: bytes) else { return }
            let size = version & 1 == 1 ? 2 : 1
            for _ in 0..<min(count, HEIFContainer.limit) {
                guard let item = fields.number(version >> 24 == 0 ? 2 : 4, of: bytes),
                    let properties = fields.number(1, of: bytes)
                else { return }
                var list: [Int] = []
                for _ in 0..<properties {
                    guard let index = fields.number(size, of: bytes) else { return }
                    // The uppermost bit tells whether the property is essential.
                    list.append(index & (size == 2 ? 0x7FFF : 0x7F))
                }
                if indices[item] == nil { indices[item] = list }
            }
        }

        /// The properties of an item, in order.
        func properties(of item: Int) -> [Box] {
            (indices[item] ?? []).compactMap { $0 > 0 && $0 <= boxes.count ? boxes[$0 - 1] : nil }
        }

        func isTurnedBeforeSize(_ item: Int, _ bytes: RawSpan) -> Bool {
            let before = properties(of: item).prefix { $0.type != "ispe" }
            let turns = before.filter { box in
                var fields = Fields(box.contents)
                return box.type == "irot" && (fields.number(1, of: bytes) ?? 0) % 2 == 1
            }
            return turns.count % 2 == 1
        }

        /// By how an item is coded.
        func isGray(_ item: Int, _ bytes: RawSpan) -> Bool {
            for box in properties(of: item) {
                switch box.type {
                case "hvcC":  // ISO/IEC 14496-15, 8.3.2: chroma_format_idc
                    var fields = Fields(box.contents.dropFirst(16))
                    return fields.number(1, of: bytes).map { $0 & 3 == 0 } ?? false
                case "av1C":  // AV1 in ISOBMFF, 2.3: monochrome
                    var fields = Fields(box.contents.dropFirst(2))
                    return fields.number(1, of: bytes).map { $0 & 0x10 != 0 } ?? false
                default: continue
                }
            }
            return false
        }
    }

    // MARK: Types

    /// The items that are grids or overlays (ISO/IEC 23008-12, 6.6.2): in what they hold, the size follows the counts of rows and
    /// columns, or the colour behind the pictures.
    private static func canvasOffsets(_ fields: Fields, _ bytes: RawSpan) -> [Int: Set<Int>] {
        var (fields, offsets) = (fields, [Int: Set<Int>]())
        guard let version = fields.number(4, of: bytes).map({ $0 >> 24 }),
            fields.number(version == 0 ? 2 : 4, of: bytes) != nil
        else { return offsets }
        for box in boxes(in: fields.rest, of: bytes) where box.type == "infe" {
            var entry = Fields(box.contents)
            guard let version = entry.number(4, of: bytes).map({ $0 >> 24 }), version >= 2,
                let item = entry.number(version == 2 ? 2 : 4, of: bytes), entry.number(2, of: bytes) != nil,
                let type = entry.number(4, of: bytes)
            else { continue }
            switch type {
            case 0x6772_6964: offsets[item, default: []].insert(4)  // grid
            case 0x696F_766C: offsets[item, default: []].insert(10)  // iovl
            default: continue
            }
        }
        return offsets
    }

    // MARK: Places

    /// Where items lie: in the file, or in the box `idat` that is part of what describes them.
    private static func extents(
        _ fields: inout Fields, inline: Range<Int>?, _ bytes: RawSpan
    ) -> [Int: [Range<Int>]] {
        var (places, total) = ([Int: [Range<Int>]](), 0)
        guard let version = fields.number(4, of: bytes).map({ $0 >> 24 }), version <= 2,
            let sizes = fields.number(2, of: bytes), let count = fields.number(version == 2 ? 4 : 2, of: bytes)
        else { return places }
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version == 0 ? 0 : sizes & 15
        for _ in 0..<min(count, limit) {
            guard let item = fields.number(version == 2 ? 4 : 2, of: bytes),
                let method = version == 0 ? 0 : fields.number(2, of: bytes), fields.number(2, of: bytes) != nil,
                let base = fields.number(baseSize, of: bytes), let extents = fields.number(2, of: bytes)
            else { return places }
            let start = method & 15 == 0 ? 0 : method & 15 == 1 ? inline?.lowerBound : nil
            var list: [Range<Int>] = []
            for _ in 0..<extents {
                total += 1
                guard total <= limit, fields.number(indexSize, of: bytes) != nil,
                    let offset = fields.number(offsetSize, of: bytes), let length = fields.number(lengthSize, of: bytes)
                else { return places }
                if let start { list.append(start + base + offset..<start + base + offset + length) }
            }
            if places[item] == nil { places[item] = list }
        }
        return places
    }

    /// The range that holds all of these; nil if there are none, one is not known, or they span too much.
    private static func hull(of items: [[Range<Int>]?]) -> Range<Int>? {
        let known = items.compactMap { $0 }
        let ranges = known.joined()
        guard !items.isEmpty, known.count == items.count, !known.contains(where: \.isEmpty),
            !ranges.contains(where: \.isEmpty)
        else { return nil }
        let start = ranges.reduce(Int.max) { min($0, $1.lowerBound) }
        let end = ranges.reduce(0) { max($0, $1.upperBound) }
        return end - start <= thumbnailLimit ? start..<end : nil
    }

    // MARK: References

    typealias Link = (type: String, from: Int, to: Int)

    /// Which items are thumbnails of which, belong to which, and are made of which.
    private static func links(_ fields: Fields, _ bytes: RawSpan) -> [Link] {
        var (fields, links) = (fields, [Link]())
        guard let version = fields.number(4, of: bytes).map({ $0 >> 24 }) else { return links }
        let size = version == 0 ? 2 : 4
        for box in boxes(in: fields.rest, of: bytes) where ["thmb", "auxl", "dimg"].contains(box.type) {
            var fields = Fields(box.contents)
            guard let from = fields.number(size, of: bytes), let count = fields.number(2, of: bytes) else { continue }
            for _ in 0..<count {
                guard links.count < limit, let to = fields.number(size, of: bytes) else { break }
                links.append((box.type, from, to))
            }
        }
        return links
    }

    // MARK: Boxes

    struct Box {
        let type: String
        /// What is within, as far as it is there.
        let contents: Range<Int>
        let isWhole: Bool
    }

    /// Numbers one after the other.
    struct Fields {
        private(set) var rest: Range<Int>

        init(_ range: Range<Int>) { rest = range }

        /// A number of so many bytes, of 8 at most and below 2⁴⁸, so that sums of some do not overflow; nil if it is not there.
        mutating func number(_ count: Int, of bytes: RawSpan) -> Int? {
            guard count <= 8, rest.count >= count else { return nil }
            var value: UInt64 = 0
            for offset in rest.prefix(count) { value = value << 8 | UInt64(bytes.byte(at: offset)) }
            rest = rest.dropFirst(count)
            return value < 1 << 48 ? Int(value) : nil
        }
    }

    private static func boxes(in range: Range<Int>, of bytes: RawSpan) -> [Box] {
        var (boxes, fields) = ([Box](), Fields(range))
        while boxes.count < limit, !fields.rest.isEmpty {
            let start = fields.rest.startIndex
            guard var size = fields.number(4, of: bytes), fields.rest.count >= 4 else { break }
            let type = fields.rest.prefix(4).map { bytes.byte(at: $0) }
            fields = Fields(fields.rest.dropFirst(4))
            if size == 1 {
                guard let long = fields.number(8, of: bytes) else { break }
                size = long
            }
            let header = fields.rest.startIndex - start
            if size == 0 { size = header + fields.rest.count }
            guard size >= header else { break }
            let contents = fields.rest.prefix(size - header)
            boxes.append(
                Box(
                    type: String(decoding: type, as: UTF8.self), contents: contents,
                    isWhole: contents.count == size - header))
            fields = Fields(fields.rest.dropFirst(size - header))
        }
        return boxes
    }
}

extension RawSpan {
    func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
