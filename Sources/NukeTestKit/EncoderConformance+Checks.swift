internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension EncoderConformance {
    /// What comes back of samples that the format rounds: of 16 bits, or where alpha is divided out.
    private static let roundingPSNR = 40.0

    /// What encoding one picture shows, and decoding it again.
    func check(_ encoder: any ImageEncoding, _ subject: Subject) -> [ConformanceViolation] {
        func violation(_ check: String, _ message: String) -> ConformanceViolation {
            self.violation(check, "\(subject.name): \(message)")
        }
        let (image, container) = (subject.image, ImageContainer(image: subject.image))
        let before = image.copy
        let outcome = encode(encoder, container)
        var found: [ConformanceViolation] = []
        if before?.hasSamePixels(as: image) == false { found.append(violation("input", "it was changed")) }
        found += checkAgreement(encoder, container, outcome).map { violation("agreement", $0) }
        guard let data = outcome.data else {
            // A format without alpha may refuse what is not opaque.
            if image.isOpaque || format.capabilities.contains(.alpha) || !outcome.isTyped {
                found.append(violation("round trip", "\(outcome)"))
            }
            return found
        }
        if encode(encoder, container).data != data {
            found.append(violation("determinism", "encoded twice, it gives other bytes"))
        }
        let registry = ImageDecoderRegistry()
        registry.register(format)
        if registry.format(of: data) == nil {
            found.append(violation("encoder", "the file is not taken for \(format.name)"))
        }
        return found + checkRoundTrip(image, data, violation)
    }

    private func checkRoundTrip(
        _ image: Bitmap, _ data: Data, _ violation: (String, String) -> ConformanceViolation
    ) -> [ConformanceViolation] {
        let result: Bitmap
        do {
            guard let decoded = try decode(data)?.image else { return [violation("round trip", "no decoder takes it")] }
            result = decoded
        } catch {
            return [violation("round trip", "the file does not decode: \(error)")]
        }
        var found: [ConformanceViolation] = []
        if result.size != image.size {
            found.append(violation("round trip", "\(image.size) comes back as \(result.size)"))
        }
        let keepsAlpha = image.isOpaque || format.capabilities.contains(.alpha)
        if image.isOpaque, !result.isOpaque { found.append(violation("opacity", "it was opaque, and is not any more")) }
        let isLosable = isAlphaBinary && !image.hasClearPixel
        if !image.isOpaque, keepsAlpha, !isLosable, result.hasFullAlpha {
            found.append(violation("opacity", "its alpha is lost"))
        }
        let isSmall = min(image.width, image.height) < 8 && minimumPSNR.isFinite
        guard keepsAlpha, image.isOpaque || !isAlphaBinary, !isSmall else { return found }
        let isExact = image.format != .rgba16 && image.isOpaque
        let floor = isExact ? minimumPSNR : min(minimumPSNR, Self.roundingPSNR)
        let ratio = image.signalToNoise(of: result)
        if result.size == image.size, ratio < floor {
            found.append(violation("round trip", "it comes back with \(ratio) dB, less than \(floor)"))
        }
        return found
    }

    private func checkAgreement(
        _ encoder: any ImageEncoding, _ container: ImageContainer, _ outcome: Outcome
    ) -> [String] {
        var found: [String] = []
        if encoder.encode(container, context: Self.context(container)) != outcome.data {
            found.append("encode(_:context:) gives something else than encodedData")
        }
        if encoder.encode(container.image) != outcome.data {
            found.append("encode(_:) gives something else than encodedData")
        }
        return found
    }

    /// Several at a time do not disturb each other.
    func checkConcurrency(_ encoder: any ImageEncoding) async -> [ConformanceViolation] {
        let threads = CodecThreads(name: "conformance", count: 4)
        let containers = [TestPicture.make(97, 61), TestPicture.make(61, 97)].compactMap {
            $0.map { ImageContainer(image: $0) }
        }
        let expected = containers.map { encode(encoder, $0).data }
        let isSame = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                let (container, expected) = (containers[number % 2], expected[number % 2])
                group.addTask { await threads.run { self.encode(encoder, container).data == expected } }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        return isSame ? [] : [violation("concurrency", "several at a time give other bytes")]
    }

    /// Qualities within their range give files that decode; others files too, or a typed error.
    func checkQualities() -> [ConformanceViolation] {
        guard let image = TestPicture.make(31, 22) else { return [] }
        return [0, 0.01, 0.5, 1, -1, 2, .infinity, .nan].compactMap { quality in
            var options = options
            options.quality = quality
            guard let encoder = format.makeEncoder?(options) else { return nil }
            let outcome = encode(encoder, ImageContainer(image: image))
            guard let data = outcome.data else {
                let isFine = outcome.isTyped && !(0...1).contains(quality)
                return isFine ? nil : violation("quality", "\(quality) \(outcome)")
            }
            let size = (try? decode(data))??.image.size
            return size == image.size ? nil : violation("quality", "the file of quality \(quality) does not decode")
        }
    }

    /// One pixel more than a side may have fails in words; as many as it may have do not.
    func checkLargestSide(_ encoder: any ImageEncoding) -> [ConformanceViolation] {
        guard let largestSide else { return [] }
        var found: [ConformanceViolation] = []
        for (width, height) in [(largestSide + 1, 1), (1, largestSide + 1)] {
            guard let image = TestPicture.make(width, height) else { continue }
            let outcome = encode(encoder, ImageContainer(image: image))
            if outcome.data != nil || !outcome.isTyped {
                found.append(violation("too large", "\(width)x\(height) \(outcome)"))
            }
        }
        if let image = TestPicture.make(largestSide, 1) {
            let outcome = encode(encoder, ImageContainer(image: image))
            if outcome.data == nil { found.append(violation("too large", "\(largestSide)x1 \(outcome)")) }
        }
        return found
    }

    /// The colour space's profile is in the file; sRGB needs none.
    func checkProfile(_ encoder: any ImageEncoding) -> [ConformanceViolation] {
        guard let space = TestProfile.colorSpace else { return [] }
        let spaces: [(name: String, space: ColorSpace)] = [("a profile", space), ("sRGB", .sRGB)]
        return spaces.compactMap { name, space in
            guard let image = TestPicture.make(20, 10, colorSpace: space) else { return nil }
            let outcome = encode(encoder, ImageContainer(image: image))
            guard let data = outcome.data else { return violation("profile", "a picture with \(name) \(outcome)") }
            let result = (try? decode(data, options: .preserveColorSpace))??.image
            return result?.colorSpace == space ? nil : violation("profile", "\(name) does not come back")
        }
    }

    /// EXIF data is in the file if the container has it, and else not.
    func checkMetadata(_ encoder: any ImageEncoding) -> [ConformanceViolation] {
        [TestProfile.metadata, nil].compactMap { metadata in
            guard let image = TestPicture.make(20, 10) else { return nil }
            var container = ImageContainer(image: image)
            container.metadata = metadata
            let outcome = encode(encoder, container)
            guard let data = outcome.data else { return violation("metadata", "a picture with EXIF data \(outcome)") }
            let result = (try? decode(data, options: .preserveMetadata))??.metadata
            if result == metadata { return nil }
            return violation("metadata", metadata == nil ? "comes from nowhere" : "the EXIF data does not come back")
        }
    }
}
