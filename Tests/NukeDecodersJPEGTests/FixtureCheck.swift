import FoundationEssentials
import NukeCore
import NukeDecodersJPEG
import NukeTestSupport

/// Decodes data as one load does, and tells what differs from what a manifest says.
enum JPEGUnderTest {
    static func context(
        _ data: Data, limits: ImageLimits = ImageLimits(), thumbnail: ImageRequest.ThumbnailOptions? = nil
    ) -> ImageDecodingContext {
        var request = ImageRequest(url: nil)
        request.thumbnail = thumbnail
        var context = ImageDecodingContext(request: request, data: data)
        context.limits = limits
        return context
    }

    static func decode(
        _ data: Data, limits: ImageLimits = ImageLimits(), thumbnail: ImageRequest.ThumbnailOptions? = nil,
        truncationPolicy: TruncationPolicy = .strict
    ) throws(ImageDecodingError) -> ImageContainer {
        var context = context(data, limits: limits, thumbnail: thumbnail)
        context.truncationPolicy = truncationPolicy
        return try ImageDecoders.JPEG(context: context).decode(data)
    }

    static func properties(
        _ data: Data, limits: ImageLimits = ImageLimits()
    ) throws(ImageDecodingError) -> ImageProperties? {
        try ImageDecoders.JPEG(context: context(data, limits: limits)).properties(of: data)
    }

    /// What the decoder makes of a file other than the manifest expects; empty if all is well.
    static func faults(_ entry: FixtureEntry, in folder: String) throws -> [String] {
        let data = try File.read(folder + "/" + entry.path)
        let expected = entry.expected
        let container: ImageContainer
        do throws(ImageDecodingError) {
            container = try decode(data)
        } catch {
            return expected.error == .decodes ? ["rejected: \(error)"] : []
        }
        switch expected.error {
        case .fails: return ["accepted what every reader rejects"]
        case .either: return []
        case .decodes: return differences(container, data, expected)
        }
    }

    private static func differences(
        _ container: ImageContainer, _ data: Data, _ expected: FixtureEntry.Expected
    ) -> [String] {
        let image = container.image
        var faults: [String] = []
        if let width = expected.width, let height = expected.height, (image.width, image.height) != (width, height) {
            faults.append("\(image.width)x\(image.height), expected \(width)x\(height)")
        }
        if let orientation = expected.orientation, (try? properties(data))??.orientation.rawValue != orientation {
            faults.append("orientation is not \(orientation)")
        }
        let statistics = PixelStatistics(image)
        let tolerance = expected.meanTolerance ?? 1
        let means = [expected.mean, expected.meanGammaApplied].compactMap { $0 } + (expected.meanAlternatives ?? [])
        guard !means.isEmpty else { return faults }
        if !means.contains(where: { isNear(statistics.mean, $0, tolerance) }) {
            faults.append("mean \(statistics.mean), expected \(means) ± \(tolerance)")
        } else if let quadrants = expected.quadrantMeans,
            !zip(statistics.quadrantMeans, quadrants).allSatisfy({ isNear($0, $1, 2 * tolerance + 0.5) })
        {
            faults.append("quadrants \(statistics.quadrantMeans), expected \(quadrants)")
        }
        return faults
    }

    private static func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double) -> Bool {
        a.count >= b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
