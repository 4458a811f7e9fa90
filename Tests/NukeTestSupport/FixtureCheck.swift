import FoundationEssentials
public import NukeCore

extension FixtureEntry {
    /// Files whose profile is one of tables, which the core leaves alone.
    private var hasTableProfile: Bool {
        [
            "jpeg/dart-icc_profile_Upper_Left.jpg", "jpeg/sd-TestICCProfile.jpg", "jpeg/zune-weird_sampling_2.jpeg",
        ].contains(path)
    }

    /// What a decoder makes of the file other than the manifest expects; empty if all is well.
    ///
    /// - Parameters:
    ///   - folder: Where the manifest is.
    ///   - makeDecoder: Makes the decoder of one load.
    public func faults(
        in folder: String, makeDecoder: (ImageDecodingContext) -> any ImageDecoding
    ) async throws -> [String] {
        let data = try File.read(folder + "/" + path)
        let decoder = makeDecoder(ImageDecodingContext(request: ImageRequest(url: nil), data: data))
        let properties: ImageProperties?
        let container: ImageContainer
        do {
            properties = try decoder.properties(of: data)
            container = try decoder.decode(data)
        } catch is ImageDecodingError {
            return expected.error == .decodes ? ["rejected"] : []
        }
        switch expected.error {
        case .fails: return ["accepted what every reader rejects"]
        case .either: return []
        case .decodes: break
        }
        guard let properties else { return ["has no properties"] }
        var faults = expected.differences(of: container.image) + expected.differences(of: properties)
        if let mean = expected.meanSRGB, !hasTableProfile {
            var converted = container
            converted.convertToSRGB(for: ImageRequest(url: nil))
            let seen = PixelStatistics(converted.image).mean
            if !isNear(seen, mean, expected.meanTolerance ?? 1) { faults.append("in sRGB \(seen), expected \(mean)") }
        }
        if (expected.frames ?? 1) > 1 { faults += try await expected.differences(of: container.animation) }
        return faults
    }
}

extension FixtureEntry.Expected {
    /// What differs in the picture.
    func differences(of image: Bitmap) -> [String] {
        var faults: [String] = []
        if let width, let height, (image.width, image.height) != (width, height) {
            faults.append("\(image.width)x\(image.height), expected \(width)x\(height)")
        }
        let statistics = PixelStatistics(image)
        // Of an animation with a picture in its place that is no frame of it, that picture is the poster.
        if let still = defaultImageMean {
            return isNear(statistics.mean, still, tolerance)
                ? faults : faults + ["mean \(statistics.mean), expected \(still)"]
        }
        guard let mean else { return faults }
        let means = [mean] + (meanAlternatives ?? []) + [meanGammaApplied].compactMap { $0 }
        if !means.contains(where: { isNear(statistics.mean, $0, tolerance) }) {
            faults.append("mean \(statistics.mean), expected \(means) ± \(tolerance)")
        } else if let quadrantMeans, isNear(statistics.mean, mean, tolerance),
            !zip(statistics.quadrantMeans, quadrantMeans).allSatisfy({ isNear($0, $1, 2 * tolerance + 0.5) })
        {
            faults.append("quadrants \(statistics.quadrantMeans), expected \(quadrantMeans)")
        }
        return faults
    }

    /// What differs in what the header tells.
    func differences(of properties: ImageProperties) -> [String] {
        var faults: [String] = []
        if let width, let height, (properties.width, properties.height) != (width, height) {
            faults.append("the header says \(properties.width)x\(properties.height)")
        }
        if properties.orientation.rawValue != orientation ?? 1 {
            faults.append("orientation \(properties.orientation)")
        }
        guard let frames, frames > 1 else { return faults }
        if properties.frameCount != frames { faults.append("\(properties.frameCount) frames, expected \(frames)") }
        if let loopCount, properties.loopCount != loopCount {
            faults.append("loop count \(String(describing: properties.loopCount)), expected \(loopCount)")
        }
        if let wanted = frameDurationsMs {
            let durations = properties.frameDurations.prefix(wanted.count).map { $0 * 1000 }
            if !isNear(durations, wanted, 1) { faults.append("durations \(durations), expected \(wanted)") }
        }
        return faults
    }

    /// What differs in the frames.
    func differences(of animation: ImageAnimation?) async throws -> [String] {
        guard let animation else { return ["has no animation"] }
        guard animation.frameCount == frames else { return ["an animation of \(animation.frameCount) frames"] }
        guard let frameMeans else { return [] }
        var means: [[Double]] = []
        for index in 0..<min(frameMeans.count, animation.frameCount) {
            let frame = try await animation.frame(at: index)
            if let width, let height, (frame.width, frame.height) != (width, height) {
                return ["frame \(index) has \(frame.width)x\(frame.height) pixels"]
            }
            means.append(PixelStatistics(frame).mean)
        }
        let lists = [frameMeans] + (frameMeansAlternatives.map { Array($0.values) } ?? [])
        let isFound = lists.contains { list in
            means.count >= list.count && zip(means, list).allSatisfy { isNear($0, $1, 2 * tolerance) }
        }
        if isFound { return [] }
        let first = frameMeans.indices.first {
            $0 >= means.count || !isNear(means[$0], frameMeans[$0], 2 * tolerance)
        }
        return ["frame \(first ?? 0) differs: \(means)"]
    }

    private var tolerance: Double { meanTolerance ?? 1 }

}

/// Whether as many numbers as there are on the right are on the left, and no further off.
private func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double) -> Bool {
    a.count >= b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
}
