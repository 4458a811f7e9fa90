internal import NukeCore

/// Where a chunk lies in the data: all of it is there.
struct PNGChunk {
    /// The four letters of a chunk's type as a number.
    enum Kind: UInt32 {
        case header = 0x4948_4452  // IHDR
        case palette = 0x504C_5445  // PLTE
        case picture = 0x4944_4154  // IDAT
        case end = 0x4945_4E44  // IEND
        case transparency = 0x7452_4E53  // tRNS
        case profile = 0x6943_4350  // iCCP
        case exif = 0x6558_4966  // eXIf
        case animation = 0x6163_544C  // acTL
        case frameControl = 0x6663_544C  // fcTL
        case frameData = 0x6664_4154  // fdAT
        case appleVariant = 0x4367_4249  // CgBI
    }

    /// The type, if it is one of those that count here.
    let kind: Kind?
    /// The offset of the contents.
    let start: Int
    /// Bytes of the contents.
    let count: Int

    /// Finds the chunk at an offset; nil if the data ends before the chunk does.
    init?(at offset: Int, in bytes: RawSpan) {
        guard bytes.byteCount - offset >= 12 else { return nil }
        count = Int(bytes.bigEndian(at: offset))
        guard count <= bytes.byteCount - offset - 12 else { return nil }
        kind = Kind(rawValue: bytes.bigEndian(at: offset + 4))
        start = offset + 8
    }

    /// The offset behind the chunk.
    var end: Int { start + count + 4 }

    /// Whether type and contents have the checksum that stands behind them.
    func isIntact(in bytes: RawSpan) -> Bool {
        var checksum = PNGChecksum()
        checksum.add(bytes.extracting(start - 4..<start + count))
        return checksum.value == bytes.bigEndian(at: start + count)
    }
}

/// The checksum of chunks (PNG, third edition, 5.5: CRC-32, reflected 0xEDB88320), four bytes at a time.
struct PNGChecksum {
    private var remainder = UInt32.max

    /// The checksum of all bytes so far.
    var value: UInt32 { ~remainder }

    /// Goes on with more bytes.
    mutating func add(_ bytes: RawSpan) {
        // SAFETY: every offset is below the count; every index into the tables has 8 bits and the table's number.
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe Self.tables.withUnsafeBufferPointer { tables in
                var (rest, place) = (remainder, 0)
                while place &+ 4 <= bytes.count {
                    rest ^= UInt32(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                    let low = unsafe tables[Int(768 | rest & 255)] ^ tables[Int(512 | rest >> 8 & 255)]
                    rest = unsafe low ^ tables[Int(256 | rest >> 16 & 255)] ^ tables[Int(rest >> 24)]
                    place &+= 4
                }
                while place < bytes.count {
                    rest = unsafe rest >> 8 ^ tables[Int((rest ^ UInt32(bytes[place])) & 255)]
                    place &+= 1
                }
                remainder = rest
            }
        }
    }

    /// The remainders of all bytes; then the same with one, two and three bytes of 0 behind.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { byte in
            (0..<8).reduce(UInt32(byte)) { rest, _ in rest >> 1 ^ (rest & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        for index in 256..<1024 {
            let rest = tables[index - 256]
            tables.append(rest >> 8 ^ tables[Int(rest & 255)])
        }
        return tables
    }()
}

extension RawSpan {
    /// The byte at an offset, which must be within bounds.
    func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The number of 32 bits at an offset, which must be within bounds.
    func bigEndian(at offset: Int) -> UInt32 {
        // SAFETY: any four bytes are a UInt32; unsafeLoadUnaligned checks the bounds.
        UInt32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
