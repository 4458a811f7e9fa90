import FoundationEssentials
import NukeCore
import Testing

@testable import NukeDiskCache

@Suite("Names of entries", .timeLimit(.minutes(5)))
struct EntryNameTests {
    @Test(
        "SHA-256 is that of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (String(repeating: "a", count: 63), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
            (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        ])
    func digests(text: String, digest: String) {
        #expect(SHA256.hexDigest(text) == digest)
        #expect(SHA256.hex(SHA256.digest(AnySequence(text.utf8))) == digest)
    }

    @Test("SHA-256 of a million bytes is that of FIPS 180-4")
    func longDigest() {
        let digest = SHA256.digest(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        #expect(SHA256.hex(digest) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(
        "The file is two digits of the key's digest, a slash and the other 62, whatever the key's length [DSK-04] [pitfall 103]"
    )
    func path() throws {
        let folder = try TemporaryFolder()
        let cache = try DataCache(path: folder.path)
        for key in ["a", String(repeating: "x", count: 300), "../../etc/passwd", "a/b\u{0}c"] {
            let digest = SHA256.hexDigest(key)
            let expected = folder.path + "/" + digest.prefix(2) + "/" + digest.dropFirst(2)
            #expect(cache.path(for: key) == expected)
            #expect(cache.url(for: key)?.path(percentEncoded: false) == expected)
            cache.storeData(Data([1, 2, 3]), for: key)
            cache.flush()
            #expect(try contents(expected).suffix(3) == [1, 2, 3])
        }
        #expect(try folder.files().count == 4)
    }

    @Test("A name is read back from its file, and from no other")
    func parsing() throws {
        let name = EntryName(key: Array("key".utf8))
        let digits = Array(SHA256.hexDigest("key").utf8)
        let file = Array(digits.dropFirst(2))
        let shard = try #require(Int(String(decoding: digits.prefix(2), as: UTF8.self), radix: 16))
        #expect(name.shard == shard)
        #expect(EntryName(shard: shard, fileName: file.span) == name)
        #expect(EntryName(shard: (shard + 1) % 256, fileName: file.span) != name)
        var foreign = [
            [], Array(file.dropLast()), file + [48], Array(String(decoding: file, as: UTF8.self).uppercased().utf8),
        ]
        for (index, byte) in [(0, "g"), (13, "/"), (14, "."), (61, "\u{0}"), (30, "+")] {
            foreign.append(file)
            foreign[foreign.count - 1][index] = Array(byte.utf8)[0]
        }
        for bytes in foreign {
            #expect(EntryName(shard: shard, fileName: bytes.span) == nil)
        }
    }

    @Test("The name of a file that is being written is read back, and no other is taken for one")
    func temporaryNames() {
        let name = TemporaryName(number: 0x0123_4567_89ab_cdef)
        let bytes = name.bytes.map { UInt8(bitPattern: $0) }
        #expect(String(decoding: bytes, as: UTF8.self) == ".writing-0123456789abcdef")
        #expect(TemporaryName(fileName: bytes.span)?.number == name.number)
        for other in [
            ".writing-", ".writing-0123456789abcde", ".writing-0123456789abcdeF", ".writinG-0123456789abcdef",
        ] {
            #expect(TemporaryName(fileName: Array(other.utf8).span) == nil)
        }
    }
}
