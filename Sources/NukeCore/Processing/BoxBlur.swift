/// Three box filters in a row, which come close to a Gaussian, in one pass each way.
///
/// A box filter is a difference of sums: box(n) − box(n − 1) = x(n) − x(n − d). Three of them come to the third difference
/// x(n) − 3x(n − d) + 3x(n − 2d) − x(n − 3d), summed up three times. Sums are exact integers, which may overflow on the
/// way as long as the last, at most d³ times the largest sample, does not. Only that one is rounded.
enum BoxBlur {
    /// Blurs a picture; nil if there is no memory.
    static func blur(_ image: Bitmap, radius: Int) -> Bitmap? {
        let diameter = diameter(radius: radius)
        guard var output = PixelBuffer(width: image.width, height: image.height, format: image.format) else {
            return nil
        }
        let channels = image.format.channelCount
        let length = image.width * channels
        // SAFETY: both hold `height` rows of `length` samples, aligned as rows start on multiples of a pixel.
        unsafe image.bytes.withUnsafeBytes { source in
            output.withBytes { target in
                unsafe target.withUnsafeMutableBytes { target in
                    guard let from = source.baseAddress, let to = target.baseAddress else { return }
                    if image.format == .rgba16 {
                        let blur = SampleBoxBlur<UInt16>(diameter: diameter, length: length, height: image.height)
                        unsafe blur.vertical(from, to)
                        unsafe blur.horizontal(to, channels: channels)
                        return
                    }
                    let blur = SampleBoxBlur<UInt8>(diameter: diameter, length: length, height: image.height)
                    guard let fast = PixelBoxBlur(diameter: diameter), length >= 8 else {
                        unsafe blur.vertical(from, to)
                        return unsafe blur.horizontal(to, channels: channels)
                    }
                    unsafe fast.vertical(from, to, rowBytes: length, height: image.height)
                    if image.format == .rgba8 {
                        unsafe fast.horizontal(to, width: image.width, height: image.height)
                    } else {
                        unsafe blur.horizontal(to, channels: channels)
                    }
                }
            }
        }
        return output.freeze(isOpaque: image.isOpaque, colorSpace: image.colorSpace, scale: image.scale)
    }

    /// The width of the box, odd, so that three of them spread as much as a Gaussian of this standard deviation.
    static func diameter(radius: Int) -> Int {
        let width = Int((Double(radius) * 3 * (2 * Double.pi).squareRoot() / 4 + 0.5).rounded(.down))
        return width % 2 == 0 ? width + 1 : width
    }
}

/// The blur of samples of any size and number by 64-bit sums, one at a time.
private struct SampleBoxBlur<Sample: PixelSample> {
    let diameter: Int
    /// Samples in a row.
    let length: Int
    let height: Int

    /// From source to target, column by column.
    func vertical(_ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer) {
        let from = unsafe source.assumingMemoryBound(to: Sample.self)
        let to = unsafe target.assumingMemoryBound(to: Sample.self)
        let line = UnsafeMutablePointer<Sample>.allocate(capacity: height)
        // SAFETY: source and target have `height` rows of `length` samples; the line holds a column.
        defer { unsafe line.deallocate() }
        for x in 0..<length {
            for y in 0..<height { unsafe line[y] = from[y * length + x] }
            unsafe filter(line, count: height, into: to + x, step: length)
        }
    }

    /// In place, channel by channel.
    func horizontal(_ target: UnsafeMutableRawPointer, channels: Int) {
        let to = unsafe target.assumingMemoryBound(to: Sample.self)
        let width = length / channels
        let line = UnsafeMutablePointer<Sample>.allocate(capacity: width)
        // SAFETY: the target has `height` rows of `length` samples; the line holds a channel of a row.
        defer { unsafe line.deallocate() }
        for y in 0..<height {
            for channel in 0..<channels {
                let start = unsafe to + y * length + channel
                for x in 0..<width { unsafe line[x] = start[x * channels] }
                unsafe filter(line, count: width, into: start, step: channels)
            }
        }
    }

    private func filter(
        _ line: UnsafePointer<Sample>, count: Int, into target: UnsafeMutablePointer<Sample>, step: Int
    ) {
        let lead = 3 * (diameter - 1) / 2
        let cube = diameter * diameter * diameter
        let scale = 1 / Double(cube)
        // SAFETY: indices into the line are clamped to its `count` samples; the target has as many, `step` apart.
        func sample(_ index: Int) -> Int {
            unsafe Int(truncatingIfNeeded: line[min(max(index, 0), count - 1)])
        }
        var (first, second, third) = (0, 0, sample(0) * cube)
        for newest in 0..<count + lead {
            let inner = sample(newest - 2 * diameter) - sample(newest - diameter)
            first += sample(newest) - sample(newest - 3 * diameter) + 3 * inner
            second += first
            third += second
            if newest >= lead {
                let value = Int32(Double(third) * scale + 0.5)
                unsafe target[(newest - lead) * step] = Sample(truncatingIfNeeded: value)
            }
        }
    }
}
