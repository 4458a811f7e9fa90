internal import NukeCore

/// The name of a key's entry: the SHA-256 digest of the key's UTF-8.
///
/// On disk it is a folder of two hexadecimal digits and in it a file of 62. Keys that Swift calls equal, such as one "é"
/// and "e" with an accent, have different bytes and so different entries.
struct EntryName: Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    static let shardCount = 256
    /// Bytes of the path within the cache's folder.
    static let pathLength = 65

    private static let fileNameLength = 62

    /// Takes the key's bytes as they are.
    init(key: [UInt8]) {
        let digest = SHA256.digest(key)
        func word(_ index: Int) -> UInt64 {
            digest[index * 8..<index * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The name that a file in a shard's folder stands for; nil for a file that is no entry.
    init?(shard: Int, fileName: Span<UInt8>) {
        guard fileName.count == Self.fileNameLength,
            let first = Hexadecimal.number(fileName, 0..<14), let second = Hexadecimal.number(fileName, 14..<30),
            let third = Hexadecimal.number(fileName, 30..<46), let fourth = Hexadecimal.number(fileName, 46..<62)
        else { return nil }
        words = (UInt64(shard) << 56 | first, second, third, fourth)
    }

    /// The number of its folder, 0…255.
    var shard: Int { Int(words.0 >> 56) }

    /// The name of a folder.
    static func folderDigits(_ shard: Int) -> [CChar] {
        [Hexadecimal.digit(shard >> 4), Hexadecimal.digit(shard & 15)]
    }

    /// Writes the folder's digits, a slash and the file's digits, 65 bytes, at an offset.
    func write(to path: inout MutableSpan<CChar>, at offset: Int) {
        Hexadecimal.write(words.0, to: &path, at: offset + 1)
        Hexadecimal.write(words.1, to: &path, at: offset + 17)
        Hexadecimal.write(words.2, to: &path, at: offset + 33)
        Hexadecimal.write(words.3, to: &path, at: offset + 49)
        // The first two digits move to the left of the slash.
        path[offset] = path[offset + 1]
        path[offset + 1] = path[offset + 2]
        path[offset + 2] = CChar(bitPattern: UInt8(ascii: "/"))
    }
}

extension EntryName: Hashable {
    static func == (a: EntryName, b: EntryName) -> Bool { a.words == b.words }

    // The first word of a digest is as good as all four.
    func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The name of a file that is being written: hidden, in the entry's folder, with a number that no other has.
struct TemporaryName {
    let number: UInt64

    private static let prefix = Array(".writing-".utf8)

    init(number: UInt64) { self.number = number }

    /// Nil for any other file.
    init?(fileName: Span<UInt8>) {
        let start = Self.prefix.count
        guard fileName.count == start + 16, Self.prefix.indices.allSatisfy({ fileName[$0] == Self.prefix[$0] }),
            let number = Hexadecimal.number(fileName, start..<start + 16)
        else { return nil }
        self.number = number
    }

    var bytes: [CChar] {
        var bytes = Self.prefix.map { CChar(bitPattern: $0) } + [CChar](repeating: 0, count: 16)
        var span = bytes.mutableSpan
        Hexadecimal.write(number, to: &span, at: Self.prefix.count)
        return bytes
    }
}

/// Numbers in lower-case hexadecimal digits.
private enum Hexadecimal {
    private static let digits: [16 of CChar] = [
        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102,
    ]

    static func digit(_ value: Int) -> CChar { digits[value & 15] }

    /// Writes a number in 16 digits.
    static func write(_ number: UInt64, to path: inout MutableSpan<CChar>, at offset: Int) {
        for i in 0..<16 { path[offset &+ i] = digit(Int(truncatingIfNeeded: number &>> UInt64(60 &- i &* 4))) }
    }

    /// The number that at most 16 digits stand for; nil if one of them is none.
    static func number(_ digits: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for i in range {
            switch digits[i] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digits[i] - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                number = number << 4 | UInt64(digits[i] - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }
}
