/// EXIF data of one directory.
struct ExifData: Sendable {
    /// An entry of the directory: tag, type, count and the four bytes of the value as a number of `size` bytes.
    struct Entry: Sendable {
        var tag = 0x0112
        var type = 3
        var count = 1
        var value: Int
        var size = 2
    }

    var entries: [Entry]
    var isLittleEndian = false
    var offset = 8
    var magic = 42

    init(_ entries: [Entry]) { self.entries = entries }

    /// A directory that tells an orientation after some other tags.
    init(orientation: Int, isLittleEndian: Bool = false) {
        entries = [
            Entry(tag: 0x0100, type: 4, value: 640, size: 4), Entry(tag: 0x010F, value: 3), Entry(value: orientation),
        ]
        self.isLittleEndian = isLittleEndian
    }

    var bytes: [UInt8] {
        let order: [UInt8] = isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
        let header = order + integer(magic, 2) + integer(offset, 4)
        let filler = [UInt8](repeating: 0xEE, count: max(0, min(offset, 4096) - 8))
        return header + filler + integer(entries.count, 2) + entries.flatMap(bytes(of:)) + integer(0, 4)
    }

    private func bytes(of entry: Entry) -> [UInt8] {
        let value = integer(entry.value, entry.size) + [UInt8](repeating: 0, count: 4 - entry.size)
        return integer(entry.tag, 2) + integer(entry.type, 2) + integer(entry.count, 4) + value
    }

    private func integer(_ value: Int, _ size: Int) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }
}
