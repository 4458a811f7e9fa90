internal import CNukeCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// Zeroed memory for pixels or a file, freed with its last reference.
///
/// From 1.5 MB up it starts on a 2 MiB boundary and is advised for huge pages: touching 48 MB of 4 KiB pages costs 20 ms,
/// of huge pages 2.6 ms. The kernel zeroes it as it is touched, so a row that a decoder never wrote holds nothing of
/// another picture.
@safe
final class MemoryBlock {
    let base: UnsafeMutableRawPointer
    let byteCount: Int
    /// Whether more than one bitmap was made of it; never taken back.
    let isShared = Atomic(false)
    private let isMapped: Bool

    private static let mappingThreshold = 3 << 19

    /// Nil if the system has no memory to give.
    init?(byteCount: Int) {
        // SAFETY: both calls return zeroed memory of at least byteCount bytes, or nil.
        isMapped = byteCount >= Self.mappingThreshold
        let memory = isMapped ? unsafe CNukeCore_mapHugePages(byteCount) : unsafe calloc(max(byteCount, 1), 1)
        guard let memory = unsafe memory else { return nil }
        unsafe base = memory
        self.byteCount = byteCount
    }

    deinit {
        // SAFETY: the memory is this object's alone.
        if isMapped { unsafe CNukeCore_unmapHugePages(base, byteCount) } else { unsafe free(base) }
    }
}

// SAFETY: written through the one PixelBuffer that owns it, and read only after that was frozen.
extension MemoryBlock: @unchecked Sendable {}
