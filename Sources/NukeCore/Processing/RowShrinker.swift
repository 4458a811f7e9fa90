/// Averages rows, as a decoder delivers them, into a smaller picture, so that the whole one is never held.
///
/// A box filter over exact areas: any ratio from 1 up, in either direction. Rows are premultiplied. Rows that never
/// come leave zeros.
public struct RowShrinker: ~Copyable {
    /// Columns of the picture that comes in.
    public let sourceWidth: Int
    /// Rows of the picture that comes in.
    public let sourceHeight: Int

    private var output: PixelBuffer
    private let columns: BoxTaps
    private let rows: BoxTaps
    private var sums: [Float]
    private var nextRow = 0
    private var outputRow = 0

    /// Creates a shrinker; nil if the target is larger than the source in either direction, or there is no memory.
    ///
    /// - Parameters:
    ///   - sourceWidth: Columns that come in, in pixels.
    ///   - sourceHeight: Rows that come in.
    ///   - width: Columns to make, in pixels.
    ///   - height: Rows to make.
    ///   - format: The format of both.
    public init?(sourceWidth: Int, sourceHeight: Int, width: Int, height: Int, format: PixelFormat = .rgba8) {
        guard width <= sourceWidth, height <= sourceHeight,
            let output = PixelBuffer(width: width, height: height, format: format)
        else { return nil }
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.output = output
        columns = BoxTaps(source: sourceWidth, count: width)
        rows = BoxTaps(source: sourceHeight, count: height)
        sums = [Float](repeating: 0, count: width * format.channelCount)
    }

    /// The whole-pixel size, at most the source's, that is nearest to and at least twice `hint`; nil if that is no gain.
    ///
    /// A shrinker works at half the source's size and below.
    public static func reducedSize(of source: ImageSize, for hint: ImageSize) -> (width: Int, height: Int)? {
        let factor = min(source.width / (hint.width * 2), source.height / (hint.height * 2))
        guard factor.isFinite, factor >= 2 else { return nil }
        let reduced = source.scaled(by: 1 / factor)
        return (Int(reduced.width.rounded(.up)), Int(reduced.height.rounded(.up)))
    }

    /// Takes the next source row, from the top; rows beyond the last are ignored.
    public mutating func append(_ row: RawSpan) {
        precondition(row.byteCount >= sourceWidth * output.format.bytesPerPixel, "the row is too short")
        guard nextRow < sourceHeight else { return }
        let y = nextRow
        nextRow += 1
        while outputRow < output.height {
            let weight = rows.weight(of: y, in: outputRow)
            if weight > 0 { accumulate(row, weight: weight) }
            guard y == rows.lasts[outputRow] else { return }
            store()
            outputRow += 1
        }
    }

    /// Ends the picture and gives its pixels.
    public consuming func finish() -> PixelBuffer { output }

    private mutating func accumulate(_ row: RawSpan, weight: Float) {
        switch output.format {
        case .rgba8: accumulatePixels(row, weight, of: UInt8.self)
        case .rgba16: accumulatePixels(row, weight, of: UInt16.self)
        case .gray8: accumulateSamples(row, weight)
        }
    }

    private mutating func accumulatePixels<Sample: FixedWidthInteger & SIMDScalar>(
        _ row: RawSpan, _ weight: Float, of type: Sample.Type
    ) {
        let columns = columns
        let size = MemoryLayout<SIMD4<Sample>>.size
        // SAFETY: columns.lasts < sourceWidth, and the row was checked to hold as many pixels; sums has four a column.
        unsafe row.withUnsafeBytes { bytes in
            unsafe sums.withUnsafeMutableBytes { sums in
                for x in 0..<columns.firsts.count {
                    let (first, last) = (columns.firsts[x], columns.lasts[x])
                    var sum = SIMD4<UInt32>.zero
                    var index = first + 1
                    while index < last {
                        let pixel = unsafe bytes.loadUnaligned(fromByteOffset: index * size, as: SIMD4<Sample>.self)
                        sum &+= SIMD4<UInt32>(truncatingIfNeeded: pixel)
                        index += 1
                    }
                    let head = unsafe bytes.loadUnaligned(fromByteOffset: first * size, as: SIMD4<Sample>.self)
                    let tail = unsafe bytes.loadUnaligned(fromByteOffset: last * size, as: SIMD4<Sample>.self)
                    var value = SIMD4<Float>(SIMD4<UInt32>(truncatingIfNeeded: head)) * columns.headWeights[x]
                    value += SIMD4<Float>(SIMD4<UInt32>(truncatingIfNeeded: tail)) * columns.tailWeights[x]
                    value += SIMD4<Float>(sum) * columns.unit
                    let old = unsafe sums.loadUnaligned(fromByteOffset: x * 16, as: SIMD4<Float>.self)
                    unsafe sums.storeBytes(of: old + value * weight, toByteOffset: x * 16, as: SIMD4<Float>.self)
                }
            }
        }
    }

    private mutating func accumulateSamples(_ row: RawSpan, _ weight: Float) {
        for x in 0..<columns.firsts.count {
            let (first, last) = (columns.firsts[x], columns.lasts[x])
            var sum: UInt32 = 0
            var index = first + 1
            while index < last {
                sum += UInt32(row.sample(index))
                index += 1
            }
            var value = Float(row.sample(first)) * columns.headWeights[x]
            value += Float(row.sample(last)) * columns.tailWeights[x] + Float(sum) * columns.unit
            sums[x] += value * weight
        }
    }

    private mutating func store() {
        let isWide = output.format == .rgba16
        let sums = sums
        output.withRow(outputRow) { row in
            // SAFETY: the row holds as many samples as there are sums.
            unsafe row.withUnsafeMutableBytes { bytes in
                for index in 0..<sums.count {
                    if isWide {
                        let sample = UInt16(min(sums[index] + 0.5, 65_535))
                        unsafe bytes.storeBytes(of: sample, toByteOffset: index * 2, as: UInt16.self)
                    } else {
                        unsafe bytes[index] = UInt8(min(sums[index] + 0.5, 255))
                    }
                }
            }
        }
        for index in 0..<self.sums.count { self.sums[index] = 0 }
    }
}

extension RawSpan {
    /// The byte at an index, checked.
    fileprivate func sample(_ index: Int) -> UInt8 {
        // SAFETY: any byte is a UInt8; unsafeLoad checks the bounds.
        unsafe unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
}

/// For each output sample along one axis: the source samples its box covers, the outer ones in part.
private struct BoxTaps {
    let firsts: [Int]
    let lasts: [Int]
    let headWeights: [Float]
    /// 0 where the last sample is the first.
    let tailWeights: [Float]
    /// The weight of a sample that is wholly covered: count / source.
    let unit: Float

    init(source: Int, count: Int) {
        let scale = Double(source) / Double(count)
        var (firsts, lasts): ([Int], [Int]) = ([], [])
        var (heads, tails): ([Float], [Float]) = ([], [])
        for index in 0..<count {
            let (start, end) = (Double(index) * scale, index == count - 1 ? Double(source) : Double(index + 1) * scale)
            let first = min(Int(start), source - 1)
            let last = max(first, min(Int(end.rounded(.up)) - 1, source - 1))
            firsts.append(first)
            lasts.append(last)
            heads.append(Float((min(end, Double(first + 1)) - start) / scale))
            tails.append(last == first ? 0 : Float((end - Double(last)) / scale))
        }
        self.firsts = firsts
        self.lasts = lasts
        headWeights = heads
        tailWeights = tails
        unit = Float(1 / scale)
    }

    /// How much of an output sample a source sample makes up; 0 if none.
    func weight(of source: Int, in output: Int) -> Float {
        if source < firsts[output] || source > lasts[output] { return 0 }
        if source == firsts[output] { return headWeights[output] }
        return source == lasts[output] ? tailWeights[output] : unit
    }
}
