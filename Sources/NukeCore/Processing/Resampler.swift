/// Resamples pictures to any size with a Lanczos filter of three lobes, widened when shrinking (antialiased).
///
/// Works on premultiplied samples, so colours under transparent pixels never bleed. Rows stream through: only as many
/// filtered rows are held as one output row needs.
enum Resampler {
    /// A part of a picture in its own pixels; may start and end between pixels.
    struct Region {
        var x: Double
        var y: Double
        var width: Double
        var height: Double
    }

    /// The picture, or a region of it, at a new size; nil if there is no memory.
    static func resample(_ image: Bitmap, region: Region? = nil, width: Int, height: Int) -> Bitmap? {
        let region =
            region ?? Region(x: 0, y: 0, width: Double(image.width), height: Double(image.height))
        guard var output = PixelBuffer(width: width, height: height, format: image.format) else { return nil }
        let columns = FilterTaps(source: image.width, start: region.x, extent: region.width, count: width)
        let rows = FilterTaps(source: image.height, start: region.y, extent: region.height, count: height)
        switch image.format {
        case .rgba8:
            if let pass = BytePass(columns: columns, rows: rows) {
                pass.run(image, into: &output)
            } else {
                Pass<UInt8>(channels: 4, columns: columns, rows: rows).run(image, into: &output)
            }
        case .rgba16: Pass<UInt16>(channels: 4, columns: columns, rows: rows).run(image, into: &output)
        case .gray8: Pass<UInt8>(channels: 1, columns: columns, rows: rows).run(image, into: &output)
        }
        return output.freeze(isOpaque: image.isOpaque, colorSpace: image.colorSpace, scale: image.scale)
    }
}

/// For each output sample along one axis: which source samples count, and how much.
struct FilterTaps {
    /// The first source sample of each output sample.
    let firsts: [Int]
    /// How many source samples each output sample takes.
    let counts: [Int]
    /// Weights, `stride` for each output sample; they add up to 1.
    let weights: [Float]
    /// The most source samples that any output sample takes.
    let stride: Int

    init(source: Int, start: Double, extent: Double, count: Int) {
        let scale = extent / Double(count)
        let widening = max(scale, 1)
        let support = 3 * widening
        stride = min(Int((support * 2).rounded(.up)) + 2, source)
        var firsts: [Int] = []
        var counts: [Int] = []
        var weights = [Float](repeating: 0, count: count * stride)
        for index in 0..<count {
            let center = start + (Double(index) + 0.5) * scale
            let first = min(max(Int((center - support + 0.5).rounded(.down)), 0), source - 1)
            let last = min(max(Int((center + support + 0.5).rounded(.down)), first + 1), source)
            let taps = min(last - first, stride)
            var kernel = (0..<taps).map { Self.lanczos3((Double(first + $0) + 0.5 - center) / widening) }
            let sum = kernel.reduce(0, +)
            // Far from the source a kernel may be all zeros: the nearest sample counts then.
            if abs(sum) < 1e-9 {
                kernel = (0..<taps).map { $0 == 0 ? 1 : 0 }
            } else {
                kernel = kernel.map { $0 / sum }
            }
            for (tap, weight) in kernel.enumerated() { weights[index * stride + tap] = Float(weight) }
            firsts.append(first)
            counts.append(taps)
        }
        self.firsts = firsts
        self.counts = counts
        self.weights = weights
    }

    private static func lanczos3(_ x: Double) -> Double {
        if x == 0 { return 1 }
        if abs(x) >= 3 { return 0 }
        let t = x * Double.pi
        return 3 * RealFunctions.sin(t) * RealFunctions.sin(t / 3) / (t * t)
    }
}

/// One resampling of pixels with samples of a type, horizontally then vertically, in single precision: what `BytePass` leaves.
struct Pass<Sample: FixedWidthInteger & UnsignedInteger> {
    let channels: Int
    let columns: FilterTaps
    let rows: FilterTaps

    func run(_ image: Bitmap, into output: inout PixelBuffer) {
        let outputCount = output.width * channels
        let sourceCount = image.width * channels
        let source = UnsafeMutablePointer<Float>.allocate(capacity: sourceCount)
        let ring = UnsafeMutablePointer<Float>.allocate(capacity: outputCount * rows.stride)
        let sum = UnsafeMutablePointer<Float>.allocate(capacity: outputCount)
        // SAFETY: every index below is less than the capacity allocated above; freed on the way out.
        defer {
            unsafe source.deallocate()
            unsafe ring.deallocate()
            unsafe sum.deallocate()
        }
        // Source rows that went through the horizontal filter; those before the first one needed are skipped.
        var filtered = 0
        for y in 0..<output.height {
            let (first, count) = (rows.firsts[y], rows.counts[y])
            filtered = max(filtered, first)
            while filtered < first + count {
                unsafe load(image.row(filtered), into: source, count: sourceCount)
                unsafe filterRow(source, into: ring + (filtered % rows.stride) * outputCount)
                filtered += 1
            }
            unsafe sum.update(repeating: 0, count: outputCount)
            for tap in 0..<count {
                let weight = rows.weights[y * rows.stride + tap]
                let row = unsafe ring + ((first + tap) % rows.stride) * outputCount
                for i in 0..<outputCount { unsafe sum[i] += row[i] * weight }
            }
            output.withRow(y) { row in unsafe store(sum, into: &row, count: outputCount) }
        }
    }

    private func load(_ row: RawSpan, into target: UnsafeMutablePointer<Float>, count: Int) {
        // SAFETY: the row holds `count` samples, aligned as rows start on multiples of a pixel.
        unsafe row.withUnsafeBytes { bytes in
            guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: Sample.self) else { return }
            for i in 0..<count { unsafe target[i] = Float(Int32(truncatingIfNeeded: base[i])) }
        }
    }

    private func filterRow(_ source: UnsafeMutablePointer<Float>, into target: UnsafeMutablePointer<Float>) {
        // SAFETY: taps lie within the source row by construction of FilterTaps; four floats make one pixel.
        unsafe columns.weights.withUnsafeBufferPointer { weights in
            for x in 0..<columns.firsts.count {
                let (first, count, base) = (columns.firsts[x], columns.counts[x], x * columns.stride)
                if channels == 4 {
                    var pixel = SIMD4<Float>.zero
                    let pixels = unsafe UnsafeRawPointer(source + first * 4)
                    for tap in 0..<count {
                        let value = unsafe pixels.loadUnaligned(fromByteOffset: tap * 16, as: SIMD4<Float>.self)
                        unsafe pixel += value * weights[base + tap]
                    }
                    unsafe UnsafeMutableRawPointer(target + x * 4).storeBytes(of: pixel, as: SIMD4<Float>.self)
                } else {
                    var value: Float = 0
                    for tap in 0..<count { unsafe value += source[first + tap] * weights[base + tap] }
                    unsafe target[x] = value
                }
            }
        }
    }

    /// Rounds to whole samples within range; colour stays at or below alpha, as premultiplied samples must.
    private func store(_ sum: UnsafeMutablePointer<Float>, into row: inout MutableRawSpan, count: Int) {
        let limit = Float(Sample.max)
        // SAFETY: the row has room for `count` samples, aligned as rows start on multiples of a pixel.
        unsafe row.withUnsafeMutableBytes { bytes in
            guard let target = unsafe bytes.baseAddress?.assumingMemoryBound(to: Sample.self) else { return }
            if channels == 1 {
                for i in 0..<count { unsafe target[i] = Self.rounded(sum[i], upTo: limit) }
                return
            }
            for i in stride(from: 0, to: count, by: 4) {
                let alpha = unsafe Self.rounded(sum[i + 3], upTo: limit)
                let most = Float(Int32(truncatingIfNeeded: alpha))
                unsafe target[i] = Self.rounded(sum[i], upTo: most)
                unsafe target[i + 1] = Self.rounded(sum[i + 1], upTo: most)
                unsafe target[i + 2] = Self.rounded(sum[i + 2], upTo: most)
                unsafe target[i + 3] = alpha
            }
        }
    }

    /// By way of Int32: the generic conversion between Float and an integer is not specialised and costs ten times as much.
    @inline(__always)
    private static func rounded(_ value: Float, upTo limit: Float) -> Sample {
        Sample(truncatingIfNeeded: Int32(min(max(value + 0.5, 0), limit)))
    }
}
