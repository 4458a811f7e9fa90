/// The SHA-256 digest (FIPS 180-4), for keys and file names.
public struct SHA256: Sendable {
    /// The digest of bytes: 32 bytes.
    public static func digest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        // SAFETY: the span is used within the closure, while the storage that it looks at stays in place.
        let words = bytes.withContiguousStorageIfAvailable { unsafe hash($0.span) } ?? hash(Array(bytes).span)
        var digest: [UInt8] = []
        digest.reserveCapacity(32)
        for i in 0..<8 {
            let word = words[i]
            digest.append(UInt8(truncatingIfNeeded: word &>> 24))
            digest.append(UInt8(truncatingIfNeeded: word &>> 16))
            digest.append(UInt8(truncatingIfNeeded: word &>> 8))
            digest.append(UInt8(truncatingIfNeeded: word))
        }
        return digest
    }

    /// The digest of text's UTF-8 in 64 hexadecimal digits, lower case.
    public static func hexDigest(_ text: String) -> String { hex(digest(text.utf8)) }

    /// Bytes in hexadecimal digits, lower case.
    public static func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func hash(_ bytes: Span<UInt8>) -> [8 of UInt32] {
        var state: [8 of UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        let zeros = [16 of UInt32](repeating: 0)
        var block = zeros
        var offset = 0
        while bytes.count - offset >= 64 {
            for i in 0..<16 { block[i] = word(bytes, offset + i * 4) }
            process(block, into: &state)
            offset += 64
        }
        // What is left, a one bit, zeros, and the count of bits at the end of the last block.
        block = zeros
        let rest = bytes.count - offset
        for i in 0..<rest { block[i >> 2] |= UInt32(bytes[offset + i]) << UInt32(24 - (i & 3) * 8) }
        block[rest >> 2] |= 0x80 << UInt32(24 - (rest & 3) * 8)
        if rest >= 56 {
            process(block, into: &state)
            block = zeros
        }
        block[14] = UInt32(truncatingIfNeeded: bytes.count >> 29)
        block[15] = UInt32(truncatingIfNeeded: bytes.count << 3)
        process(block, into: &state)
        return state
    }

    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, _ i: Int) -> UInt32 {
        UInt32(bytes[i]) << 24 | UInt32(bytes[i + 1]) << 16 | UInt32(bytes[i + 2]) << 8 | UInt32(bytes[i + 3])
    }

    /// Adds a block of 16 words to the state.
    ///
    /// Eight rounds are written out, so that the variables change their roles by name instead of being moved.
    private static func process(_ block: [16 of UInt32], into state: inout [8 of UInt32]) {
        var w = block
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var i = 0
        while i < 64 {
            let j = i & 15
            if j == 0, i > 0 { extend(&w) }
            round(a, b, c, &d, e, f, g, &h, constants[i] &+ w[j])
            round(h, a, b, &c, d, e, f, &g, constants[i | 1] &+ w[j | 1])
            round(g, h, a, &b, c, d, e, &f, constants[i | 2] &+ w[j | 2])
            round(f, g, h, &a, b, c, d, &e, constants[i | 3] &+ w[j | 3])
            round(e, f, g, &h, a, b, c, &d, constants[i | 4] &+ w[j | 4])
            round(d, e, f, &g, h, a, b, &c, constants[i | 5] &+ w[j | 5])
            round(c, d, e, &f, g, h, a, &b, constants[i | 6] &+ w[j | 6])
            round(b, c, d, &e, f, g, h, &a, constants[i | 7] &+ w[j | 7])
            i &+= 8
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
        state[4] &+= e
        state[5] &+= f
        state[6] &+= g
        state[7] &+= h
    }

    /// Replaces 16 words of the message schedule by the next 16.
    @inline(__always)
    private static func extend(_ w: inout [16 of UInt32]) {
        for i in 0..<16 {
            let (x, y) = (w[(i + 1) & 15], w[(i + 14) & 15])
            let s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x &>> 3)
            let s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y &>> 10)
            w[i] = w[i] &+ s0 &+ w[(i + 9) & 15] &+ s1
        }
    }

    /// One round: of the eight variables only `d` and `h` get new values.
    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
        _ h: inout UInt32, _ input: UInt32
    ) {
        let t = h &+ input &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ (g ^ (e & (f ^ g)))
        d = d &+ t
        h = t &+ (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) | (c & (a | b)))
    }

    @inline(__always)
    private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x &>> n | x &<< (32 &- n) }

    /// The fractional parts of the cube roots of the first 64 primes.
    private static let constants: [64 of UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
