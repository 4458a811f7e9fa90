internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// Mean code values by which thumbnails may differ, as what is reduced first and turned then is rounded otherwise.
    private static let tolerance = 6.0

    /// Every stored orientation is told, and applied once: whole and as a thumbnail.
    func checkOrientations() -> [ConformanceViolation] {
        guard !orientations.isEmpty else { return [] }
        guard let stored = orientations[.up], let upright = decode(stored).image else {
            return [ConformanceViolation(check: "orientation", message: "there is no file stored upright that decodes")]
        }
        var found: [String] = []
        for (orientation, data) in orientations.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let expected = upright.turned(orientation) else { continue }
            if let told = properties(of: data)?.orientation, told != orientation {
                found.append("\(orientation) is told as \(told)")
            }
            let whole = decode(data)
            if let image = whole.image {
                if !image.hasSamePixels(as: expected) {
                    found.append("\(orientation) is not the upright file turned: \(image.size), \(expected.size)")
                }
            } else {
                found.append("\(orientation) \(whole)")
            }
            if let complaint = complaint(aboutThumbnailOf: data, expected: expected) {
                found.append("a thumbnail of \(orientation) \(complaint)")
            }
        }
        return found.map { ConformanceViolation(check: "orientation", message: $0) }
    }

    private func complaint(aboutThumbnailOf data: Data, expected: Bitmap) -> String? {
        let side = Double(max(expected.width, expected.height)) / 2
        let outcome = decode(data) { $0.request.thumbnail = .init(maxPixelSize: side) }
        guard let image = outcome.image else { return outcome.description }
        if (image.width > image.height) != (expected.width > expected.height) {
            return "has \(image.size), the whole has \(expected.size)"
        }
        let difference = image.gridDifference(from: expected.gridMeans)
        return difference > Self.tolerance ? "differs from the whole by \(difference)" : nil
    }
}

extension Bitmap {
    /// The upright picture that this one is if it is stored in an orientation; nil if there is no memory for it.
    fileprivate func turned(_ orientation: ImageOrientation) -> Bitmap? {
        let (width, height) = orientation.swapsSides ? (height, width) : (width, height)
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else { return nil }
        for y in 0..<self.height { buffer.writeStoredRow(row(y), at: y, orientation: orientation) }
        return buffer.freeze(isOpaque: isOpaque, colorSpace: colorSpace)
    }
}
