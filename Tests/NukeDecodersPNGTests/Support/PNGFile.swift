import FoundationEssentials
import Testing

/// A PNG being written by hand, chunk by chunk.
struct PNGFile {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// A chunk, whose checksum can be made wrong.
    struct Chunk: Sendable, CustomTestStringConvertible {
        var type: String
        var contents: [UInt8]
        var hasRightChecksum = true

        var testDescription: String { "\(type) of \(contents.count) bytes" }

        var bytes: [UInt8] {
            let body = Array(type.utf8) + contents
            let checksum = PNGFile.crc(body) ^ (hasRightChecksum ? 0 : 1)
            return PNGFile.bigEndian(contents.count) + body + PNGFile.bigEndian(Int(checksum))
        }
    }

    var chunks: [Chunk] = []

    var bytes: [UInt8] { chunks.reduce(into: Self.signature) { $0 += $1.bytes } }
    var data: Data { Data(bytes) }

    init(_ chunks: [Chunk]) { self.chunks = chunks }

    /// A picture of one colour type with chunks before and behind its pixels.
    init(_ picture: SamplePicture, before: [Chunk] = [], behind: [Chunk] = [], pieces: Int = 1) {
        let raw = Self.zlib(picture.filteredRows)
        let size = (raw.count + pieces - 1) / pieces
        let data = stride(from: 0, to: raw.count, by: size).map { start in
            Chunk(type: "IDAT", contents: Array(raw[start..<min(start + size, raw.count)]))
        }
        let end = Chunk(type: "IEND", contents: [])
        chunks = [picture.header] + before + picture.palette + data + behind + [end]
    }

    /// The chunks of a sound file; nil if they are not whole.
    init?(parsing bytes: [UInt8]) {
        var rest = bytes.dropFirst(Self.signature.count)
        while !rest.isEmpty {
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 12 + count else { return nil }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            chunks.append(Chunk(type: type, contents: Array(rest.dropFirst(8).prefix(count))))
            rest = rest.dropFirst(12 + count)
        }
    }

    /// A picture of given rows, not filtered.
    init(width: Int, depth: Int, colorType: Int, rows: [[UInt8]], before: [Chunk] = []) {
        let header = Self.header(width: width, height: rows.count, depth: depth, colorType: colorType)
        let data = Chunk(type: "IDAT", contents: Self.zlib(rows.flatMap { [0] + $0 }))
        chunks = [header] + before + [data, Chunk(type: "IEND", contents: [])]
    }

    /// Samples of 16 bits.
    static func wide(_ samples: [Int]) -> [UInt8] { samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }

    /// The place behind the last byte of the last chunk of this type.
    func end(of type: String) -> Int {
        var (place, end) = (Self.signature.count, 0)
        for chunk in chunks {
            place += chunk.bytes.count
            if chunk.type == type { end = place }
        }
        return end
    }

    /// IHDR.
    static func header(
        width: Int, height: Int, depth: Int, colorType: Int, isInterlaced: Bool = false
    ) -> Chunk {
        let fields = [UInt8(depth), UInt8(colorType), 0, 0, isInterlaced ? 1 : 0]
        return Chunk(type: "IHDR", contents: bigEndian(width) + bigEndian(height) + fields)
    }

    static func bigEndian(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    /// A zlib stream of stored blocks.
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let block = bytes[start..<min(start + 65_535, bytes.count)]
            start += block.count
            stream.append(start == bytes.count ? 1 : 0)
            stream += [UInt8(block.count & 255), UInt8(block.count >> 8)]
            stream += [UInt8(~block.count & 255), UInt8(~block.count >> 8 & 255)]
            stream += block
        } while start < bytes.count
        return stream + bigEndian(adler(bytes))
    }

    /// A zlib stream that inflates to 1 + 258 × `runs` zeros, 13 bits a run: one literal, then copies of it.
    ///
    /// `prefix` is inflated before.
    static func bomb(prefix: [UInt8] = [], runs: Int) -> [UInt8] {
        var bits = BitWriter(bytes: [0x78, 0x01])
        bits.write(1, count: 1)  // last block
        bits.write(1, count: 2)  // fixed codes
        for byte in prefix + [0] {
            if byte < 144 {
                bits.writeCode(0x30 + Int(byte), count: 8)
            } else {
                bits.writeCode(0x190 + Int(byte) - 144, count: 9)
            }
        }
        for _ in 0..<min(runs, 24 + runs % 8) {
            bits.writeCode(0xC5, count: 8)  // length 258
            bits.writeCode(0, count: 5)  // distance 1
        }
        // Eight runs are 13 bytes, which repeat.
        bits.repeatBytes(13, count: max(0, runs - 24) / 8)
        bits.writeCode(0, count: 7)  // end of block
        // A zero leaves the lower sum as it is and adds it to the higher.
        let checksum = adler(prefix)
        let higher = (checksum >> 16 + (checksum & 0xFFFF) * (1 + 258 * runs)) % 65_521
        return bits.bytes + bigEndian(higher << 16 | checksum & 0xFFFF)
    }

    static func adler(_ bytes: [UInt8]) -> Int {
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    static func crc(_ bytes: [UInt8]) -> UInt32 {
        let remainders = remainders
        var remainder = UInt32.max
        for byte in bytes { remainder = remainder >> 8 ^ remainders[Int(UInt8(truncatingIfNeeded: remainder) ^ byte)] }
        return ~remainder
    }

    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}

/// Writes bits from the lowest of each byte up, as deflate has them.
private struct BitWriter {
    var bytes: [UInt8]
    private var free = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func write(_ value: Int, count: Int) {
        for index in 0..<count {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            bytes[bytes.count - 1] |= UInt8(value >> index & 1) << (8 - free)
            free -= 1
        }
    }

    /// Writes the last `period` bytes, bit by bit as they stand, `count` times more.
    mutating func repeatBytes(_ period: Int, count: Int) {
        guard count > 0 else { return }
        let mask = UInt8(0xFF) >> free
        bytes.removeLast()
        for _ in 0..<period * count { bytes.append(bytes[bytes.count - period]) }
        bytes.append(bytes[bytes.count - period] & mask)
    }

    /// Huffman codes start with their highest bit.
    mutating func writeCode(_ value: Int, count: Int) {
        for index in (0..<count).reversed() { write(value >> index & 1, count: 1) }
    }
}
