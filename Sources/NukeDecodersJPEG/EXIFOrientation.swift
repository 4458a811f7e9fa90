internal import NukeCore

/// The orientation that EXIF data tells (EXIF 2.32, 4.6.4; a TIFF structure, TIFF 6.0, section 2).
enum EXIFOrientation {
    private static let tag = 0x0112
    private static let entrySize = 12

    /// The orientation in a TIFF structure; `up` if it tells none, or none that is valid.
    ///
    /// Only the first directory counts, as the second describes the thumbnail. The value is a SHORT by the rules and a
    /// LONG in some files. Every offset is checked against the data.
    static func read(from tiff: RawSpan) -> ImageOrientation {
        guard let isBigEndian = isBigEndian(tiff) else { return .up }
        func number(_ size: Int, at offset: Int) -> Int? {
            // Offsets come from 32 bits and at most 65,535 entries, so the sum can't overflow.
            guard offset + size <= tiff.byteCount else { return nil }
            let bytes = (0..<size).map { tiff.byte(at: offset + (isBigEndian ? $0 : size - 1 - $0)) }
            return bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        guard number(2, at: 2) == 42, let directory = number(4, at: 4), let count = number(2, at: directory) else {
            return .up
        }
        for index in 0..<count {
            let entry = directory + 2 + index * entrySize
            guard let entryTag = number(2, at: entry), let type = number(2, at: entry + 2) else { break }
            guard entryTag == tag else { continue }
            let value: Int? =
                switch type {
                case 3: number(2, at: entry + 8)
                case 4: number(4, at: entry + 8)
                default: nil
                }
            return value.flatMap(ImageOrientation.init(rawValue:)) ?? .up
        }
        return .up
    }

    private static func isBigEndian(_ tiff: RawSpan) -> Bool? {
        guard tiff.byteCount >= 8 else { return nil }
        switch (tiff.byte(at: 0), tiff.byte(at: 1)) {
        case (UInt8(ascii: "M"), UInt8(ascii: "M")): return true
        case (UInt8(ascii: "I"), UInt8(ascii: "I")): return false
        default: return nil
        }
    }
}

extension RawSpan {
    /// The byte at an offset, which must be within the span.
    fileprivate func byte(at offset: Int) -> UInt8 {
        // SAFETY: the load checks the bounds, and any byte is a UInt8.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
