/// Finds the index of a palette for every pixel, with Floyd and Steinberg's diffusion of the error or without.
struct GIFIndexer {
    private let palette: GIFPalette
    /// The index for pixels where there is nothing.
    private let nothing: UInt8
    /// Indices that were found, by a hash of the pixel: the pixel below, the index in the highest 8 bits.
    private var found = [UInt32](repeating: 0, count: 1 << 15)

    init(_ palette: GIFPalette, nothing: UInt8) {
        (self.palette, self.nothing) = (palette, nothing)
    }

    /// The indices of pixels in the form of `GIFPicture`.
    mutating func indices(of pixels: [UInt32]) -> [UInt8] {
        var (indices, last, lastIndex) = ([UInt8](), UInt32(0), nothing)
        indices.reserveCapacity(pixels.count)
        for pixel in pixels {
            if pixel != last { (last, lastIndex) = (pixel, pixel == 0 ? nothing : index(of: pixel)) }
            indices.append(lastIndex)
        }
        return indices
    }

    private mutating func index(of pixel: UInt32) -> UInt8 {
        let (slot, color) = (Int((pixel &* 0x9E37_79B1) >> 17), pixel & 0xFF_FFFF)
        // An entry of 0 is black at the index 0, or none.
        if found[slot] & 0xFF_FFFF == color, found[slot] != 0 { return UInt8(found[slot] >> 24) }
        let index = UInt8(palette.nearest(pixel))
        found[slot] = color | UInt32(index) << 24
        return index
    }

    /// The indices with each pixel's error handed on to those right of it and below it.
    ///
    /// Rows go right and left in turn. What falls on nothing is lost.
    mutating func ditheredIndices(of pixels: [UInt32], width: Int) -> [UInt8] {
        var indices = [UInt8](repeating: nothing, count: pixels.count)
        // In sixteenths; one more at either end.
        var (here, below) = (
            [SIMD4<Int32>](repeating: SIMD4(), count: width + 2), [SIMD4<Int32>](repeating: SIMD4(), count: width + 2)
        )
        for y in 0..<pixels.count / max(width, 1) {
            let step = y % 2 == 0 ? 1 : -1
            for place in 0..<width {
                let x = step > 0 ? place : width - 1 - place
                let pixel = pixels[y * width + x]
                guard pixel != 0 else { continue }
                let exact = SIMD4(Int32(pixel & 255), Int32(pixel >> 8 & 255), Int32(pixel >> 16 & 255), 0)
                let wanted = (exact &+ (here[x + 1] &+ 8) &>> 4).clamped(lowerBound: SIMD4(), upperBound: .full)
                let index = index(
                    of: UInt32(wanted[0]) | UInt32(wanted[1]) << 8 | UInt32(wanted[2]) << 16 | 0xFF00_0000)
                indices[y * width + x] = index
                let color = palette.colors[Int(index)]
                let error =
                    wanted &- SIMD4(Int32(color & 255), Int32(color >> 8 & 255), Int32(color >> 16 & 255), 0)
                here[x + 1 + step] &+= error &* 7
                below[x + 1 - step] &+= error &* 3
                below[x + 1] &+= error &* 5
                below[x + 1 + step] &+= error
            }
            (here, below) = (below, here)
            for index in below.indices { below[index] = SIMD4() }
        }
        return indices
    }
}

extension SIMD4<Int32> {
    fileprivate static var full: Self { SIMD4(255, 255, 255, 0) }
}
