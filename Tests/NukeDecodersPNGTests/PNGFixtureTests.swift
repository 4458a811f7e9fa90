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
        "every PNG and APNG of the corpus is decoded, or refused, as its manifest says",
        .enabled(if: Fixture.corpus != nil), .timeLimit(.minutes(5)))
    func corpus() async throws {
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            entry.path.hasPrefix("png/") || entry.path.hasPrefix("apng/")
                || entry.path.hasPrefix("broken/") && ["png", "apng"].contains(entry.kind)
        }
        #expect(entries.count >= 200, "the corpus is empty, or not there")
        for entry in entries {
            let faults = try await entry.faults(in: folder) { ImageDecoders.PNG(context: $0) }
            if let fault = Self.exceptions[entry.path] {
                #expect(faults.first?.hasPrefix(fault) == true, "\(entry.path): \(faults)")
            } else {
                #expect(faults == [], "\(entry.path)")
            }
        }
    }

    /// Files that are not as the manifest has it, and how their faults begin.
    private static let exceptions = [
        // Declares 2,147,483,649 frames, more than the format allows, and has one: it counts as a still picture.
        "broken/apng-syntax_num_frames_invalid.png": "1 frames, expected 2147483649",
        // 16-bit samples of 0xFF80 and 0x0080 lie between two values of 8 bits: libpng rounds them to 255 and 0, as Pillow
        // does, which is half a value off in colour and in alpha, while the manifest allows 0.6 for both together.
        "apng/imagers-rgba16.png": "mean [255.0, 0.0, 0.0, 255.0]",
    ]

    private func check(_ entry: FixtureEntry, in folder: String) throws {
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
        if case .decodes = entry.expected.error { check(image, properties, against: entry) }
    }

    private func check(
        _ image: Bitmap, _ properties: ImageProperties?, against entry: FixtureEntry
    ) {
        let expected = entry.expected
        #expect((image.width, image.height) == (expected.width, expected.height), "\(entry.path)")
        #expect(properties?.orientation.rawValue == expected.orientation ?? 1, "\(entry.path)")
        guard let mean = expected.mean else { return }
        let seen = PixelStatistics(image)
        let tolerance = expected.meanTolerance ?? 1
        let means = [mean] + (expected.meanAlternatives ?? []) + [expected.meanGammaApplied].compactMap { $0 }
        #expect(
            means.contains { isNear(seen.mean, $0, tolerance) }, "\(entry.path): mean \(seen.mean), not \(mean)")
        guard let quadrants = expected.quadrantMeans, isNear(seen.mean, mean, tolerance) else {
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
