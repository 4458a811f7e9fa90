internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// Mean code values by which a reduced picture may differ from the whole one.
    private static let tolerance = 12.0

    /// Thumbnails have the size asked for, tell the original's and look like it.
    func checkThumbnails(_ item: Decoded) -> [ConformanceViolation] {
        let whole = item.image.size
        let longer = max(whole.width, whole.height)
        return [1, 7, 16, 64, 4096].compactMap { side -> ConformanceViolation? in
            let outcome = decode(item.sample.data) { $0.request.thumbnail = .init(maxPixelSize: side) }
            guard case .image(let container) = outcome else {
                return violation("thumbnail", item.sample, "of \(side) pixels \(outcome.description)")
            }
            let factor = min(1, side / longer)
            let expected = ImageSize(
                width: max(1, (whole.width * factor).rounded()), height: max(1, (whole.height * factor).rounded()))
            if container.image.size != expected {
                return violation("thumbnail", item.sample, "\(container.image.size) in place of \(expected)")
            }
            if container.originalSize != whole {
                let told = container.originalSize.map(\.description) ?? "nil"
                return violation("thumbnail", item.sample, "the original's size is told as \(told)")
            }
            return difference(of: container.image, from: item).map { violation("thumbnail", item.sample, $0) }
        }
    }

    private func difference(of image: Bitmap, from whole: Decoded) -> String? {
        // Of fewer pixels a filter that rings makes too much.
        guard min(image.width, image.height) >= 8 else { return nil }
        let difference = image.gridDifference(from: whole.gridMeans)
        guard difference > Self.tolerance else { return nil }
        return "\(image.size): means differ by \(difference) from those of the whole picture"
    }

    /// What is decoded for `Resize` is whole, or at least twice the result, which has exactly the size of an unhinted one.
    ///
    /// Or it has that size itself, if it is scaled well.
    ///
    /// Widths 1…64 and every eighth of those heights, of the largest sample, through a pipeline.
    func checkHints(_ decoded: [Decoded]) async -> [ConformanceViolation] {
        let registry = ImageDecoderRegistry()
        registry.register(format)
        let pipeline = ImagePipeline {
            $0.decoderRegistry = registry
            $0.imageCache = nil
        }
        guard let item = decoded.max(by: { $0.image.byteCount < $1.image.byteCount }) else { return [] }
        var found: [ConformanceViolation] = []
        for side in 1...64 {
            var cases = [(ImageProcessors.Resize(width: Double(side)), item.image.width)]
            if side % 8 == 0 { cases.append((ImageProcessors.Resize(height: Double(side)), item.image.height)) }
            for (resize, whole) in cases where side < whole {
                if let complaint = await complaint(about: resize, item, pipeline) {
                    found.append(violation("hint", item.sample, "\(resize): \(complaint)"))
                }
            }
        }
        return found
    }

    private func complaint(
        about resize: ImageProcessors.Resize, _ item: Decoded, _ pipeline: ImagePipeline
    ) async -> String? {
        let whole = item.image.size
        guard let expected = resize.decodeHint(for: whole) else { return nil }
        let probe = HintProbe(resize: resize)
        let data = item.sample.data
        let request = ImageRequest(id: item.sample.name, data: { data }, processors: [probe])
        let image: Bitmap
        do {
            image = try await pipeline.image(for: request)
        } catch {
            return "fails with \(error)"
        }
        guard let seen = probe.seen.withLock({ $0 }) else { return "the processor was not asked" }
        if image.size != expected { return "\(image.size) in place of \(expected)" }
        let isLargeEnough = seen.image.width >= 2 * expected.width && seen.image.height >= 2 * expected.height
        if seen.image != whole, seen.image != expected, !isLargeEnough {
            return "was decoded at \(seen.image), less than twice \(expected)"
        }
        if let original = seen.original, original != whole { return "the original's size is told as \(original)" }
        if seen.original == nil, seen.image != whole { return "the original's size is not told" }
        return difference(of: image, from: item)
    }
}

/// Resizes, and remembers what it was given.
private final class HintProbe: ImageProcessing {
    let resize: ImageProcessors.Resize
    let seen = Lock<(image: ImageSize, original: ImageSize?)?>(nil)

    init(resize: ImageProcessors.Resize) { self.resize = resize }

    var identifier: String { resize.identifier }

    func process(_ image: PlatformImage) -> PlatformImage? { resize.process(image) }

    func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
        let sizes = (container.image.size, context.originalSize)
        seen.withLock { $0 = sizes }
        return try resize.process(container, context: context)
    }

    func decodeHint(for original: ImageSize) -> ImageSize? { resize.decodeHint(for: original) }
}
