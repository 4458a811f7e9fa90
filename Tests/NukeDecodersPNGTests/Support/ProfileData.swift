import NukeTestSupport

/// The smallest ICC profiles that libpng finds sound: a header and no tags.
enum ProfileData {
    /// A profile whose data colour space has this signature, such as `RGB `; behind the header stands what may be.
    static func bytes(space: String, count: Int = 132) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 132)
        var numbers = SeededNumbers(seed: 3)
        bytes.replaceSubrange(0..<4, with: PNGFile.bigEndian(count))
        bytes[8] = 2
        bytes.replaceSubrange(12..<16, with: "mntr".utf8)
        bytes.replaceSubrange(16..<20, with: space.utf8)
        bytes.replaceSubrange(20..<24, with: "XYZ ".utf8)
        bytes.replaceSubrange(36..<40, with: "acsp".utf8)
        // The illuminant D50, which every profile has.
        bytes.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        if count <= 4096 { bytes += (0..<count - 132).map { _ in .random(in: 0...255, using: &numbers) } }
        return bytes
    }

    /// An iCCP chunk with a zlib stream as its profile.
    static func chunk(stream: [UInt8]) -> PNGFile.Chunk {
        PNGFile.Chunk(type: "iCCP", contents: Array("test".utf8) + [0, 0] + stream)
    }

    /// An iCCP chunk with a profile.
    static func chunk(space: String) -> PNGFile.Chunk { chunk(stream: PNGFile.zlib(bytes(space: space))) }
}
