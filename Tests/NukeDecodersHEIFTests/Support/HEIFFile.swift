import FoundationEssentials
import NukeCore
import Testing

/// A file of items being written by hand (ISO/IEC 23008-12, 14496-12), out of pictures that an encoder coded.
struct HEIFFile {
    /// A box, or a property of an item.
    struct Box: Equatable {
        var type: String
        var contents: [UInt8]
        /// Of properties: whether a reader that does not know it must not show the item.
        var isEssential = false

        var bytes: [UInt8] { Bytes.big(contents.count + 8, 4) + Array(type.utf8) + contents }
    }

    /// One item; its number is its place, from 1 on.
    struct Item {
        var type: String
        var data: [UInt8]
        var properties: [Box] = []
        /// Whether the data is said to lie in two pieces, the first of 20 bytes.
        var isInPieces = false
    }

    var type: AssetType
    var items: [Item] = []
    /// Type, item from which, items to which.
    var references: [(type: String, from: Int, to: [Int])] = []
    var primary = 1
    /// What items are said to be besides, in entries behind those of all items.
    var otherTypes: [(Int, String)] = []

    init(_ type: AssetType) { self.type = type }

    var data: Data { Data(bytes) }

    var bytes: [UInt8] {
        let brand = type == .avif ? "avif" : "heic"
        let start = Box(type: "ftyp", contents: Array(brand.utf8) + [0, 0, 0, 0] + Array("mif1\(brand)miaf".utf8)).bytes
        // Offsets have a fixed size, so those of the first try tell how long everything is.
        let first = start + meta(dataStart: 0).bytes
        return start + meta(dataStart: first.count + 8).bytes + Box(type: "mdat", contents: items.flatMap(\.data)).bytes
    }

    private func meta(dataStart: Int) -> Box {
        let handler = Box(
            type: "hdlr", contents: [0, 0, 0, 0, 0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        let main = Box(type: "pitm", contents: [0, 0, 0, 0] + Bytes.big(primary, 2))
        let types = items.enumerated().map { ($0 + 1, $1.type) } + otherTypes
        let entries = types.flatMap { item, type in
            Box(type: "infe", contents: [2, 0, 0, 0] + Bytes.big(item, 2) + [0, 0] + Array(type.utf8) + [0]).bytes
        }
        let infos = Box(type: "iinf", contents: [0, 0, 0, 0] + Bytes.big(types.count, 2) + entries)
        let links = references.flatMap { reference in
            Box(
                type: reference.type,
                contents: Bytes.big(reference.from, 2) + Bytes.big(reference.to.count, 2)
                    + reference.to.flatMap { Bytes.big($0, 2) }
            ).bytes
        }
        let refs = references.isEmpty ? [] : Box(type: "iref", contents: [0, 0, 0, 0] + links).bytes
        var place = dataStart
        var locations: [UInt8] = [0, 0, 0, 0, 0x44, 0] + Bytes.big(items.count, 2)
        for (index, item) in items.enumerated() {
            let pieces = item.isInPieces ? [20, item.data.count - 20] : [item.data.count]
            locations += Bytes.big(index + 1, 2) + [0, 0] + Bytes.big(pieces.count, 2)
            for piece in pieces {
                locations += Bytes.big(place, 4) + Bytes.big(piece, 4)
                place += piece
            }
        }
        let boxes = handler.bytes + main.bytes + Box(type: "iloc", contents: locations).bytes + infos.bytes + refs
        return Box(type: "meta", contents: [0, 0, 0, 0] + boxes + properties.bytes)
    }

    private var properties: Box {
        var shared: [Box] = []
        var links: [UInt8] = []
        for (index, item) in items.enumerated() where !item.properties.isEmpty {
            links += Bytes.big(index + 1, 2) + [UInt8(item.properties.count)]
            for property in item.properties {
                let place = shared.firstIndex(of: property) ?? shared.count
                if place == shared.count { shared.append(property) }
                links.append(UInt8(place + 1) | (property.isEssential ? 0x80 : 0))
            }
        }
        let count = items.count { !$0.properties.isEmpty }
        let containers = Box(type: "ipco", contents: shared.flatMap(\.bytes)).bytes
        let association = Box(type: "ipma", contents: [0, 0, 0, 0] + Bytes.big(count, 4) + links).bytes
        return Box(type: "iprp", contents: containers + association)
    }

    /// Adds an item and tells its number.
    mutating func add(_ item: Item) -> Int {
        items.append(item)
        return items.count
    }
}

/// Properties of items.
extension HEIFFile.Box {
    static func size(_ width: Int, _ height: Int) -> Self {
        .init(type: "ispe", contents: [0, 0, 0, 0] + Bytes.big(width, 4) + Bytes.big(height, 4))
    }

    /// Quarter turns counter-clockwise.
    static func rotation(_ turns: Int) -> Self { .init(type: "irot", contents: [UInt8(turns)], isEssential: true) }

    /// The middle part of these sides.
    static func crop(_ width: Int, _ height: Int) -> Self {
        let numbers = [width, 1, height, 1, 0, 1, 0, 1]
        return .init(type: "clap", contents: numbers.flatMap { Bytes.big($0, 4) }, isEssential: true)
    }

    static func coding(_ primaries: Int, _ transfer: Int, _ matrix: Int, isFullRange: Bool) -> Self {
        let numbers = [primaries, transfer, matrix].flatMap { Bytes.big($0, 2) }
        return .init(type: "colr", contents: Array("nclx".utf8) + numbers + [isFullRange ? 0x80 : 0])
    }

    static func auxiliary(_ name: String) -> Self {
        .init(type: "auxC", contents: [0, 0, 0, 0] + Array(name.utf8) + [0])
    }
}

/// A picture as an encoder coded it: what an item of another file needs.
struct CodedPicture {
    let type: AssetType
    let width: Int
    let height: Int
    let payload: [UInt8]
    let configuration: HEIFFile.Box

    /// Codes an opaque picture.
    init(_ image: Bitmap, _ type: AssetType, quality: Double = 0.95) throws {
        let bytes = [UInt8](try HEIFUnderTest.encoded(image, type, quality: quality))
        self.type = type
        (width, height) = (image.width, image.height)
        let boxes = try Bytes.boxes(in: bytes)
        let meta = try #require(boxes.first { $0.type == "meta" })
        let inner = try Bytes.boxes(in: Array(meta.contents.dropFirst(4)))
        let properties = try Bytes.boxes(in: try #require(inner.first { $0.type == "iprp" }).contents)
        let shared = try Bytes.boxes(in: try #require(properties.first { $0.type == "ipco" }).contents)
        configuration = try #require(shared.first { $0.type == (type == .avif ? "av1C" : "hvcC") })
        payload = try #require(boxes.first { $0.type == "mdat" }).contents
    }

    /// The item of this picture, with further properties before and after those it needs.
    func item(before: [HEIFFile.Box] = [], _ more: [HEIFFile.Box] = []) -> HEIFFile.Item {
        var configuration = configuration
        configuration.isEssential = true
        let properties = before + [configuration, .size(width, height)] + more
        return HEIFFile.Item(type: type == .avif ? "av01" : "hvc1", data: payload, properties: properties)
    }

    /// The file of this picture alone.
    func file(before: [HEIFFile.Box] = [], _ more: [HEIFFile.Box] = []) -> HEIFFile {
        var file = HEIFFile(type)
        file.items = [item(before: before, more)]
        return file
    }
}

/// Numbers and boxes as bytes.
enum Bytes {
    static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// Where what stands behind the type of a box begins.
    static func contents(of type: String, in bytes: [UInt8]) throws -> Int {
        try #require(bytes.indices.first { bytes[$0...].starts(with: type.utf8) }) + 4
    }

    static func number(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    static func boxes(in bytes: [UInt8]) throws -> [HEIFFile.Box] {
        var (boxes, place) = ([HEIFFile.Box](), 0)
        while place + 8 <= bytes.count {
            let size = number(bytes[place..<place + 4])
            try #require(size >= 8 && place + size <= bytes.count)
            let type = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
            boxes.append(.init(type: type, contents: Array(bytes[place + 8..<place + size])))
            place += size
        }
        return boxes
    }
}
