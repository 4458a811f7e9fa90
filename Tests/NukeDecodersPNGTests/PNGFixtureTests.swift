import FoundationEssentials
import NukeDecodersPNG
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite("PNG files", .needsLibrary)
struct PNGFixtureTests {
    @Test("every PNG fixture in the repository is decoded, or refused, as its manifest says", .timeLimit(.minutes(5)))
    func fixtures() throws {
        let entries = try Fixture.manifest().filter { $0.kind == "png" }
        #expect(entries.count >= 40)
        for entry in entries { try check(entry, in: Fixture.folder) }
    }

    @Test(
        "every PNG of the corpus is decoded, or refused, as its manifest says", .enabled(if: Fixture.corpus != nil),
        .timeLimit(.minutes(5)))
    func corpus() throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            entry.path.hasPrefix("png/") || entry.path.hasPrefix("broken/") && ["png", "apng"].contains(entry.kind)
        }
        #expect(entries.count >= 200, "the corpus is empty, or not there")
        let manifest = try Data(contentsOf: URL(filePath: folder + "/MANIFEST.json"))
        let stills = try JSONDecoder().decode([StillMean].self, from: manifest)
        let means = Dictionary(uniqueKeysWithValues: stills.map { ($0.path, $0.expected.mean) })
        for entry in entries { try check(entry, in: folder, stillMean: means[entry.path] ?? nil) }
    }

    /// The mean of the picture in IDAT, where that is no frame of the animation: it is what is decoded.
    private struct StillMean: Decodable {
        struct Expected: Decodable {
            let mean: [Double]?
            enum CodingKeys: String, CodingKey { case mean = "default_image_mean" }
        }
        let path: String
        let expected: Expected
    }

    private func check(_ entry: FixtureEntry, in folder: String, stillMean: [Double]? = nil) throws {
        // Not Data(contentsOf:), which leaks a buffer where a file is empty.
        let data = try FileReader.contents(of: folder + "/" + entry.path)
        let image: Bitmap
        let properties: ImageProperties?
        do throws(ImageDecodingError) {
            image = try Decoding.image(data)
            properties = try Decoding.properties(data)
        } catch {
            #expect(entry.expected.error != .decodes, "\(entry.path): \(error)")
            #expect(!error.reason.isEmpty && error.codec == "PNG", "\(entry.path)")
            return
        }
        #expect(entry.expected.error != .fails, "\(entry.path) was decoded")
        #expect((properties?.width, properties?.height) == (image.width, image.height), "\(entry.path)")
        #expect(properties?.hasAlpha == !image.isOpaque, "\(entry.path)")
        // Where readers differ, size and means are only informative.
        if case .decodes = entry.expected.error { check(image, properties, stillMean, against: entry) }
    }

    private func check(
        _ image: Bitmap, _ properties: ImageProperties?, _ stillMean: [Double]?, against entry: FixtureEntry
    ) {
        let expected = entry.expected
        #expect((image.width, image.height) == (expected.width, expected.height), "\(entry.path)")
        #expect(properties?.orientation.rawValue == expected.orientation ?? 1, "\(entry.path)")
        guard let mean = stillMean ?? expected.mean else { return }
        let seen = PixelStatistics(image)
        let tolerance = expected.meanTolerance ?? 1
        let means = [mean] + (expected.meanAlternatives ?? []) + [expected.meanGammaApplied].compactMap { $0 }
        #expect(
            means.contains { isNear(seen.mean, $0, tolerance) }, "\(entry.path): mean \(seen.mean), not \(mean)")
        guard let quadrants = expected.quadrantMeans, stillMean == nil, isNear(seen.mean, mean, tolerance) else {
            return
        }
        for (quadrant, wanted) in zip(seen.quadrantMeans, quadrants) {
            #expect(
                isNear(quadrant, wanted, 2 * tolerance + 0.5), "\(entry.path): quadrant \(quadrant), not \(wanted)")
        }
    }

    private func isNear(_ a: [Double], _ b: [Double], _ tolerance: Double) -> Bool {
        a.count >= b.count && zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }
}
