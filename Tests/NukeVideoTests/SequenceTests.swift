import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeVideo

@Suite("Sequences of AVIF and HEIC", .needsLibrary, .timeLimit(.minutes(5)))
struct SequenceTests {
    private func context(_ data: Data) -> ImageDecodingContext {
        ImageDecodingContext(request: ImageRequest(url: nil), data: data)
    }

    private func container(_ data: Data) throws -> ImageContainer {
        try #require(ImageDecoders.HEIFSequence(context: context(data))).decode(data)
    }

    private static let registry: ImageDecoderRegistry = {
        let registry = ImageDecoderRegistry()
        registry.register(.avifSequence, .heicSequence)
        return registry
    }()

    private static let sizes = ["avif/gen-sequence.avif": 5, "avif/gen-sequence-alpha.avif": 4]

    /// Compares frames with what a manifest tells, each of them.
    private func check(_ path: String, in folder: String) async throws {
        let entry = try #require(try Fixture.manifest(of: folder).first { $0.path == path })
        let data = try File.read(folder + "/" + path)
        let expected = entry.expected
        #expect(Self.registry.format(of: data)?.name == "AVIF sequence")
        let decoder = try #require(Self.registry.decoder(for: context(data)))
        let properties = try #require(try decoder.properties(of: data))
        #expect((properties.width, properties.height) == (expected.width, expected.height))
        #expect(properties.frameCount == expected.frames && properties.type == .avif)
        let wanted = try #require(expected.frameDurationsMs)
        for (seen, wanted) in zip(properties.frameDurations, wanted) { #expect(abs(seen * 1000 - wanted) <= 1) }
        let container = try decoder.decode(data)
        let animation = try #require(container.animation)
        #expect(animation.frameCount == expected.frames && container.type == .avif)
        let means = try #require(expected.frameMeans)
        #expect(means.count == animation.frameCount)
        // In order, and in another.
        for index in Array(means.indices) + means.indices.reversed() + [0, 2, 1, 3, 0] {
            let frame = try await animation.frame(at: index)
            #expect((frame.width, frame.height) == (expected.width, expected.height))
            let seen = PixelStatistics(frame).mean
            #expect(VideoUnderTest.isNear(seen, means[index], 6), "\(path), frame \(index): \(seen), \(means[index])")
        }
        let poster = PixelStatistics(container.image).mean
        #expect(VideoUnderTest.isNear(poster, means[0], 6), "\(path): \(poster)")
    }

    @Test(
        "A sequence plays with its pictures and its times", arguments: ["gen-sequence.avif", "gen-sequence-alpha.avif"])
    func sequences(_ name: String) async throws { try await check("avif/" + name, in: Fixture.folder) }

    @Test("Sequences of other programs play too", .needsCorpus)
    func foreignSequences() async throws {
        let folder = try #require(Fixture.corpus)
        try await check("avif/libavif-colors-animated-8bpc.avif", in: folder)
        try await check("avif/libavif-colors-animated-12bpc-keyframes-0-2-3.avif", in: folder)
    }

    @Test("A sequence of HEIC has six pictures of 80 ms, of the size that its track tells")
    func heic() async throws {
        let data = try Fixture.data("heif/gen-sequence.heics")
        #expect(Self.registry.format(of: data)?.name == "HEIC sequence")
        let container = try container(data)
        let animation = try #require(container.animation)
        #expect(animation.durations == [Double](repeating: 0.08, count: 6) && animation.playCount == nil)
        #expect(container.image.size == ImageSize(width: 64, height: 48) && container.type == .heic)
        #expect(VideoUnderTest.isNear(VideoUnderTest.mean(container.image), [69.8, 94.7, 96.5], 3))
        var means: [[Double]] = []
        for index in 0..<6 { means.append(VideoUnderTest.mean(try await animation.frame(at: index))) }
        // Each is another picture.
        for (a, b) in zip(means, means.dropFirst()) { #expect(!VideoUnderTest.isNear(a, b, 2)) }
        for index in [3, 1, 5, 0] {
            let seen = VideoUnderTest.mean(try await animation.frame(at: index))
            #expect(VideoUnderTest.isNear(seen, means[index], 0.01))
        }
    }

    @Test("[row 181] files of still pictures, of videos, and of brands alone are declined")
    func declined() throws {
        let registry = Self.registry
        for brand in ["avif", "heic", "mif1", "isom", "msf1"] {
            let data = Data([0, 0, 0, 24] + "ftyp".utf8 + brand.utf8 + [0, 0, 0, 0] + "mif1heic".utf8)
            #expect(registry.format(of: data) == nil && ImageDecoders.HEIFSequence(context: context(data)) == nil)
        }
        for brand in ["avis", "hevc", "hevx"] {
            let data = Data([0, 0, 0, 24] + "ftyp".utf8 + brand.utf8 + [0, 0, 0, 0] + "mif1msf1".utf8)
            #expect(registry.format(of: data) != nil && ImageDecoders.HEIFSequence(context: context(data)) == nil)
        }
        // The still picture is another decoder's where libav is missing.
        let data = try Fixture.data("avif/gen-sequence.avif")
        let library = VideoLibrary(folder: try TemporaryFolder().path)
        #expect(ImageDecoders.HEIFSequence(context: context(data), library: library) == nil)
    }

    @Test("Thumbnails are scaled as they are converted; frames stay whole")
    func thumbnail() async throws {
        let data = try Fixture.data("avif/gen-sequence-alpha.avif")
        var context = context(data)
        context.request.thumbnail = .init(maxPixelSize: 32)
        let container = try #require(ImageDecoders.HEIFSequence(context: context)).decode(data)
        #expect(container.image.size == ImageSize(width: 32, height: 24) && !container.image.isOpaque)
        #expect(container.originalSize == ImageSize(width: 64, height: 48))
        #expect(try await container.animation?.frame(at: 3).size == ImageSize(width: 64, height: 48))
    }

    @Test("Limits of frames and pixels hold, and a decode that is not wanted ends")
    func limits() throws {
        let data = try Fixture.data("avif/gen-sequence.avif")
        func error(_ change: (inout ImageDecodingContext) -> Void) throws -> ImageDecodingError? {
            var context = context(data)
            change(&context)
            context.isCompleted = false
            let decoder = try #require(ImageDecoders.HEIFSequence(context: context))
            return #expect(throws: ImageDecodingError.self) { try decoder.decode(data) }
        }
        #expect(try error { $0.limits.frameCount = 4 }?.code == .limitExceeded)
        #expect(try error { $0.limits.pixelCount = 64 * 48 - 1 }?.code == .limitExceeded)
        #expect(try error { $0.cancellation.cancel() }?.code == .cancelled)
    }

    @Test(
        "500 damaged copies give typed errors or pictures", arguments: sizes.keys.sorted() + ["heif/gen-sequence.heics"]
    )
    func mutations(_ path: String) async throws {
        let sample = [UInt8](try Fixture.data(path))
        var numbers = SeededNumbers(seed: 31)
        for round in 0..<500 {
            var bytes = sample
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let reach = min(bytes.count, [1600, .max][Int.random(in: 0..<2, using: &numbers)])
                let place = Int.random(in: 24..<reach, using: &numbers)
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
                case 1: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF][Int.random(in: 0..<5, using: &numbers)]
                default: bytes[place] = .random(in: 0...255, using: &numbers)
                }
            }
            let data = Data(bytes.prefix(round % 5 == 0 ? bytes.count * (round % 97) / 97 : bytes.count))
            var context = context(data)
            context.limits.pixelCount = 1 << 20
            context.limits.seconds = 5
            do {
                guard let decoder = ImageDecoders.HEIFSequence(context: context) else { continue }
                let animation = try decoder.decode(data).animation
                for index in 0..<min(animation?.frameCount ?? 0, 6) { _ = try await animation?.frame(at: index) }
            } catch {
                #expect(error is ImageDecodingError, "copy \(round): \(error)")
            }
        }
    }
}
