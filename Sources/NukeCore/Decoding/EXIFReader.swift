/// Finds entries in EXIF data, which is a TIFF structure (EXIF 2.32, 4.5.2; TIFF 6.0, section 2).
///
/// The `Exif` header that JPEG puts before it may be there or not. Nothing outside the bytes is read, whatever they say.
struct EXIFReader {
    /// Where the TIFF structure starts: offsets count from there.
    let start: Int
    let isLittleEndian: Bool

    /// Nil if the bytes do not begin with the header of a TIFF structure.
    init?(_ bytes: RawSpan) {
        let header: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        let hasHeader = bytes.byteCount >= 6 && header.indices.allSatisfy { bytes.byte(at: $0) == header[$0] }
        start = hasHeader ? 6 : 0
        guard bytes.byteCount - start >= 8 else { return nil }
        switch (bytes.byte(at: start), bytes.byte(at: start + 1)) {
        case (UInt8(ascii: "I"), UInt8(ascii: "I")): isLittleEndian = true
        case (UInt8(ascii: "M"), UInt8(ascii: "M")): isLittleEndian = false
        default: return nil
        }
        guard integer(2, at: 2, in: bytes) == 42 else { return nil }
    }

    /// Where the first directory begins, which describes the picture.
    func pictureDirectory(in bytes: RawSpan) -> Int? { integer(4, at: 4, in: bytes) }

    /// Where the second directory begins, which describes the thumbnail; nil if there is none.
    func thumbnailDirectory(in bytes: RawSpan) -> Int? {
        guard let first = pictureDirectory(in: bytes), let count = integer(2, at: first, in: bytes),
            let next = integer(4, at: first + 2 + count * 12, in: bytes), next > 0, next != first
        else { return nil }
        return next
    }

    /// The one value of a tag of type SHORT or LONG; nil if the directory has no such entry that is whole.
    ///
    /// The first entry with the tag counts.
    func integer(_ tag: Int, directory: Int, in bytes: RawSpan) -> Int? {
        guard let entry = entry(tag, directory: directory, in: bytes) else { return nil }
        switch integer(2, at: entry + 2, in: bytes) {
        case 3: return integer(2, at: entry + 8, in: bytes)
        case 4: return integer(4, at: entry + 8, in: bytes)
        default: return nil
        }
    }

    /// The one value of a tag of type RATIONAL; nil if there is none or its denominator is zero.
    func rational(_ tag: Int, directory: Int, in bytes: RawSpan) -> Double? {
        guard let entry = entry(tag, directory: directory, in: bytes), integer(2, at: entry + 2, in: bytes) == 5,
            let place = integer(4, at: entry + 8, in: bytes), let numerator = integer(4, at: place, in: bytes),
            let denominator = integer(4, at: place + 4, in: bytes), denominator != 0
        else { return nil }
        return Double(numerator) / Double(denominator)
    }

    /// Where the entry of a tag with one value begins.
    private func entry(_ tag: Int, directory: Int, in bytes: RawSpan) -> Int? {
        guard let count = integer(2, at: directory, in: bytes) else { return nil }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let found = integer(2, at: entry, in: bytes) else { return nil }
            if found == tag { return integer(4, at: entry + 4, in: bytes) == 1 ? entry : nil }
        }
        return nil
    }

    /// An unsigned integer of `size` bytes, at most four; nil if it is not wholly within the data.
    ///
    /// Offsets are below 2³² plus 2¹⁶ entries of 12 bytes, so sums of them do not overflow.
    func integer(_ size: Int, at offset: Int, in bytes: RawSpan) -> Int? {
        guard offset >= 0, start + offset + size <= bytes.byteCount else { return nil }
        return (0..<size).reduce(0) { value, index in
            let place = isLittleEndian ? size - 1 - index : index
            return value << 8 | Int(bytes.byte(at: start + offset + place))
        }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
