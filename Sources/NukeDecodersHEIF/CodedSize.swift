/// The size that a coded picture tells itself, in pixels.
struct CodedSize: Hashable {
    let width: Int
    let height: Int
}

/// Reads sizes out of HEVC's sequence parameter sets (ITU-T H.265, 7.3.2.2).
enum HEVCSize {
    /// The type of units that hold such a set.
    private static let setType: UInt8 = 33

    /// Of the sets in a decoder configuration (ISO/IEC 14496-15, 8.3.2).
    static func configured(_ bytes: RawSpan) -> [CodedSize] {
        var (sizes, place) = ([CodedSize](), 23)
        guard bytes.byteCount > 22 else { return sizes }
        for _ in 0..<bytes.byte(at: 22) {
            guard place + 3 <= bytes.byteCount else { return sizes }
            let count = Int(bytes.byte(at: place + 1)) << 8 | Int(bytes.byte(at: place + 2))
            place += 3
            for _ in 0..<count {
                guard let unit = unit(in: bytes, at: &place, lengthSize: 2) else { return sizes }
                if let size = size(ofUnit: unit, in: bytes) { sizes.append(size) }
            }
        }
        return sizes
    }

    /// Of the sets among the units of a picture, each of which comes after its length.
    static func sizes(in bytes: RawSpan, _ lengthSize: Int) -> [CodedSize] {
        var (sizes, place) = ([CodedSize](), 0)
        while let unit = unit(in: bytes, at: &place, lengthSize: lengthSize) {
            if let size = size(ofUnit: unit, in: bytes) { sizes.append(size) }
        }
        return sizes
    }

    private static func unit(in bytes: RawSpan, at place: inout Int, lengthSize: Int) -> Range<Int>? {
        guard place + lengthSize <= bytes.byteCount else { return nil }
        let length = (0..<lengthSize).reduce(0) { $0 << 8 | Int(bytes.byte(at: place + $1)) }
        let start = place + lengthSize
        guard length <= bytes.byteCount - start else { return nil }
        place = start + length
        return start..<place
    }

    private static func size(ofUnit unit: Range<Int>, in bytes: RawSpan) -> CodedSize? {
        guard unit.count > 2, bytes.byte(at: unit.lowerBound) >> 1 & 0x3F == setType else { return nil }
        // As much as can come before the size, without the bytes that keep start codes from appearing (7.4.2).
        var payload: [UInt8] = []
        var zeros = 0
        for offset in unit.dropFirst(2).prefix(512) {
            let byte = bytes.byte(at: offset)
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(byte)
        }
        var bits = Bits(payload)
        bits.skip(4)
        let layers = bits.number(3)
        bits.skip(1 + 96)  // nesting; the general profile and level
        if layers > 0 {
            let flags = (0..<8).map { _ in bits.number(2) }.prefix(layers)
            for flag in flags { bits.skip((flag & 2 != 0 ? 88 : 0) + (flag & 1 != 0 ? 8 : 0)) }
        }
        _ = bits.exponential()
        if bits.exponential() == 3 { bits.skip(1) }
        let (width, height) = (bits.exponential(), bits.exponential())
        return bits.isOver ? nil : CodedSize(width: width, height: height)
    }
}

/// Reads sizes out of AV1's sequence headers (AV1 Bitstream & Decoding Process Specification, 5.5.1).
enum AV1Size {
    /// Of the headers among the units from an offset on (5.3).
    static func sizes(in bytes: RawSpan, from start: Int) -> [CodedSize] {
        var (sizes, place) = ([CodedSize](), start)
        while place < bytes.byteCount {
            let header = bytes.byte(at: place)
            place += header & 4 == 0 ? 1 : 2
            var count = bytes.byteCount - place
            if header & 2 != 0 {
                guard let told = number(in: bytes, at: &place) else { return sizes }
                count = told
            }
            guard count >= 0, count <= bytes.byteCount - place else { return sizes }
            if header >> 3 & 15 == 1 {
                let payload = (place..<place + min(count, 2048)).map { bytes.byte(at: $0) }
                if let size = size(ofHeader: payload) { sizes.append(size) }
            }
            place += count
        }
        return sizes
    }

    /// leb128 (4.10.5).
    private static func number(in bytes: RawSpan, at place: inout Int) -> Int? {
        var value = 0
        for index in 0..<8 {
            guard place < bytes.byteCount else { return nil }
            let byte = bytes.byte(at: place)
            place += 1
            value |= Int(byte & 0x7F) << (index * 7)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    private static func size(ofHeader payload: [UInt8]) -> CodedSize? {
        var bits = Bits(payload)
        bits.skip(4)  // profile, still picture
        if bits.number(1) == 1 {
            bits.skip(5)  // a reduced header has a level only
        } else {
            skipOperatingPoints(&bits)
        }
        let (widthBits, heightBits) = (bits.number(4) + 1, bits.number(4) + 1)
        let (width, height) = (bits.number(widthBits) + 1, bits.number(heightBits) + 1)
        return bits.isOver ? nil : CodedSize(width: width, height: height)
    }

    private static func skipOperatingPoints(_ bits: inout Bits) {
        var delayBits: Int?
        if bits.number(1) == 1 {  // timing
            bits.skip(64)
            if bits.number(1) == 1 { _ = bits.exponential() }
            if bits.number(1) == 1 {  // decoder model
                delayBits = bits.number(5) + 1
                bits.skip(32 + 5 + 5)
            }
        }
        let hasDisplayDelays = bits.number(1) == 1
        for _ in 0...bits.number(5) {
            bits.skip(12)
            if bits.number(5) > 7 { bits.skip(1) }
            if let delayBits, bits.number(1) == 1 { bits.skip(2 * delayBits + 1) }
            if hasDisplayDelays, bits.number(1) == 1 { bits.skip(4) }
        }
    }
}

/// Reads bits, the uppermost of each byte first; zeros once there are no more.
private struct Bits {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether more was read than there is.
    var isOver: Bool { place > bytes.count * 8 }

    mutating func skip(_ count: Int) { place += count }

    /// A number of at most 32 bits.
    mutating func number(_ count: Int) -> Int {
        var value = 0
        for _ in 0..<count {
            let bit = place / 8 < bytes.count ? bytes[place / 8] >> (7 - place % 8) & 1 : 0
            value = value << 1 | Int(bit)
            place += 1
        }
        return value
    }

    /// An Exp-Golomb number (H.265, 9.2; the same as AV1's uvlc), of at most 32 bits.
    mutating func exponential() -> Int {
        var zeros = 0
        while zeros < 32, !isOver, number(1) == 0 { zeros += 1 }
        return (1 << zeros) - 1 + number(zeros)
    }
}
