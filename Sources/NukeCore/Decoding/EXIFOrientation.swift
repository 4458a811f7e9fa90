/// Reads the orientation out of EXIF data, wherever a format keeps it.
public enum EXIFOrientation {
    /// The orientation that EXIF data tells; `up` if it tells none, or one that is not valid.
    ///
    /// The data is a TIFF structure (EXIF 2.32, 4.5.2; TIFF 6.0, section 2), with or without the `Exif` header that
    /// JPEG puts before it. Only the first directory counts: the second describes the thumbnail. The tag 0x0112 is a
    /// SHORT; a LONG is taken as well, since some writers use it. Nothing outside `bytes` is read, whatever they say.
    public static func read(from bytes: RawSpan) -> ImageOrientation {
        guard let reader = Reader(bytes), let value = reader.orientation(in: bytes) else { return .up }
        return ImageOrientation(rawValue: value) ?? .up
    }

    /// Where the TIFF structure starts and which byte order it has.
    private struct Reader {
        let start: Int
        let isLittleEndian: Bool

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

        /// The value of the tag in the first directory; nil if it is not there, whole and of a type that serves.
        func orientation(in bytes: RawSpan) -> Int? {
            guard let directory = integer(4, at: 4, in: bytes), let count = integer(2, at: directory, in: bytes) else {
                return nil
            }
            for index in 0..<count {
                let entry = directory + 2 + index * 12
                guard let tag = integer(2, at: entry, in: bytes) else { return nil }
                guard tag == 0x0112 else { continue }
                guard let type = integer(2, at: entry + 2, in: bytes), integer(4, at: entry + 4, in: bytes) == 1 else {
                    return nil
                }
                switch type {
                case 3: return integer(2, at: entry + 8, in: bytes)
                case 4: return integer(4, at: entry + 8, in: bytes)
                default: return nil
                }
            }
            return nil
        }

        /// An unsigned integer of `size` bytes, at most four; nil if it is not wholly within the data.
        ///
        /// Offsets are below 2³² plus 2¹⁶ entries of 12 bytes, so sums of them do not overflow.
        private func integer(_ size: Int, at offset: Int, in bytes: RawSpan) -> Int? {
            guard offset >= 0, start + offset + size <= bytes.byteCount else { return nil }
            return (0..<size).reduce(0) { value, index in
                let place = isLittleEndian ? size - 1 - index : index
                return value << 8 | Int(bytes.byte(at: start + offset + place))
            }
        }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}
