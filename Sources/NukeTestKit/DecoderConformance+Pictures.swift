internal import NukeCore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DecoderConformance {
    /// The container says what the picture is, and the pixels are what its flags say.
    func checkPicture(_ item: Decoded) -> [ConformanceViolation] {
        let (container, image) = (item.container, item.image)
        var found: [String] = []
        if container.type != format.type {
            found.append("the container's type is \(container.type?.rawValue ?? "nil")")
        }
        if container.isPreview { found.append("the image of complete data is said to be a preview") }
        if let size = container.originalSize, size != image.size {
            found.append("nothing asked for less, yet the original is said to be \(size)")
        }
        if let wrong = image.wrongPixel { found.append(wrong) }
        return found.map { violation("picture", item.sample, $0) }
    }

    /// The header tells the size and the kind of what is decoded.
    func checkProperties(_ item: Decoded) -> [ConformanceViolation] {
        guard let decoder = format.makeDecoder?(context(item.sample.data)) else { return [] }
        let properties: ImageProperties
        do {
            guard let told = try decoder.properties(of: item.sample.data) else { return [] }
            properties = told
        } catch {
            return [violation("header", item.sample, "the picture decodes, but reading its header fails: \(error)")]
        }
        var found: [String] = []
        if properties.size != item.image.size {
            found.append("the header tells \(properties.size), the picture has \(item.image.size)")
        }
        if properties.type != format.type { found.append("the header tells type \(properties.type.rawValue)") }
        if !properties.hasAlpha, !item.image.isOpaque {
            found.append("the header tells of no alpha, but the picture is not opaque")
        }
        if properties.bitDepth < 1 || properties.frameCount < 1 {
            found.append("the header tells \(properties.bitDepth) bits and \(properties.frameCount) frames")
        }
        if ![0, properties.frameCount].contains(properties.frameDurations.count) {
            found.append("\(properties.frameDurations.count) durations for \(properties.frameCount) frames")
        }
        return found.map { violation("header", item.sample, $0) }
    }

    /// Decoding again gives the same pixels.
    func checkRepeatedDecode(_ item: Decoded) -> [ConformanceViolation] {
        guard let change = change(in: decode(item.sample.data), from: item) else { return [] }
        return [violation("repetition", item.sample, "decoded twice, it \(change)")]
    }

    /// Data whose indices do not start at 0 gives the same pixels.
    func checkSlice(_ item: Decoded) -> [ConformanceViolation] {
        let slice = (Data([0, 1, 2]) + item.sample.data).dropFirst(3)
        guard let change = change(in: decode(slice), from: item) else { return [] }
        return [violation("slice", item.sample, "as data that does not start at index 0, it \(change)")]
    }

    /// What is other than when the sample was first decoded; nil if nothing is.
    private func change(in outcome: Outcome, from item: Decoded) -> String? {
        guard let image = outcome.image else { return outcome.description }
        return image.hasSamePixels(as: item.image) ? nil : "gives other pixels"
    }

    /// The scale of the request becomes the image's.
    func checkScale(_ item: Decoded) -> [ConformanceViolation] {
        let scaled = decode(item.sample.data) { $0.request.scale = 3 }
        guard let image = scaled.image else { return [violation("scale", item.sample, scaled.description)] }
        return image.scale == 3 ? [] : [violation("scale", item.sample, "a request of scale 3 gives \(image.scale)")]
    }

    /// Several decodes at a time do not disturb each other.
    func checkConcurrentDecodes(_ item: Decoded) async -> [ConformanceViolation] {
        let threads = CodecThreads(name: "conformance", count: 4)
        let data = item.sample.data
        let isSame = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await threads.run { self.decode(data).image?.hasSamePixels(as: item.image) ?? false }
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        return isSame ? [] : [violation("concurrency", item.sample, "decodes at the same time give other pixels")]
    }
}
