internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// Mean code values by which a preview may differ from the final image, where it shows something.
    private static let tolerance = 64.0
    /// Samples of fewer bytes, or pixels, may be over before there is anything to show.
    private static let smallest = (bytes: 2048, side: 64)

    /// Previews look like the final image, which comes out as it would without them.
    func checkPreviews(_ decoded: [Decoded]) -> [ConformanceViolation] {
        var found: [ConformanceViolation] = []
        var (isExpected, count) = (false, 0)
        for item in decoded {
            let load = PreviewLoad(item, suite: self)
            found += load.violations.map { violation("preview", item.sample, $0) }
            count += load.previewCount
            let isLarge =
                item.sample.data.count >= Self.smallest.bytes
                && min(item.image.width, item.image.height) >= Self.smallest.side
            isExpected = isExpected || isLarge && load.policy == .incremental
        }
        if isExpected, count == 0, format.capabilities.contains(.progressive) {
            let message = "\(format.name) has the capability progressive, but no sample had a preview"
            found.append(ConformanceViolation(check: "preview", message: message))
        }
        return found
    }

    /// What is wrong with a preview; nil if nothing is.
    func complaint(about preview: ImageContainer, of item: Decoded) -> String? {
        let (image, whole) = (preview.image, item.image)
        if preview.type != format.type { return "its type is \(preview.type?.rawValue ?? "nil")" }
        if let wrong = image.wrongPixel { return wrong }
        // Embedded thumbnails are smaller, and their sides rounded.
        let across = Double(image.width * whole.height)
        let down = Double(image.height * whole.width)
        let isOfShape = abs(across - down) <= 0.1 * max(across, down) || min(image.width, image.height) < 8
        if image.width > whole.width || image.height > whole.height || !isOfShape {
            return "it has \(image.size), the final image \(whole.size)"
        }
        guard min(image.width, image.height) >= 8 else { return nil }
        // What has not arrived yet is transparent.
        let cells = zip(image.gridMeans, item.gridMeans).filter { $0.w >= $1.w - 4 }
        let difference = cells.reduce(0) { largest, cell in
            let difference = cell.0 - cell.1
            return max(largest, abs(difference.x), abs(difference.y), abs(difference.z))
        }
        return difference > Self.tolerance ? "where it is filled its means differ by \(difference)" : nil
    }
}

/// One load with previews, as a pipeline makes them.
private struct PreviewLoad {
    private(set) var violations: [String] = []
    private(set) var previewCount = 0
    /// What the format says of the data; nil where it never took it.
    private(set) var policy: ImagePipeline.PreviewPolicy?

    private let item: DecoderConformance.Decoded
    private let suite: DecoderConformance

    init(_ item: DecoderConformance.Decoded, suite: DecoderConformance) {
        self.item = item
        self.suite = suite
        run()
        runWithoutRoom()
    }

    /// Growing parts of the sample, then all of it.
    private static func counts(_ total: Int) -> [Int] {
        let parts = (1...24).map { total * $0 / 25 } + [64, 256, 1024, 4096, total - 1]
        return Set(parts.filter { $0 > 0 && $0 < total }).sorted()
    }

    private func makeDecoder(
        _ data: Data, _ configure: (inout ImageDecodingContext) -> Void = { _ in }
    ) -> (decoder: any ImageDecoding, policy: ImagePipeline.PreviewPolicy)? {
        let registry = ImageDecoderRegistry()
        registry.register(suite.format)
        let policy = suite.format.previewPolicy(data)
        guard policy != .disabled || suite.format.capabilities.contains(.finishesEarly) else { return nil }
        var context = suite.context(data, isCompleted: false)
        context.previewPolicy = policy
        configure(&context)
        return registry.decoder(for: context).map { ($0, policy) }
    }

    private mutating func run() {
        let data = item.sample.data
        var decoder: (any ImageDecoding)?
        for count in Self.counts(data.count) {
            let part = data.prefix(count)
            if decoder == nil, let made = makeDecoder(part) { (decoder, policy) = (made.decoder, made.policy) }
            guard let decoder else { continue }
            do {
                guard let preview = try decoder.decodePartiallyDownloadedData(part) else { continue }
                previewCount += 1
                guard preview.isPreview else {
                    if preview.image.hasSamePixels(as: item.image) { return }
                    violations.append("of \(count) bytes: it is said to be final, but all the data gives other pixels")
                    return
                }
                if let complaint = suite.complaint(about: preview, of: item) {
                    violations.append("of \(count) bytes: \(complaint)")
                }
            } catch let error as ImageDecodingError {
                if error.code == .needsRange { break }
            } catch {
                violations.append("of \(count) bytes: throws \(error), no ImageDecodingError")
            }
        }
        guard let decoder else { return }
        do {
            let image = try decoder.decode(data).image
            if !image.hasSamePixels(as: item.image) { violations.append("after previews the final image is another") }
        } catch {
            violations.append("after previews the final image fails with \(error)")
        }
    }

    /// Limits hold for previews too.
    private mutating func runWithoutRoom() {
        let part = item.sample.data.prefix(item.sample.data.count * 24 / 25)
        var limits = ImageLimits()
        limits.pixelCount = 0
        guard let made = makeDecoder(part, { $0.limits = limits }) else { return }
        guard let preview = (try? made.decoder.decodePartiallyDownloadedData(part)) ?? nil else { return }
        violations.append("with a limit of no pixels it gives \(preview.image)")
    }
}
