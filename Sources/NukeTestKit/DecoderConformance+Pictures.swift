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
        if let wrong = wrongPixel(in: image) { found.append(wrong) }
        return found.map { violation("picture", item.sample, $0) }
    }

    private func wrongPixel(in image: Bitmap) -> String? {
        for y in 0..<image.height {
            for x in 0..<image.width {
                let pixel = image.samples(x, y)
                if image.isOpaque, pixel.w < 255 { return "said to be opaque, but alpha is \(pixel.w) at \(x), \(y)" }
                if max(pixel.x, pixel.y, pixel.z) > pixel.w { return "not premultiplied at \(x), \(y): \(pixel)" }
            }
        }
        return nil
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
        let again = decode(item.sample.data)
        if let image = again.image, image.hasSamePixels(as: item.image) { return [] }
        let what = again.image == nil ? again.description : "gives other pixels"
        return [violation("repetition", item.sample, "decoded twice, it \(what)")]
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
