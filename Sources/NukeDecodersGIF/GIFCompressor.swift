/// Packs the indices of frames (GIF89a, appendix F: LZW of up to 12 bits a code).
///
/// A full table is kept as long as it packs about as well as it did: it is cleared where a stretch of codes stands for
/// clearly fewer pixels than one before.
struct GIFCompressor {
    private static let tableSize = 4096
    /// Slots of the hash table: a quarter full at most.
    private static let slotBits = 14
    private static let empty = UInt32.max
    /// Codes after which a full table is looked at.
    private static let stretch = 1024

    /// The string's prefix and last index, and its code in the lowest 12 bits.
    private var slots = [UInt32](repeating: Self.empty, count: 1 << Self.slotBits)

    /// Appends the code size and the blocks of packed indices, each of which has at most `codeSize` bits, from 2 to 8.
    mutating func pack(_ indices: [UInt8], codeSize: Int, into file: inout [UInt8]) {
        file.append(UInt8(codeSize))
        var bits = Bits()
        bits.bytes.reserveCapacity(indices.count / 2)
        let clearCode = UInt32(1) << UInt32(codeSize)
        var state = State(size: codeSize + 1, next: clearCode + 2)
        clearTable()
        bits.put(clearCode, state.size)
        if let first = indices.first {
            var string = UInt32(first)
            for place in 1..<indices.count {
                let key = string << 8 | UInt32(indices[place])
                var slot = Int((key &* 0x9E37_79B1) >> UInt32(32 - Self.slotBits))
                while slots[slot] >> 12 != key, slots[slot] != Self.empty { slot = (slot + 1) & (slots.count - 1) }
                if slots[slot] != Self.empty {
                    string = slots[slot] & 0xFFF
                    continue
                }
                bits.put(string, state.size)
                string = UInt32(indices[place])
                if state.next < Self.tableSize {
                    slots[slot] = key << 12 | state.next
                    if state.next == 1 << UInt32(state.size) { state.size += 1 }
                    state.next += 1
                    state.watched = place
                } else if state.isTired(at: place) {
                    bits.put(clearCode, state.size)
                    clearTable()
                    state = State(size: codeSize + 1, next: clearCode + 2)
                }
            }
            bits.put(string, state.size)
            // The reader makes one more entry of the last code, which may need one more bit.
            if state.next < Self.tableSize, state.next == 1 << UInt32(state.size) { state.size += 1 }
        }
        bits.put(clearCode + 1, state.size)
        bits.flush()
        Self.appendBlocks(bits.bytes, to: &file)
    }

    private mutating func clearTable() {
        for slot in slots.indices { slots[slot] = Self.empty }
    }

    /// Appends bytes in blocks of up to 255, and the empty one.
    static func appendBlocks(_ bytes: some RandomAccessCollection<UInt8>, to file: inout [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let block = rest.prefix(255)
            file.append(UInt8(block.count))
            file += block
            rest = rest.dropFirst(255)
        }
        file.append(0)
    }

    private struct State {
        /// Bits of a code.
        var size: Int
        /// The code of the next entry.
        var next: UInt32
        /// The pixel where the stretch began.
        var watched = 0
        /// Codes since then.
        private var count = 0
        /// Pixels of the best stretch.
        private var best = 0

        init(size: Int, next: UInt32) { (self.size, self.next) = (size, next) }

        /// Notes a code of a full table; whether the table should be cleared.
        mutating func isTired(at place: Int) -> Bool {
            count += 1
            guard count == GIFCompressor.stretch else { return false }
            let pixels = place - watched
            (count, watched) = (0, place)
            best = max(best, pixels)
            return pixels * 10 < best * 9
        }
    }

    /// Codes as bytes, the lowest bits first.
    private struct Bits {
        var bytes: [UInt8] = []
        private var pending: UInt64 = 0
        private var count = 0

        mutating func put(_ code: UInt32, _ size: Int) {
            pending |= UInt64(code) << UInt64(count)
            count += size
            while count >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                count -= 8
            }
        }

        mutating func flush() {
            if count > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        }
    }
}
