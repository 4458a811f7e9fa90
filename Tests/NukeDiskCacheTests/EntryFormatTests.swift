import CNukeDisk
import FoundationEssentials
import Testing

@testable import NukeDiskCache

@Suite("The format of entries", .timeLimit(.minutes(5)))
struct EntryFormatTests {
    private let key = Array("https://example.com/a.jpg".utf8)

    private func file(_ data: Data) -> [UInt8] { EntryFormat.header(key: key, data: data) + data }

    private func defect(_ file: [UInt8], key: [UInt8]) -> EntryFormat.Defect? {
        EntryFormat.defect(of: file.span.bytes, key: key)
    }

    @Test("The header stands as documented, so that a change of it needs a new version")
    func layout() {
        let file = file(Data([9, 8, 7]))
        #expect(file.count == 32 + 32 + 3)
        #expect(Array(file[0..<8]) == Array("NUKEDC".utf8) + [1, 0])
        #expect(Array(file[8..<24]) == [25, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(file[32..<57]) == key)
        #expect(Array(file[57..<64]) == [0, 0, 0, 0, 0, 0, 0])
        #expect(Array(file[64...]) == [9, 8, 7])
        #expect(EntryFormat.dataOffset(keyLength: 0) == 32)
        #expect(EntryFormat.dataOffset(keyLength: 16) == 48)
        #expect(EntryFormat.dataOffset(keyLength: 17) == 64)
    }

    @Test("What was written is right, for data of any size")
    func acceptsWhole() {
        for size in [0, 1, 2, 7, 8, 31, 32, 63, 64, 65, 127, 128, 1000, 4096, 70_001] {
            #expect(defect(file(Data((0..<size).map { UInt8($0 & 255) })), key: key) == nil)
        }
    }

    @Test("A bit flipped anywhere is found [pitfall 97]")
    func flippedBits() {
        let whole = file(Data((0..<150).map { UInt8($0) }))
        for position in whole.indices {
            for bit in 0..<8 {
                var file = whole
                file[position] ^= 1 << bit
                #expect(defect(file, key: key) != nil, "byte \(position), bit \(bit)")
            }
        }
    }

    @Test("A file cut anywhere, or with something behind it, is found [pitfall 92]")
    func lengths() {
        let whole = file(Data((0..<150).map { UInt8($0) }))
        for count in 0..<whole.count {
            #expect(defect(Array(whole.prefix(count)), key: key) != nil, "\(count) bytes")
        }
        #expect(defect(whole + [0], key: key) == .wrongLength)
        // A file of the largest length is an entry, as far as its header tells, and one more byte is too much.
        for (length, expected) in [(2 << 30, nil), ((2 << 30) + 1, .wrongLength)] as [(Int, EntryFormat.Defect?)] {
            var header = Array(whole.prefix(64))
            for i in 0..<8 { header[16 + i] = UInt8(truncatingIfNeeded: (length - 64) >> (i * 8)) }
            #expect(EntryFormat.defect(ofHeader: header.span.bytes, key: key, fileLength: length) == expected)
        }
    }

    @Test("Zeros in place of a part, and parts that changed places, are found [pitfall 97]")
    func blocks() {
        let data = (0..<40_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        let whole = file(Data(data))
        for start in stride(from: 64, to: whole.count - 512, by: 512) {
            var zeroed = whole
            zeroed.replaceSubrange(start..<start + 512, with: repeatElement(0, count: 512))
            #expect(defect(zeroed, key: key) == .wrongChecksum)
            guard start >= 576 else { continue }
            var swapped = whole
            swapped.replaceSubrange(start..<start + 512, with: whole[start - 512..<start])
            swapped.replaceSubrange(start - 512..<start, with: whole[start..<start + 512])
            #expect(defect(swapped, key: key) == .wrongChecksum)
        }
        var words = whole
        words.swapAt(64, 64 + 64)
        words.swapAt(65, 65 + 8)
        #expect(defect(words, key: key) == .wrongChecksum)
    }

    @Test("An entry is of its key only")
    func keys() {
        let whole = file(Data([1, 2, 3]))
        #expect(defect(whole, key: Array("https://example.com/b.jpg".utf8)) == .otherKey)
        #expect(defect(whole, key: Array("https://example.com/a.jpg\u{0}".utf8)) == .otherKey)
        #expect(defect(whole, key: []) == .otherKey)
    }

    @Test("Entries of another version, and no entries at all, are told apart [pitfall 98]")
    func versions() {
        for version in [UInt8(0), 2, 255] {
            var file = file(Data([1, 2, 3]))
            file[6] = version
            #expect(defect(file, key: key) == .otherVersion(UInt16(version)))
        }
        #expect(defect([], key: key) == .notAnEntry)
        #expect(
            defect(Array("{\"lastSweepDate\": 700000000}, as another program writes it".utf8), key: key) == .notAnEntry)
    }

    @Test(
        "The checksum has the values that files on disk have",
        arguments: [
            (0, 0, 1_630_135_000_960_432_127), (1, 0, 13_251_580_815_852_343_177), (64, 0, 11_644_476_631_444_029_168),
            (1000, 0, 896_696_505_321_576_352), (1000, 7, 8_736_833_177_417_412_242),
        ] as [(Int, UInt64, UInt64)])
    func checksum(count: Int, seed: UInt64, value: UInt64) {
        #expect(FileSystem.checksum(Data((0..<count).map { UInt8($0 & 255) }), seed: seed) == value)
    }

    @Test("The checksum is the same with and without wide registers, wherever the bytes start")
    func checksumWithoutWideRegisters() {
        let bytes = (0..<700).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
        bytes.withUnsafeBytes { buffer in
            for start in 0..<40 {
                for count in [0, 1, 8, 31, 63, 64, 65, 127, 128, 640] {
                    let address = buffer.baseAddress.map { $0 + start }
                    #expect(CNukeDisk_checksum(address, count, 5) == CNukeDisk_checksumPlainly(address, count, 5))
                }
            }
        }
    }
}
