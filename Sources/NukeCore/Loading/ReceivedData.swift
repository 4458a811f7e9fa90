#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The bytes of a transfer so far, in a block that only grows at its end.
///
/// A prefix shares the block and stays valid: bytes below the count never change. When the block is full the bytes move to
/// one of twice the size, so that all in all each is copied at most twice.
struct ReceivedData {
    @safe
    private final class Block {
        let base: UnsafeMutableRawPointer
        let capacity: Int

        // SAFETY: allocated here and freed in deinit, once each.
        init(capacity: Int) {
            self.capacity = capacity
            unsafe base = .allocate(byteCount: capacity, alignment: 16)
        }

        deinit { unsafe base.deallocate() }
    }

    private var block: Block?
    private var whole: Data?
    private var reserved = 0

    /// How many bytes have come.
    private(set) var count = 0
    /// How many bytes were copied, for tests.
    private(set) var copiedCount = 0

    /// Says how many bytes will come, if known; what a server declares is believed up to 8 MB.
    mutating func reserve(_ expected: Int64) {
        reserved = Int(min(max(expected, 0), 8 << 20))
    }

    /// Adds bytes.
    ///
    /// A body that comes in one piece is kept as it is, without a copy.
    mutating func append(_ data: Data) {
        if count == 0, data.count >= reserved {
            whole = data
            count = data.count
            return
        }
        let needed = count + data.count
        if block == nil || needed > (block?.capacity ?? 0) { grow(to: needed) }
        copy(data)
    }

    /// Everything so far, without a copy.
    func prefix() -> Data {
        if let whole { return whole }
        guard let block, count > 0 else { return Data() }
        // SAFETY: the block is kept by the deallocator, and its bytes below count never change.
        return unsafe Data(bytesNoCopy: block.base, count: count, deallocator: .custom { _, _ in _ = block })
    }

    /// Everything so far with pieces from further on, in their places, and zeros between: a copy.
    mutating func prefix(with pieces: [(offset: Int, data: Data)]) -> Data {
        let end = pieces.map { $0.offset + $0.data.count }.max() ?? 0
        guard end > count else { return prefix() }
        var result = Data(count: end)
        for (offset, data) in pieces + [(0, prefix())] {
            result.replaceSubrange(offset..<offset + data.count, with: data)
            copiedCount += data.count
        }
        return result
    }

    private mutating func grow(to needed: Int) {
        let old = prefix()
        whole = nil
        block = Block(capacity: max(needed, reserved, 2 * count, 16 << 10))
        count = 0
        copy(old)
    }

    private mutating func copy(_ data: Data) {
        guard let block else { return }
        // SAFETY: grow made room for the bytes; no prefix handed out reaches beyond the old count.
        unsafe data.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress {
                unsafe (block.base + count).copyMemory(from: source, byteCount: bytes.count)
            }
        }
        count += data.count
        copiedCount += data.count
    }
}
