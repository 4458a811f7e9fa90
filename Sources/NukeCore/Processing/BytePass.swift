internal import CNukeCore

/// One resampling of pixels of four bytes in integers, vertically then horizontally: what nearly all pictures take.
///
/// Weights have 14 bits of fraction, and what lies between the two halves has 6, so that results are those of exact
/// arithmetic within one code value.
struct BytePass {
    /// The vector instructions to use.
    var vectors = CNukeCore_bestVectors()

    /// All that this processor has.
    static var everyVectors: [CNukeCore_Vectors] {
        [CNukeCore_noVectors, CNukeCore_sse2, CNukeCore_avx2].filter {
            $0.rawValue <= CNukeCore_bestVectors().rawValue
        }
    }

    private let columns: IntegerTaps
    private let rows: IntegerTaps

    /// Nil where the weights are nothing for these integers: when shrinking to a thousandth and so.
    init?(columns: FilterTaps, rows: FilterTaps) {
        guard let columns = IntegerTaps(columns), let rows = IntegerTaps(rows) else { return nil }
        self.columns = columns
        self.rows = rows
    }

    func run(_ image: Bitmap, into output: inout PixelBuffer) {
        let used = columns.used
        let count = used.count * 4
        // Beyond the last pixel the row filter may read as many more as it takes at once, with weights of zero.
        let capacity = count + columns.stride * 4
        let row = UnsafeMutablePointer<Int16>.allocate(capacity: capacity)
        let firsts = columns.firsts.map { Int32($0 - used.lowerBound) }
        // SAFETY: columns read the picture's rows from the first that is needed on, as many as the taps have, each `count`
        // samples long; rows read pixels of `row` from their first on, which has room for a stride more than the last one.
        unsafe row.initialize(repeating: 0, count: capacity)
        defer { unsafe row.deallocate() }
        unsafe image.bytes.withUnsafeBytes { bytes in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            unsafe rows.weights.withUnsafeBufferPointer { rowWeights in
                unsafe columns.weights.withUnsafeBufferPointer { columnWeights in
                    guard let rowWeights = rowWeights.baseAddress, let columnWeights = columnWeights.baseAddress else {
                        return
                    }
                    for y in 0..<output.height {
                        let start = unsafe base + rows.firsts[y] * image.bytesPerRow + used.lowerBound * 4
                        unsafe CNukeCore_filterColumns(
                            vectors, start, image.bytesPerRow, rowWeights + y * rows.stride, rows.counts[y], row, count)
                        output.withRow(y) { target in
                            unsafe target.withUnsafeMutableBytes { target in
                                guard let target = unsafe target.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
                                    return
                                }
                                unsafe CNukeCore_filterRow(
                                    vectors, row, firsts, columnWeights, columns.stride, target, firsts.count)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Taps whose weights are integers of 14 bits of fraction that add up to 1 exactly, so that even areas stay as they are.
private struct IntegerTaps {
    let firsts: [Int]
    let counts: [Int]
    /// `stride` for each output sample, zeros behind its own.
    let weights: [Int16]
    /// Even.
    let stride: Int

    private static let one = 1 << 14
    /// So many weights that even the largest are but a few steps.
    private static let tapLimit = 2048

    init?(_ taps: FilterTaps) {
        guard taps.stride <= Self.tapLimit, taps.weights.allSatisfy({ abs($0) < 1.9 }) else { return nil }
        firsts = taps.firsts
        counts = taps.counts
        stride = (taps.stride + 1) & ~1
        var weights = [Int16](repeating: 0, count: taps.firsts.count * stride)
        for index in taps.firsts.indices {
            // What rounding took or gave goes to the next one, so that no part of the kernel weighs too much.
            var lacking = Double(0)
            var (rest, largest) = (Self.one, index * stride)
            for tap in 0..<taps.counts[index] {
                let exact = Double(taps.weights[index * taps.stride + tap]) * Double(Self.one) + lacking
                let place = index * stride + tap
                weights[place] = Int16(exact.rounded())
                lacking = exact - exact.rounded()
                rest -= Int(weights[place])
                if weights[place] > weights[largest] { largest = place }
            }
            // A step or so, as the exact ones add up to 1 only nearly.
            weights[largest] += Int16(rest)
        }
        self.weights = weights
    }

    /// The source samples that are needed at all.
    var used: Range<Int> {
        let first = firsts.min() ?? 0
        return first..<(zip(firsts, counts).map { $0 + $1 }.max() ?? first)
    }
}
