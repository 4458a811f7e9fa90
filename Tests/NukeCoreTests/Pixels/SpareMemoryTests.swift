import NukeTestSupport
import Testing

@testable import NukeCore

/// Memory of blocks that were let go of, and who gets it next.
struct SpareMemoryTests {
    private let count = 300_000

    private func sum(_ bitmap: Bitmap) -> Int {
        bitmap.bytes.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } }
    }

    private func fill(_ buffer: inout PixelBuffer, with value: UInt8) {
        for y in 0..<buffer.height {
            buffer.withRow(y) { row in
                for x in 0..<row.byteCount { row.storeBytes(of: value, toByteOffset: x, as: UInt8.self) }
            }
        }
    }

    @Test("a new buffer shows nothing of one that was let go of", arguments: [(320, 240), (700, 600)])
    func zeros(width: Int, height: Int) {
        for _ in 0..<3 {
            guard var buffer = PixelBuffer(width: width, height: height), let copy = PixelBuffer(copying: buffer) else {
                Issue.record("no memory")
                return
            }
            #expect(sum(copy.freeze()) == 0)
            fill(&buffer, with: 200)
        }
    }

    @Test("a copy is what was copied, in whatever memory")
    func copies() {
        func filled(with value: UInt8) -> Bitmap? {
            guard var buffer = PixelBuffer(width: 320, height: 240) else { return nil }
            fill(&buffer, with: value)
            return buffer.freeze()
        }
        let bitmap = filled(with: 7)
        #expect(filled(with: 1).map(sum) == 320 * 240 * 4 && filled(with: 2).map(sum) == 320 * 240 * 4 * 2)
        let copy = bitmap.flatMap { PixelBuffer(copying: $0)?.freeze() }
        #expect(copy.map(sum) == 320 * 240 * 4 * 7)
    }

    @Test("memory is handed out once, to a block of the same size, and no more than 8 MB are kept")
    func bounds() {
        let memory = SpareMemory(capacity: 8 << 20)
        #expect(unsafe memory.take(count) == nil)
        let blocks = (0..<40).map { _ in UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16) }
        for block in unsafe blocks { #expect(unsafe memory.keep(block, count)) }
        #expect(memory.byteCount <= 8 << 20 && memory.byteCount > 7 << 20)
        #expect(unsafe memory.take(count + 1) == nil)
        #expect(unsafe memory.take(count) == blocks.last)
        #expect(unsafe memory.take(count) == blocks[38])
        let small = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 16)
        #expect(unsafe !memory.keep(small, 100))
        unsafe small.deallocate()
        var left = 0
        while let block = unsafe memory.take(count) {
            unsafe block.deallocate()
            left += 1
        }
        #expect(left == (8 << 20) / count - 2 && memory.byteCount == 0)
        for block in unsafe blocks.suffix(2) { unsafe block.deallocate() }
    }
}
