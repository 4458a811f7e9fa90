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
    static func byteCount(width: Int) -> Int { entryCount * 12 + outputCount(width: width) }

    private static let entryCount = 4096
    /// Indices that are unpacked at once, at least.
    private static let stretch = 4096
    /// Codes after which the caller gets a chance to stop.
    private static let stride = 1 << 16

    /// A string begins within the stretch or the row and is shorter than the table; its last part is written as 8 bytes.
    private static func outputCount(width: Int) -> Int { max(width, stretch) + entryCount + 8 }

    /// Why `unpack` could go no further; nil while it can.
    private(set) var end: End?

    // A string is stored as parts of 8 bytes from its first on. Each entry: the last part, of 1 to 8 bytes; then the entry
    // that ends with the part before (low half), and the length less one (high half).
    private let parts: UnsafeMutablePointer<UInt64>
    private let links: UnsafeMutablePointer<UInt32>
    private let output: UnsafeMutableRawPointer

    private let width: Int
    private var rowStart = 0
    private var filled = 0
    private var hasRow = false

    private var offset: Int
    private var leftInBlock = 0
    private var bits: UInt64 = 0
    private var bitCount = 0

    private let clearCode: Int
    private var codeSize: Int
    private var nextCode: Int
    private var previousCode = -1
    private var previousFirst: UInt64 = 0

    /// Starts at the code size of a frame; nil if it is none from 1 to 11.
    ///
    /// A palette's indices have 8 bits, but there are files with more, of which the lower 8 count, as in browsers.
    init?(_ frame: GIFFrame, in bytes: RawSpan) {
        // SAFETY: each block is this value's alone, freed in deinit only; every entry is written before it is read.
        let minimumSize = Int(bytes.byte(at: frame.start))
        guard (1...11).contains(minimumSize) else { return nil }
        width = frame.width
        offset = frame.start + 1
        clearCode = 1 << minimumSize
        codeSize = minimumSize + 1
        nextCode = clearCode + 2
        unsafe parts = .allocate(capacity: Self.entryCount)
        unsafe links = .allocate(capacity: Self.entryCount)
        unsafe output = .allocate(byteCount: Self.outputCount(width: frame.width), alignment: 8)
        for code in 0..<clearCode {
            unsafe parts[code] = UInt64(code & 255)
            unsafe links[code] = 0
        }
    }

    deinit {
        // SAFETY: the blocks are this value's alone.
        unsafe parts.deallocate()
        unsafe links.deallocate()
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

    /// Paints the first `count` pixels of the current row, at a column; returns the AND of their values.
    ///
    /// - Parameter keepsBelow: Whether a colour of 0 leaves what is there.
    func paint(
        _ count: Int, into row: inout MutableRawSpan, at left: Int, colors: [UInt32], keepsBelow: Bool
    ) -> UInt32 {
        // SAFETY: count is within the row of indices, and within the target, as is checked; there are 256 colours.
        if count == 0 { return .max }
        precondition(count <= width && (left + count) * 4 <= row.byteCount && colors.count == 256)
        let source = unsafe UnsafeRawPointer(output + rowStart).assumingMemoryBound(to: UInt8.self)
        return unsafe row.withUnsafeMutableBytes { target in
            unsafe colors.withUnsafeBufferPointer { colors in
                guard let base = target.baseAddress, let colors = colors.baseAddress else { return 0 }
                let pixels = unsafe (base + left * 4).assumingMemoryBound(to: UInt32.self)
                var common = UInt32.max
                if keepsBelow {
                    for x in 0..<count {
                        let color = unsafe colors[Int(source[x])]
                        common &= color
                        unsafe pixels[x] = color == 0 ? pixels[x] : color
                    }
                } else {
                    for x in 0..<count {
                        let color = unsafe colors[Int(source[x])]
                        common &= color
                        unsafe pixels[x] = color
                    }
                }
                return common
            }
        }
    }

    /// Goes on until there is a row, or an end, or for a stride of codes.
    private mutating func unpack(_ bytes: RawSpan) {
        // SAFETY: bytes are read below `count` only. Codes are below `next`, which is at most 4096, and so are all that
        // links lead to; a link leads to a string that is 1 to 8 bytes shorter. A string begins below `goal` and is
        // shorter than 4096 bytes, so its last part of 8 ends within the output.
        guard end == nil else { return }
        unsafe bytes.withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            let (parts, links, output) = unsafe (parts, links, output)
            let (count, clear, goal) = (source.count, clearCode, max(width, Self.stretch))
            var (position, left, bits, bitCount) = (offset, leftInBlock, bits, bitCount)
            var (size, next, previous, filled) = (codeSize, nextCode, previousCode, filled)
            var first = previousFirst
            var budget = Self.stride
            while filled < goal, budget > 0 {
                budget -= 1
                if bitCount < size {
                    if left >= 8, position <= count - 8 {
                        let word = unsafe base.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                        bits |= UInt64(littleEndian: word) &<< UInt64(truncatingIfNeeded: bitCount)
                        let taken = (63 &- bitCount) >> 3
                        position &+= taken
                        left &-= taken
                        bitCount &+= taken &* 8
                    } else {
                        while bitCount <= 56, position < count {
                            let byte = unsafe base.load(fromByteOffset: position, as: UInt8.self)
                            if left > 0 {
                                bits |= UInt64(byte) &<< UInt64(bitCount)
                                bitCount += 8
                                left -= 1
                            } else if byte == 0 {
                                break
                            } else {
                                left = Int(byte)
                            }
                            position += 1
                        }
                        if bitCount < size {
                            end = position < count ? .ofStream : .ofData
                            break
                        }
                    }
                }
                let code = Int(truncatingIfNeeded: bits) & ((1 &<< size) &- 1)
                bits &>>= UInt64(truncatingIfNeeded: size)
                bitCount &-= size
                if code == clear {
                    (size, next, previous) = (clear.trailingZeroBitCount + 1, clear + 2, -1)
                    continue
                }
                if code == clear &+ 1 {
                    end = .ofStream
                    break
                }
                guard code < next || code == next && previous >= 0 else {
                    end = .damage
                    break
                }
                let (start, isNew) = (filled, code == next)
                if !isNew { filled = unsafe Self.write(code, to: output, at: start, parts, links) }
                // A string that is being made is the one before and that one's first byte again.
                if !isNew { first = unsafe UInt64(output.load(fromByteOffset: start, as: UInt8.self)) }
                if previous >= 0, next < Self.entryCount {
                    let link = unsafe links[previous]
                    let last = UInt64(link >> 16) &+ 1
                    if last & 7 == 0 {
                        unsafe parts[next] = first
                        unsafe links[next] = UInt32(truncatingIfNeeded: last &<< 16) | UInt32(previous)
                    } else {
                        unsafe parts[next] = parts[previous] | first &<< (last & 7 &* 8)
                        unsafe links[next] = link &+ 0x1_0000
                    }
                    next &+= 1
                    if next == 1 &<< size, size < 12 { size &+= 1 }
                }
                if isNew { filled = unsafe Self.write(code, to: output, at: start, parts, links) }
                previous = code
            }
            (offset, leftInBlock, self.bits, self.bitCount) = (position, left, bits, bitCount)
            (codeSize, nextCode, previousCode, self.filled) = (size, next, previous, filled)
            previousFirst = first
        }
    }

    /// Writes the string of a code; returns where it ends.
    @inline(__always)
    private static func write(
        _ code: Int, to output: UnsafeMutableRawPointer, at start: Int, _ parts: UnsafeMutablePointer<UInt64>,
        _ links: UnsafeMutablePointer<UInt32>
    ) -> Int {
        // SAFETY: as in `unpack`.
        let last = unsafe Int(links[code] >> 16)
        var (place, string) = (start &+ last & ~7, code)
        while true {
            let part = unsafe parts[string].littleEndian
            unsafe output.storeBytes(of: part, toByteOffset: place, as: UInt64.self)
            if place == start { return start &+ last &+ 1 }
            place &-= 8
            string = unsafe Int(links[string] & 0xFFFF)
        }
    }
}
