#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What stands in an entry's file.
///
/// | offset | bytes |                                                                                |
/// |-------:|------:|--------------------------------------------------------------------------------|
/// |      0 |     6 | "NUKEDC"                                                                       |
/// |      6 |     2 | version of this layout                                                         |
/// |      8 |     4 | length of the key                                                              |
/// |     12 |     4 | 0                                                                              |
/// |     16 |     8 | length of the data                                                             |
/// |     24 |     8 | checksum of everything else: bytes 0…23, then 32 to the key's end, then the data |
/// |     32 |       | the key's UTF-8, and zeros up to a multiple of 16                              |
/// |        |       | the data, to the end of the file                                               |
///
/// Numbers are little-endian. Folders are not for sharing between machines of different byte order: the checksum differs,
/// so that entries are misses there.
enum EntryFormat {
    /// Files of another version, older or newer, are misses and make room.
    static let version: UInt16 = 1
    static let fixedLength = 32
    /// Bytes of the largest file, 2 GiB: what a file says of itself never asks for more memory.
    static let maximumLength = 2 << 30

    private static let magic = Array("NUKEDC".utf8)

    /// What is wrong with a file that bears an entry's name.
    enum Defect: Equatable, CustomStringConvertible {
        case notAnEntry, otherVersion(UInt16), otherKey, wrongLength, wrongChecksum

        var description: String {
            switch self {
            case .notAnEntry: "the file is not a cache entry"
            case .otherVersion(let version): "the entry has format version \(version)"
            case .otherKey: "the entry belongs to another key"
            case .wrongLength: "the entry is torn: its length is not the one in its header"
            case .wrongChecksum: "the entry is damaged: its checksum does not match"
            }
        }
    }

    /// Where the data starts.
    static func dataOffset(keyLength: Int) -> Int { fixedLength + (keyLength + 15) & ~15 }

    /// All that stands before the data.
    static func header(key: [UInt8], data: Data) -> [UInt8] {
        var header: [UInt8] = []
        header.reserveCapacity(dataOffset(keyLength: key.count))
        header += magic
        append(UInt64(version), bytes: 2, to: &header)
        append(UInt64(key.count), bytes: 4, to: &header)
        append(0, bytes: 4, to: &header)
        append(UInt64(data.count), bytes: 8, to: &header)
        append(0, bytes: 8, to: &header)
        header += key
        header += repeatElement(0, count: dataOffset(keyLength: key.count) - header.count)
        // SAFETY: bytes have no padding.
        let seed = unsafe checksum(ofHeader: header.span.bytes)
        let sum = FileSystem.checksum(data, seed: seed)
        for i in 0..<8 { header[24 + i] = UInt8(truncatingIfNeeded: sum >> UInt64(i * 8)) }
        return header
    }

    /// What is wrong with a whole file as the entry of a key; nil if nothing.
    static func defect(of file: RawSpan, key: [UInt8]) -> Defect? {
        if let defect = defect(ofHeader: file, key: key, fileLength: file.byteCount) { return defect }
        let offset = dataOffset(keyLength: key.count)
        let seed = checksum(ofHeader: file.extracting(first: offset))
        let sum = FileSystem.checksum(file.extracting(droppingFirst: offset), seed: seed)
        return number(file, at: 24, bytes: 8) == sum ? nil : .wrongChecksum
    }

    /// What is wrong, as far as a file's first bytes tell; they have to reach the data if the file does.
    static func defect(ofHeader bytes: RawSpan, key: [UInt8], fileLength: Int) -> Defect? {
        let offset = dataOffset(keyLength: key.count)
        guard bytes.byteCount >= fixedLength else { return .notAnEntry }
        guard fileLength <= maximumLength else { return .wrongLength }
        for (i, byte) in magic.enumerated() where bytes[i] != byte { return .notAnEntry }
        let version = UInt16(number(bytes, at: 6, bytes: 2))
        guard version == Self.version else { return .otherVersion(version) }
        guard number(bytes, at: 8, bytes: 4) == UInt64(key.count) else { return .otherKey }
        guard bytes.byteCount >= offset, number(bytes, at: 16, bytes: 8) == UInt64(fileLength - offset) else {
            return .wrongLength
        }
        for i in key.indices where bytes[fixedLength + i] != key[i] { return .otherKey }
        return nil
    }

    /// The checksum of all that stands before the data, but for the eight bytes of the checksum itself.
    private static func checksum(ofHeader header: RawSpan) -> UInt64 {
        let fixed = FileSystem.checksum(header.extracting(first: 24), seed: 0)
        return FileSystem.checksum(header.extracting(droppingFirst: fixedLength), seed: fixed)
    }

    private static func append(_ number: UInt64, bytes: Int, to header: inout [UInt8]) {
        for i in 0..<bytes { header.append(UInt8(truncatingIfNeeded: number >> UInt64(i * 8))) }
    }

    private static func number(_ span: RawSpan, at offset: Int, bytes: Int) -> UInt64 {
        (0..<bytes).reversed().reduce(0) { $0 << 8 | UInt64(span[offset + $1]) }
    }
}

extension RawSpan {
    fileprivate subscript(_ index: Int) -> UInt8 {
        // SAFETY: the load checks its bounds; every pattern of bits is a UInt8.
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
}
