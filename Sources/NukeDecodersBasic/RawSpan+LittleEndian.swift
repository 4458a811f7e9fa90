extension RawSpan {
    /// The byte at an offset, which must be within bounds.
    func byte(at offset: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The number of 16 bits at an offset, which must be within bounds.
    func number16(at offset: Int) -> Int {
        // SAFETY: any two bytes are a UInt16; unsafeLoadUnaligned checks the bounds.
        Int(UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// The number of 32 bits at an offset, which must be within bounds.
    func number32(at offset: Int) -> UInt32 {
        // SAFETY: any four bytes are a UInt32; unsafeLoadUnaligned checks the bounds.
        UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}
