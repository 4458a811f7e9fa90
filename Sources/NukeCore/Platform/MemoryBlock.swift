internal import CNukeCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// Memory for pixels or a file, freed with its last reference.
///
/// From 1.5 MB up it starts on a 2 MiB boundary and is advised for huge pages: touching 48 MB of 4 KiB pages costs 20 ms,
/// of huge pages 2.6 ms. It begins as zeros, so a row that a decoder never wrote holds nothing of another picture.
@safe
final class MemoryBlock {
    let base: UnsafeMutableRawPointer
    let byteCount: Int
    private let isReused: Bool
    /// Whether more than one bitmap was made of it; never taken back.
    let isShared = Atomic(false)

    private static let mappingThreshold = 3 << 19

    /// Nil if the system has no memory to give.
    ///
    /// - Parameters:
    ///   - byteCount: How many bytes there are to be.
    ///   - isZeroed: False where every byte is written before any is read.
    ///   - isReused: Whether to take spare memory, and to leave it there in the end: for sizes that come again, as those of pictures.
    init?(byteCount: Int, isZeroed: Bool = true, isReused: Bool = true) {
        // SAFETY: what is allocated or spare is memory of at least byteCount bytes, zeroed if it is fresh.
        self.byteCount = byteCount
        self.isReused = isReused
        if isReused, let spare = unsafe SpareMemory.shared.take(byteCount) {
            if isZeroed { unsafe spare.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
            unsafe base = spare
            return
        }
        let isMapped = byteCount >= Self.mappingThreshold
        let fresh = isMapped ? unsafe CNukeCore_mapHugePages(byteCount) : unsafe calloc(max(byteCount, 1), 1)
        guard let fresh = unsafe fresh else { return nil }
        unsafe base = fresh
    }

    deinit {
        // SAFETY: the memory is this object's alone.
        if isReused, unsafe SpareMemory.shared.keep(base, byteCount) { return }
        unsafe Self.free(base, byteCount)
    }

    /// Gives memory back to the system.
    static func free(_ base: UnsafeMutableRawPointer, _ byteCount: Int) {
        // SAFETY: nobody has the memory any more, and the size says how it was allocated.
        if byteCount >= mappingThreshold {
            unsafe CNukeCore_unmapHugePages(base, byteCount)
        } else {
            unsafe Glibc.free(base)
        }
    }
}

// SAFETY: written through the one PixelBuffer that owns it, and read only after that was frozen.
extension MemoryBlock: @unchecked Sendable {}
