internal import NukeCore

/// Unpacks the indices of one frame row by row (GIF89a, appendix F: LZW of up to 12 bits a code).
///
/// All memory it ever has is taken at the start: tables of 4096 entries, and room for some rows and the longest string.
@safe
struct GIFRowReader: ~Copyable {
    /// Why there are no more rows.
    enum End {
        /// The blocks or the code of the end.
        case ofStream
        /// The data ends within the blocks.
        case ofData
        /// A code that can't be.
        case damage
    }

    /// Bytes that a reader of rows of this width holds.
    static func byteCount(width: Int) -> Int { entryCount * entrySize + outputCount(width: width) }

    private static let entryCount = 4096
    private static let entrySize = 16
    /// Indices that are unpacked at once, at least.
    private static let stretch = 4096
    /// Codes after which the caller gets a chance to stop.
    private static let stride = 1 << 16

    /// A string begins within the stretch or the row and is shorter than the table; its last part is written as 8 bytes.
    private static func outputCount(width: Int) -> Int { max(width, stretch) + entryCount + 8 }

    /// Why `unpack` could go no further; nil while it can.
    private(set) var end: End?

    // A string is stored as parts of 8 bytes from its first on. Each entry: the last part, of 1 to 8 bytes; then the entry
    // that ends with the part before (16 bits), and the length less one (16 bits).
    private let entries: UnsafeMutableRawPointer
    private let output: UnsafeMutableRawPointer

    private let width: Int
    private var rowStart = 0
    private var filled = 0
    private var hasRow = false

    private var codes: GIFCodes
    private let clearCode: Int
    private var codeSize: Int
    private var nextCode: Int
    /// The last entry that was written; its code is -1 if there was none since the table was cleared.
    private var previous = Entry(code: -1)

    private struct Entry {
        var code: Int
        var part: UInt64 = 0
        var link: UInt32 = 0
        /// The first byte of the string.
        var first: UInt64 = 0
    }

    /// Starts at the code size of a frame; nil if it is none from 1 to 11.
    ///
    /// A palette's indices have 8 bits, but there are files with more, of which the lower 8 count, as in browsers.
    init?(_ frame: GIFFrame, in bytes: RawSpan) {
        // SAFETY: each block is this value's alone, freed in deinit only; every entry is written before it is read.
        let minimumSize = Int(bytes.byte(at: frame.start))
        guard (1...11).contains(minimumSize) else { return nil }
        width = frame.width
        codes = GIFCodes(offset: frame.start + 1)
        clearCode = 1 << minimumSize
        codeSize = minimumSize + 1
        nextCode = clearCode + 2
        unsafe entries = .allocate(byteCount: Self.entryCount * Self.entrySize, alignment: Self.entrySize)
        unsafe output = .allocate(byteCount: Self.outputCount(width: frame.width), alignment: 8)
        for code in 0..<clearCode { store(Entry(code: code, part: UInt64(code & 255))) }
    }

    deinit {
        // SAFETY: the blocks are this value's alone.
        unsafe entries.deallocate()
        unsafe output.deallocate()
    }

    /// Makes the next row the current one; false if there are no more: `end` tells why.
    ///
    /// Asks `watch` now and then, also while no row comes.
    mutating func advance(in bytes: RawSpan, watch: DecodingWatch) throws(ImageDecodingError) -> Bool {
        if hasRow { rowStart += width }
        if filled - rowStart < width {
            // SAFETY: both ranges are within the output.
            unsafe output.copyMemory(from: output + rowStart, byteCount: filled - rowStart)
            filled -= rowStart
            rowStart = 0
            while filled < width, end == nil {
                unpack(bytes)
                if filled < width { try watch.check() }
            }
        }
        hasRow = filled - rowStart >= width
        return hasRow
    }

    /// Paints the first `count` pixels of the current row, at a column; returns whether none of them was left as it is.
    ///
    /// - Parameter skipped: The index that leaves what is there.
    func paint(
        _ count: Int, into row: inout MutableRawSpan, at left: Int, colors: [UInt32], skipping skipped: UInt8?
    ) -> Bool {
        // SAFETY: count is within the row of indices, and within the target, as is checked; there are 256 colours.
        if count == 0 { return true }
        precondition(count <= width && (left + count) * 4 <= row.byteCount && colors.count == 256)
        let source = unsafe UnsafeRawPointer(output + rowStart).assumingMemoryBound(to: UInt8.self)
        return unsafe row.withUnsafeMutableBytes { target in
            unsafe colors.withUnsafeBufferPointer { colors in
                guard let base = target.baseAddress, let colors = colors.baseAddress else { return false }
                let pixels = unsafe (base + left * 4).assumingMemoryBound(to: UInt32.self)
                if let skipped, unsafe Self.contains(skipped, source, count) {
                    for x in 0..<count {
                        let index = unsafe source[x]
                        unsafe pixels[x] = index == skipped ? pixels[x] : colors[Int(index)]
                    }
                    return false
                }
                for x in 0..<count { unsafe pixels[x] = colors[Int(source[x])] }
                return true
            }
        }
    }

    private static func contains(_ index: UInt8, _ source: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        // SAFETY: there are `count` bytes. Without an early end the loop is one over vectors.
        var found: UInt8 = 0
        for x in 0..<count { found |= unsafe source[x] == index ? 1 : 0 }
        return found != 0
    }

    /// Goes on until there is a row, or an end, or for a stride of codes.
    private mutating func unpack(_ bytes: RawSpan) {
        // SAFETY: codes are below `next`, which is at most 4096, and so are all that links lead to; a link leads to a string
        // that is 1 to 8 bytes shorter. A string begins below `goal` and is at most 4096 bytes long, so its last part of 8
        // ends within the output.
        guard end == nil else { return }
        unsafe bytes.withUnsafeBytes { source in
            let (clear, goal) = (clearCode, max(width, Self.stretch))
            var (codes, size, next, previous, filled) = (codes, codeSize, nextCode, previous, filled)
            var budget = Self.stride
            while filled < goal, budget > 0 {
                budget &-= 1
                guard unsafe codes.fill(size, from: source) else {
                    end = codes.offset < source.count ? .ofStream : .ofData
                    break
                }
                let code = codes.take(size)
                if code < next, code != clear, code != clear &+ 1 {
                    var entry = load(code)
                    filled = write(&entry, at: filled)
                    if previous.code >= 0, next < Self.entryCount {
                        store(Self.entry(next, of: previous, and: entry.first))
                        next &+= 1
                        if next == 1 &<< size, size < 12 { size &+= 1 }
                    }
                    previous = entry
                } else if code == clear {
                    (size, next, previous.code) = (clear.trailingZeroBitCount + 1, clear + 2, -1)
                } else if code == next, previous.code >= 0 {
                    // The string that is being made is the one before and that one's first byte again.
                    previous = Self.entry(next, of: previous, and: previous.first)
                    store(previous)
                    filled = write(&previous, at: filled)
                    next &+= 1
                    if next == 1 &<< size, size < 12 { size &+= 1 }
                } else {
                    end = code == clear &+ 1 ? .ofStream : .damage
                    break
                }
            }
            (self.codes, codeSize, nextCode, self.previous, self.filled) = (codes, size, next, previous, filled)
        }
    }

    /// The entry of a string and one more byte.
    @inline(__always)
    private static func entry(_ code: Int, of previous: Entry, and byte: UInt64) -> Entry {
        // Without branches, as none could be foretold.
        let last = (previous.link >> 16) &+ 1
        let isPartFull = last & 7 == 0
        let part = (isPartFull ? 0 : previous.part) | byte &<< UInt64(truncatingIfNeeded: last & 7 &* 8)
        let before = isPartFull ? UInt32(truncatingIfNeeded: previous.code) : previous.link & 0xFFFF
        return Entry(code: code, part: part, link: last &<< 16 | before, first: previous.first)
    }

    @inline(__always)
    private func store(_ entry: Entry) {
        // SAFETY: the code is below the number of entries.
        let place = unsafe entries + entry.code &* Self.entrySize
        unsafe place.storeBytes(of: entry.part, as: UInt64.self)
        unsafe place.storeBytes(of: entry.link, toByteOffset: 8, as: UInt32.self)
    }

    @inline(__always)
    private func load(_ code: Int) -> Entry {
        // SAFETY: the code is that of an entry that was stored.
        let place = unsafe entries + code &* Self.entrySize
        return unsafe Entry(
            code: code, part: place.load(as: UInt64.self), link: place.load(fromByteOffset: 8, as: UInt32.self))
    }

    /// Writes a string from its last part on; returns where it ends, and sets the entry's first byte.
    @inline(__always)
    private func write(_ entry: inout Entry, at start: Int) -> Int {
        // SAFETY: as in `unpack`.
        let last = Int(entry.link >> 16)
        var (place, part, link) = (start &+ last & ~7, entry.part, entry.link)
        while true {
            unsafe output.storeBytes(of: part.littleEndian, toByteOffset: place, as: UInt64.self)
            if place == start { break }
            place &-= 8
            let string = load(Int(link & 0xFFFF))
            (part, link) = (string.part, string.link)
        }
        entry.first = part & 255
        return start &+ last &+ 1
    }
}

/// The codes of a frame, in the bytes of its blocks.
struct GIFCodes {
    /// The first byte that was not yet taken.
    private(set) var offset: Int
    private var leftInBlock = 0
    private var bits: UInt64 = 0
    private var bitCount = 0

    init(offset: Int) { self.offset = offset }

    /// Sees to it that there are so many bits, at most 12; false if there are no more.
    @inline(__always)
    mutating func fill(_ size: Int, from source: UnsafeRawBufferPointer) -> Bool {
        // SAFETY: eight bytes are read only where there are as many.
        if bitCount >= size { return true }
        guard leftInBlock >= 8, offset <= source.count &- 8 else { return unsafe fillSlowly(size, from: source) }
        let word = unsafe source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        // Bits of the byte behind those taken are those that will be put there again.
        bits |= UInt64(littleEndian: word) &<< UInt64(truncatingIfNeeded: bitCount)
        let taken = (63 &- bitCount) &>> 3
        offset &+= taken
        leftInBlock &-= taken
        bitCount &+= taken &* 8
        return true
    }

    @inline(never)
    private mutating func fillSlowly(_ size: Int, from source: UnsafeRawBufferPointer) -> Bool {
        // SAFETY: the offset is below the count.
        while bitCount <= 56, offset < source.count {
            let byte = unsafe source[offset]
            if leftInBlock > 0 {
                bits |= UInt64(byte) &<< UInt64(truncatingIfNeeded: bitCount)
                bitCount += 8
                leftInBlock -= 1
            } else if byte == 0 {
                break
            } else {
                leftInBlock = Int(byte)
            }
            offset += 1
        }
        return bitCount >= size
    }

    /// The next code, of so many bits, which must be there.
    @inline(__always)
    mutating func take(_ size: Int) -> Int {
        let code = Int(truncatingIfNeeded: bits) & ((1 &<< size) &- 1)
        bits &>>= UInt64(truncatingIfNeeded: size)
        bitCount &-= size
        return code
    }
}
