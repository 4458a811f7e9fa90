public import FoundationEssentials

/// Data of a key that tells by itself whether it is whole: a number, then bytes that follow from key and number.
public enum SignedValue {
    /// Noise that is made once; every key and number starts at a place of its own, so that making data is copying.
    private static let noise: [UInt8] = {
        var state: UInt64 = 3
        var bytes: [UInt8] = []
        for _ in 0..<131_071 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.append(UInt8(truncatingIfNeeded: state >> 56))
        }
        return bytes + bytes.prefix(60_000)
    }()

    /// Sizes from 16 bytes to about 60 KB, by number.
    public static func data(key: String, number: UInt64) -> Data {
        let size = 8 + Int(number &* 7_919 % 60_000)
        let start = key.utf8.reduce(number) { ($0 ^ UInt64($1)) &* 0x9e37_79b9_7f4a_7c15 } % 131_071
        var data = Data((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) })
        data.append(contentsOf: noise[Int(start)..<Int(start) + size])
        return data
    }

    /// The number of a key's whole data; nil for anything else.
    public static func number(of data: Data, key: String) -> UInt64? {
        guard data.count >= 16 else { return nil }
        let number = data.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return self.data(key: key, number: number) == data ? number : nil
    }
}
