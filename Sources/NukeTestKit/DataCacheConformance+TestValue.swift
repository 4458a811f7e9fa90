#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DataCacheConformance {
    /// Data that tells by itself whether it is whole: a number, then bytes that follow from it.
    enum TestValue {
        /// Noise that is made once; every number starts at a place of its own, so that making data is copying.
        private static let noise: [UInt8] = {
            var state: UInt64 = 1
            var bytes: [UInt8] = []
            for _ in 0..<65_537 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(UInt8(truncatingIfNeeded: state >> 56))
            }
            return bytes
        }()

        static func data(_ number: UInt64, size: Int) -> Data {
            var data = Data((0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) })
            let start = Int((number &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(size)) % UInt64(noise.count))
            data.append(contentsOf: noise[start...])
            while data.count < size { data.append(contentsOf: noise) }
            return Data(data.prefix(size))
        }

        /// The number of whole data of at least 8 bytes; nil for anything else.
        static func number(of data: Data) -> UInt64? {
            guard data.count >= 8 else { return nil }
            let number = data.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return self.data(number, size: data.count) == data ? number : nil
        }
    }
}
