internal import Glibc
internal import NukeCore

extension Bitmap {
    /// What no bitmap may have, in words: colour above alpha, or alpha where it is said to be opaque; nil if there is none.
    var wrongPixel: String? { fault { opacityFault($0, $1, $2) ?? premultiplicationFault($0, $1, $2) } }

    /// Where it is said to be opaque and is not.
    var wrongOpacity: String? { fault(opacityFault) }

    /// Where colour is above alpha.
    var wrongPremultiplication: String? { fault(premultiplicationFault) }

    /// Whether alpha is full everywhere, whatever `isOpaque` says.
    var hasFullAlpha: Bool { fault { pixel, _, _ in pixel.w < 255 ? "" : nil } == nil }

    /// Whether there is a pixel of no alpha.
    var hasClearPixel: Bool { fault { pixel, _, _ in pixel.w == 0 ? "" : nil } != nil }

    private func opacityFault(_ pixel: SIMD4<Double>, _ x: Int, _ y: Int) -> String? {
        isOpaque && pixel.w < 255 ? "said to be opaque, but alpha is \(pixel.w) at \(x), \(y)" : nil
    }

    private func premultiplicationFault(_ pixel: SIMD4<Double>, _ x: Int, _ y: Int) -> String? {
        max(pixel.x, pixel.y, pixel.z) > pixel.w ? "not premultiplied at \(x), \(y): \(pixel)" : nil
    }

    private func fault(_ find: (SIMD4<Double>, Int, Int) -> String?) -> String? {
        for y in 0..<height {
            for x in 0..<width {
                if let fault = find(samples(x, y), x, y) { return fault }
            }
        }
        return nil
    }

    /// The peak signal-to-noise ratio of a copy in dB, over the premultiplied samples; infinite if all are equal.
    ///
    /// Zero if the sizes differ.
    func signalToNoise(of copy: Bitmap) -> Double {
        guard size == copy.size else { return 0 }
        var sum = SIMD4<Double>.zero
        for y in 0..<height {
            for x in 0..<width {
                let difference = samples(x, y) - copy.samples(x, y)
                sum += difference * difference
            }
        }
        let error = sum.sum() / Double(width * height * 4)
        return error == 0 ? .infinity : 10 * log10(255 * 255 / error)
    }
}
