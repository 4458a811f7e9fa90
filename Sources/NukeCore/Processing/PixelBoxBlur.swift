/// The blur of samples of 8 bits, eight and more in a row, by vectors of 32-bit sums.
struct PixelBoxBlur {
    private static let stripLength = 512

    private let diameter: Int
    /// How many samples the newest one is ahead of the output.
    private let lead: Int
    private let cube: Int32
    /// Sums are shifted until they fit the mantissa of a float.
    private let shift: Int32
    private let scale: Float

    /// Nil if the sums would not fit 31 bits.
    init?(diameter: Int) {
        guard diameter <= 203 else { return nil }
        self.diameter = diameter
        lead = 3 * (diameter - 1) / 2
        let largest = 255 * diameter * diameter * diameter
        let bits = Int.bitWidth - largest.leadingZeroBitCount
        shift = Int32(max(0, bits - 23))
        cube = Int32(diameter * diameter * diameter)
        scale = Float(1 << shift) / Float(cube)
    }

    /// From source to target, in strips of columns so narrow that their sums stay in the nearest cache.
    func vertical(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, rowBytes: Int, height: Int
    ) {
        let sums = UnsafeMutablePointer<SIMD8<Int32>>.allocate(capacity: Self.stripLength / 8 * 3)
        // SAFETY: strips end where rows do; the row numbers are clamped to those there are; freed on the way out.
        defer { unsafe sums.deallocate() }
        var column = 0
        while column < rowBytes {
            let length = min(Self.stripLength, rowBytes - column) & ~7
            // What is left at the end goes with what is before it, which is done twice.
            let start = length > 0 ? column : rowBytes - 8
            unsafe strip(source + start, target + start, sums, rowBytes, height, count: max(1, length / 8))
            column = start + max(8, length)
        }
    }

    private func strip(
        _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ sums: UnsafeMutablePointer<SIMD8<Int32>>,
        _ rowBytes: Int, _ height: Int, count: Int
    ) {
        let (cubes, shifts) = (SIMD8(repeating: cube), SIMD8(repeating: shift))
        let scales = SIMD8(repeating: scale)
        // SAFETY: see vertical.
        // Above the first row everything is like it: the sums start as if that had gone on for ever.
        for i in 0..<count {
            let pixel = unsafe source.loadUnaligned(fromByteOffset: i * 8, as: SIMD8<UInt8>.self)
            unsafe sums[i * 3] = .zero
            unsafe sums[i * 3 + 1] = .zero
            unsafe sums[i * 3 + 2] = SIMD8<Int32>(truncatingIfNeeded: pixel) &* cubes
        }
        for newest in 0..<height + lead {
            let a = unsafe source + min(newest, height - 1) * rowBytes
            let b = unsafe source + min(max(newest - diameter, 0), height - 1) * rowBytes
            let c = unsafe source + min(max(newest - 2 * diameter, 0), height - 1) * rowBytes
            let d = unsafe source + min(max(newest - 3 * diameter, 0), height - 1) * rowBytes
            let output = unsafe target + max(newest - lead, 0) * rowBytes
            for i in 0..<count {
                let inner = unsafe Self.load(c, i) &- Self.load(b, i)
                let delta = unsafe Self.load(a, i) &- Self.load(d, i) &+ inner &+ inner &+ inner
                let first = unsafe sums[i * 3] &+ SIMD8<Int32>(truncatingIfNeeded: delta)
                let second = unsafe sums[i * 3 + 1] &+ first
                let third = unsafe sums[i * 3 + 2] &+ second
                unsafe sums[i * 3] = first
                unsafe sums[i * 3 + 1] = second
                unsafe sums[i * 3 + 2] = third
                if newest < lead { continue }
                // SAFETY: vectors of one size; see PixelArithmetic.swift, also on the two constants.
                let bits = (third &>> shifts) | SIMD8(repeating: 0x4B00_0000)
                let float = unsafe unsafeBitCast(bits, to: SIMD8<Float>.self) - SIMD8(repeating: 8_388_608)
                // SAFETY: likewise.
                let rounded = unsafe unsafeBitCast(
                    float * scales + SIMD8(repeating: 12_582_912), to: SIMD8<Int32>.self)
                let samples = SIMD8<UInt8>(truncatingIfNeeded: rounded)
                unsafe output.storeBytes(of: samples, toByteOffset: i * 8, as: SIMD8<UInt8>.self)
            }
        }
    }

    @inline(__always)
    private static func load(_ row: UnsafeRawPointer, _ index: Int) -> SIMD8<Int16> {
        // SAFETY: see vertical.
        SIMD8<Int16>(truncatingIfNeeded: unsafe row.loadUnaligned(fromByteOffset: index * 8, as: SIMD8<UInt8>.self))
    }

    /// In place, RGBA.
    func horizontal(_ pixels: UnsafeMutableRawPointer, width: Int, height: Int) {
        let margin = 3 * diameter
        let copy = UnsafeMutablePointer<SIMD4<UInt8>>.allocate(capacity: width + margin + lead)
        // SAFETY: the copy has the row with what lies beyond its ends as far as it is looked at; freed on the way out.
        defer { unsafe copy.deallocate() }
        for y in 0..<height {
            let row = unsafe pixels + y * width * 4
            let (first, last) = unsafe (
                row.loadUnaligned(as: SIMD4<UInt8>.self),
                row.loadUnaligned(fromByteOffset: (width - 1) * 4, as: SIMD4<UInt8>.self)
            )
            unsafe copy.update(repeating: first, count: margin)
            unsafe UnsafeMutableRawPointer(copy + margin).copyMemory(from: row, byteCount: width * 4)
            unsafe (copy + margin + width).update(repeating: last, count: lead)
            unsafe filter(copy, into: row, count: width)
        }
    }

    private func filter(_ copy: UnsafePointer<SIMD4<UInt8>>, into row: UnsafeMutableRawPointer, count: Int) {
        let (shifts, scales) = (SIMD4(repeating: shift), SIMD4(repeating: scale))
        var (first, second) = (SIMD4<Int32>.zero, SIMD4<Int32>.zero)
        // SAFETY: see horizontal.
        var third = unsafe SIMD4<Int32>(truncatingIfNeeded: copy[0]) &* SIMD4(repeating: cube)
        for newest in 0..<count + lead {
            let oldest = unsafe copy + newest
            let a = unsafe SIMD4<Int32>(truncatingIfNeeded: oldest[3 * diameter])
            let b = unsafe SIMD4<Int32>(truncatingIfNeeded: oldest[2 * diameter])
            let c = unsafe SIMD4<Int32>(truncatingIfNeeded: oldest[diameter])
            let d = unsafe SIMD4<Int32>(truncatingIfNeeded: oldest[0])
            let inner = c &- b
            first = first &+ a &- d &+ inner &+ inner &+ inner
            second = second &+ first
            third = third &+ second
            if newest < lead { continue }
            let bits = (third &>> shifts) | SIMD4(repeating: 0x4B00_0000)
            // SAFETY: vectors of one size.
            let float = unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - SIMD4(repeating: 8_388_608)
            let samples = (float * scales).samples(UInt8.self)
            unsafe row.storeBytes(of: samples, toByteOffset: (newest - lead) * 4, as: SIMD4<UInt8>.self)
        }
    }
}
