internal import NukeCore

/// Where a chunk of a RIFF file lies (RFC 9649, 2.3): its header is there, its contents may be cut off.
struct RIFFChunk {
    /// The four letters of a chunk's type, as the number that they are in the file.
    enum Kind: UInt32 {
        case lossy = 0x2038_5056  // "VP8 "
        case lossless = 0x4C38_5056  // "VP8L"
        case extended = 0x5838_5056  // "VP8X"
        case alpha = 0x4850_4C41  // "ALPH"
        case animation = 0x4D49_4E41  // "ANIM"
        case frame = 0x464D_4E41  // "ANMF"
        case profile = 0x5043_4349  // "ICCP"
        case exif = 0x4649_5845  // "EXIF"
    }

    /// The type, if it is one of those that count here.
    let kind: Kind?
    /// Where the header begins.
    let place: Int
    /// Bytes of the contents, as the header says.
    let count: Int

    /// Bytes of a header: the type and the length.
    static let headerCount = 8

    /// Reads the header at a place; nil unless all of it lies before `end`.
    init?(at place: Int, in bytes: RawSpan, before end: Int) {
        guard place >= 0, end <= bytes.byteCount, end - place >= Self.headerCount else { return nil }
        kind = Kind(rawValue: UInt32(bytes.integer(4, at: place)))
        count = bytes.integer(4, at: place + 4)
        self.place = place
    }

    /// Where the contents begin.
    var start: Int { place + Self.headerCount }

    /// Where the contents end.
    var end: Int { start + count }

    /// Where the next chunk begins: contents of an odd length are followed by one more byte.
    var next: Int { end + count % 2 }
}

extension RawSpan {
    /// The number that the little-endian bytes at an offset are, up to four; checked.
    func integer(_ count: Int, at offset: Int) -> Int {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        var value = 0
        for index in (0..<count).reversed() {
            value = value << 8 | Int(unsafe unsafeLoad(fromByteOffset: offset + index, as: UInt8.self))
        }
        return value
    }
}
