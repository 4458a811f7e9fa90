import FoundationEssentials
import NukeCore
import NukeTestSupport

/// A WebP file taken apart into its chunks, to be changed and put together again, or made of frames.
struct WebPFile {
    struct Chunk {
        var type: String
        var contents: [UInt8]

        var bytes: [UInt8] {
            let fill: [UInt8] = contents.count % 2 == 1 ? [0] : []
            return Array(type.utf8) + WebPFile.littleEndian(contents.count, 4) + contents + fill
        }

        /// The chunks that the contents are, from an offset on.
        static func all(in bytes: [UInt8], from offset: Int) -> [Chunk] {
            var chunks: [Chunk] = []
            var place = offset
            while place + 8 <= bytes.count {
                let count = bytes[place + 4..<place + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
                let end = min(place + 8 + count, bytes.count)
                let type = String(decoding: bytes[place..<place + 4], as: UTF8.self)
                chunks.append(Chunk(type: type, contents: Array(bytes[place + 8..<end])))
                place = end + count % 2
            }
            return chunks
        }
    }

    /// The flags of a VP8X chunk.
    enum Flag {
        static let animation: UInt8 = 0x02
        static let exif: UInt8 = 0x08
        static let alpha: UInt8 = 0x10
        static let profile: UInt8 = 0x20
    }

    var chunks: [Chunk]

    init(_ chunks: [Chunk]) { self.chunks = chunks }

    init(_ data: Data) { chunks = Chunk.all(in: [UInt8](data), from: 12) }

    /// A file of the fixtures.
    init(fixture name: String) throws { self.init(try Fixture.data("webp/\(name)")) }

    var data: Data {
        let body = Array("WEBP".utf8) + chunks.flatMap(\.bytes)
        return Data(Array("RIFF".utf8) + Self.littleEndian(body.count, 4) + body)
    }

    /// The chunks of the picture: alpha, if it has a chunk of its own, and VP8 or VP8L.
    var picture: [Chunk] { chunks.filter { ["ALPH", "VP8 ", "VP8L"].contains($0.type) } }

    /// Where the contents of the first chunk of a type begin in `data`.
    func start(of type: String) -> Int? {
        var place = 12
        for chunk in chunks {
            if chunk.type == type { return place + 8 }
            place += chunk.bytes.count
        }
        return nil
    }

    /// Makes a file with a VP8X chunk of a still picture.
    mutating func extend(width: Int, height: Int, flags: UInt8) {
        chunks = [Self.extended(width: width, height: height, flags: flags)] + picture
    }

    /// Adds EXIF data behind the picture, as the format has it.
    mutating func add(exif: [UInt8]) {
        chunks[0].contents[0] |= Flag.exif
        chunks.append(Chunk(type: "EXIF", contents: exif))
    }

    /// Adds a profile before the picture.
    mutating func add(profile: [UInt8]) {
        chunks[0].contents[0] |= Flag.profile
        chunks.insert(Chunk(type: "ICCP", contents: profile), at: 1)
    }

    static func extended(width: Int, height: Int, flags: UInt8) -> Chunk {
        let sides = littleEndian(width - 1, 3) + littleEndian(height - 1, 3)
        return Chunk(type: "VP8X", contents: [flags, 0, 0, 0] + sides)
    }

    /// A TIFF structure with an orientation.
    static func exif(_ orientation: ImageOrientation) -> [UInt8] {
        let header = Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1]
        return header + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
    }

    /// A profile that is only a header.
    static func profile(space: String = "RGB ", count: Int = 132) -> [UInt8] {
        var bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        bytes.replaceSubrange(16..<20, with: space.utf8)
        bytes.replaceSubrange(36..<40, with: "acsp".utf8)
        return bytes
    }

    static func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
