internal import NukeCore

/// Unpacks the indices of one frame row by row (GIF89a, appendix F: LZW of 3 to 12 bits a code).
///
/// All memory it ever has is taken at the start: tables of 4096 entries, and room for a row and the longest string.
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
    static func byteCount(width: Int) -> Int { entryCount * 6 + width + entryCount }

    private static let entryCount = 4096
    /// Codes after which the caller gets a chance to stop.
    private static let stride = 1 << 16

    /// Why `unpack` could go no further; nil while it can.
    private(set) var end: End?

    // Each entry: the code of the string without its last byte, then that byte, then the first byte of all.
    private let entries: UnsafeMutablePointer<UInt32>
    private let lengths: UnsafeMutablePointer<UInt16>
    private let output: UnsafeMutablePointer<UInt8>

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

    /// Starts at the code size of a frame; nil if it is none from 1 to 8.
    init?(_ frame: GIFFrame, in bytes: RawSpan) {
        // SAFETY: each block is this value's alone, freed in deinit only; every entry is written before it is read.
        let minimumSize = Int(bytes.byte(at: frame.start))
        guard (1...8).contains(minimumSize) else { return nil }
        width = frame.width
        offset = frame.start + 1
        clearCode = 1 << minimumSize
        codeSize = minimumSize + 1
        nextCode = clearCode + 2
        unsafe entries = .allocate(capacity: Self.entryCount)
        unsafe lengths = .allocate(capacity: Self.entryCount)
        unsafe output = .allocate(capacity: frame.width + Self.entryCount)
        for code in 0..<clearCode {
            unsafe entries[code] = UInt32(code) << 16 | UInt32(code) << 24
            unsafe lengths[code] = 1
        }
    }

    deinit {
        // SAFETY: the blocks are this value's alone.
        unsafe entries.deallocate()
        unsafe lengths.deallocate()
        unsafe output.deallocate()
    }

    /// Makes the next row the current one; false if there are no more: `end` tells why.
    ///
    /// Asks `watch` now and then, also while no row comes.
    mutating func advance(in bytes: RawSpan, watch: DecodingWatch) throws(ImageDecodingError) -> Bool {
        if hasRow { rowStart += width }
        if filled - rowStart < width {
            // SAFETY: both ranges are within the output.
            unsafe output.update(from: output + rowStart, count: filled - rowStart)
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
    func paint(_ count: Int, into row: inout MutableRawSpan, at left: Int, colors: [UInt32]) -> UInt32 {
        // SAFETY: count is within the row of indices, and within the target, as is checked; there are 256 colours.
        precondition(count <= width && (left + count) * 4 <= row.byteCount && colors.count == 256)
        let source = unsafe UnsafePointer(output + rowStart)
        return unsafe row.withUnsafeMutableBytes { target in
            unsafe colors.withUnsafeBufferPointer { colors in
                var common = UInt32.max
                for x in 0..<count {
                    let color = unsafe colors[Int(source[x])]
                    common &= color
                    unsafe target.storeBytes(of: color, toByteOffset: (left + x) * 4, as: UInt32.self)
                }
                return common
            }
        }
    }

    /// Goes on until there is a row, or an end, or for a stride of codes.
    private mutating func unpack(_ bytes: RawSpan) {
        // SAFETY: bytes are read below `count` only. Codes are below `next`, which is at most 4096, and so are all that
        // entries lead to. A string is at most 4096 bytes long and begins within the row, so it ends within the output.
        guard end == nil else { return }
        unsafe bytes.withUnsafeBytes { source in
            guard let base = unsafe source.baseAddress else { return }
            let (entries, lengths, output) = unsafe (entries, lengths, output)
            let (count, clear, width) = (source.count, clearCode, width)
            var (position, left, bits, bitCount) = (offset, leftInBlock, bits, bitCount)
            var (size, next, previous, filled) = (codeSize, nextCode, previousCode, filled)
            var budget = Self.stride
            while filled < width, budget > 0 {
                budget -= 1
                if bitCount < size {
                    if left >= 8, position <= count - 8 {
                        let word = unsafe base.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                        bits |= UInt64(littleEndian: word) &<< UInt64(bitCount)
                        let taken = (63 - bitCount) >> 3
                        position += taken
                        left -= taken
                        bitCount += taken * 8
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
                let code = Int(truncatingIfNeeded: bits) & (1 << size - 1)
                bits >>= UInt64(size)
                bitCount -= size
                if code == clear {
                    (size, next, previous) = (clear.trailingZeroBitCount + 1, clear + 2, -1)
                    continue
                }
                if code == clear + 1 {
                    end = .ofStream
                    break
                }
                guard code < next || code == next && previous >= 0, previous >= 0 || code < clear else {
                    end = .damage
                    break
                }
                if previous >= 0, next < Self.entryCount {
                    // The string before, and the first byte of this one, which may be the very entry being made.
                    let before = unsafe entries[previous]
                    let first = unsafe code == next ? before >> 24 : entries[code] >> 24
                    unsafe entries[next] = UInt32(previous) | first << 16 | before & 0xFF00_0000
                    unsafe lengths[next] = lengths[previous] + 1
                    next += 1
                    if next == 1 << size, size < 12 { size += 1 }
                }
                let start = filled
                filled += Int(unsafe lengths[code])
                previous = code
                var (place, string) = (filled, code)
                while place > start {
                    place -= 1
                    let entry = unsafe entries[string]
                    unsafe output[place] = UInt8(truncatingIfNeeded: entry >> 16)
                    string = Int(entry & 0xFFFF)
                }
            }
            (offset, leftInBlock, self.bits, self.bitCount) = (position, left, bits, bitCount)
            (codeSize, nextCode, previousCode, self.filled) = (size, next, previous, filled)
        }
    }
}
