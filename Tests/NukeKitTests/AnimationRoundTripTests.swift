import FoundationEssentials
import NukeKit
import NukeTestSupport
import Testing

@Suite("Animations from format to format", .timeLimit(.minutes(5)))
struct AnimationRoundTripTests {
    /// Pixels of all frames up to which files are sent around.
    ///
    /// All files where the code is optimised, as the sanitizer's step builds it; without optimisation those that are large take
    /// a minute and show nothing more.
    #if DEBUG
        private static let pixelLimit = 1_000_000
    #else
        private static let pixelLimit = Int.max
    #endif
    /// Animations whose frames can't all be made, and hence not encoded: their data is damaged or cut within a frame.
    private static let damaged: Set<String> = []

    private func container(_ data: Data) throws -> ImageContainer {
        let context = ImageDecodingContext(request: ImageRequest(url: nil), data: data)
        return try #require(ImageDecoderRegistry.shared.decoder(for: context)).decode(data)
    }

    private func encoded(_ container: ImageContainer, as format: ImageFormat) throws -> Data {
        let context = ImageEncodingContext(request: ImageRequest(url: nil), image: container.image)
        return try #require(format.makeEncoder?(ImageEncodingOptions(quality: 0.5)))
            .encodedData(for: container, context: context)
    }

    /// Sends an animation through formats; what it is not any more, in words.
    private func faults(_ start: ImageContainer, through formats: [ImageFormat]) throws -> [String] {
        guard let first = start.animation else { return ["no animation"] }
        var (container, faults, step) = (start, [String](), 0.001)
        for format in formats {
            container = try self.container(encoded(container, as: format))
            guard container.type == format.type, let animation = container.animation else {
                return ["no animation in \(format.name)"]
            }
            if animation.frameCount != first.frameCount { faults.append("\(animation.frameCount) in \(format.name)") }
            // WebP counts to 65,535 plays, GIF one more.
            if animation.playCount != first.playCount.map({ min($0, 65_535) }) {
                faults.append("\(String(describing: animation.playCount)) plays in \(format.name)")
            }
            // WebP has milliseconds, GIF hundredths of a second, at least 2; the error goes to the next frame.
            if format.type == .gif { step = 0.010 }
            for (index, (duration, expected)) in zip(animation.durations, first.durations).enumerated()
            where abs(duration - min(max(expected, step * 2), 655.35)) > step + 1e-9 {
                faults.append("\(duration) s in \(format.name) for frame \(index) of \(expected) s")
            }
            let isRegular = first.durations.allSatisfy { (0.02...600).contains($0) }
            if isRegular, abs(animation.duration - first.duration) > step / 2 + 0.001 {
                faults.append("\(animation.duration) s in all in \(format.name), of \(first.duration) s")
            }
        }
        return faults
    }

    @Test(
        "GIF to WebP to APNG to GIF keeps frames, played durations and play count of all files of the corpus [row 149]",
        .enabled(if: Fixture.corpus != nil))
    func corpus() async throws {
        NukeKit.install()
        let folder = try #require(Fixture.corpus)
        let entries = try Fixture.manifest(of: folder).filter { entry in
            ["gif/", "apng/", "webp/"].contains { entry.path.hasPrefix($0) }
        }
        var (count, refused) = (0, Set<String>())
        for entry in entries {
            guard let container = try? container(try File.read(folder + "/" + entry.path)) else {
                #expect(entry.expected.error != .decodes, "\(entry.path)")
                continue
            }
            guard let animation = container.animation, animation.frameCount > 1 else { continue }
            count += 1
            let pixelCount = container.image.width * container.image.height * animation.frameCount
            guard pixelCount <= Self.pixelLimit else { continue }
            do {
                #expect(try faults(container, through: [.webp, .png, .gif]) == [], "\(entry.path)")
            } catch {
                refused.insert("\(entry.path): \(error)")
            }
        }
        #expect(count >= 40, "the corpus is empty, or not there")
        #expect(refused == Self.damaged)
    }

    @Test("durations, plays and frames survive any way from one format to another")
    func ways() throws {
        NukeKit.install()
        let frames = try AnimationFrames.random(seed: 5, alphas: [0, 255])
        for plays in [nil, 1, 2, 9] as [Int?] {
            let durations = frames.indices.map { [0, 0.02, 0.05, 1.0 / 30, 0.7, 12][$0 % 6] }
            let start = AnimationFrames.container(frames, durations: durations, playCount: plays)
            for way: [ImageFormat] in [
                [.gif, .webp, .png, .gif], [.webp, .gif, .png, .webp], [.png, .webp, .gif, .png],
            ] {
                #expect(try faults(start, through: way) == [], "\(way.map(\.name)), \(String(describing: plays))")
            }
        }
    }

    @Test("the same animation gives the same bytes on every run, in each format")
    func deterministic() async throws {
        NukeKit.install()
        let frames = try AnimationFrames.random(seed: 6, width: 90, height: 70, alphas: [0, 90, 200, 255])
        for format in [ImageFormat.gif, .png, .webp] {
            #expect(format.capabilities.contains(.animationEncoding))
            let files = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await CodecThreads.shared.run {
                            try encoded(AnimationFrames.container(frames), as: format)
                        }
                    }
                }
                return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
            }
            #expect(files.count == 1, "\(format.name)")
        }
    }

    @Test("formats without animations get the poster")
    func poster() throws {
        NukeKit.install()
        let frames = try AnimationFrames.random(seed: 7, alphas: [255])
        let container = AnimationFrames.container(frames)
        #expect(!ImageFormat.jpeg.capabilities.contains(.animationEncoding))
        #expect(try encoded(container, as: .jpeg) == encoded(ImageContainer(image: frames[0]), as: .jpeg))
    }
}
