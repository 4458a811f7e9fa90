import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
@ImagePipelineActor
struct PreviewPolicyTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example"))

    private func makeTest(
        policy: @escaping @Sendable (ImageDecodingContext) -> ImagePipeline.PreviewPolicy
    ) -> (TestPipeline, RecordingDelegate) {
        let decoder = MockImageDecoder()
        decoder.enablePreviews()
        let delegate = RecordingDelegate(policy: policy)
        let test = TestPipeline(decoder: decoder, delegate: delegate) { configuration in
            configuration.isProgressiveDecodingEnabled = true
            configuration.progressiveDecodingInterval = 0
        }
        return (test, delegate)
    }

    @Test(
        "by default GIF and JPEG known to be progressive have previews, others none [PRG-21]",
        arguments: [
            ("jpeg/gen-progressive.jpg", 4096, true), ("jpeg/gen-progressive.jpg", 20, false),
            ("jpeg/gen-arith-prog.jpg", 4096, true), ("jpeg/gen-420.jpg", 4096, false),
            ("jpeg/gen-sequential-3scans.jpg", 4096, false), ("png/gen-rgba8-interlaced.png", 4096, false),
            ("broken/magic-only.jpg", 4096, false), ("broken/magic-random.jpg", 4096, false),
        ])
    func defaults(path: String, count: Int, isIncremental: Bool) throws {
        let data = try Fixture.data(path).prefix(count)
        #expect(ImagePipeline.PreviewPolicy.default(for: data) == (isIncremental ? .incremental : .disabled))
        // Slices count from where they begin.
        let slice = (Data([0, 0, 0]) + data).dropFirst(3)
        #expect(ImagePipeline.PreviewPolicy.default(for: slice) == (isIncremental ? .incremental : .disabled))
    }

    @Test("the default looks beyond a long header, and never beyond the data [PRG-21]")
    func longHeader() {
        var data = Data([0xFF, 0xD8])
        for _ in 0..<4 { data += Data([0xFF, 0xE1, 0xFF, 0xFF]) + Data(count: 0xFFFD) }
        data += Data([0xFF, 0xFF, 0xC2, 0, 17])
        #expect(ImagePipeline.PreviewPolicy.default(for: data) == .incremental)
        for end in [0, 1, 2, 3, 4, 5, 0xFFFF, data.count - 4, data.count - 3] {
            #expect(ImagePipeline.PreviewPolicy.default(for: data.prefix(end)) == .disabled)
        }
        #expect(ImagePipeline.PreviewPolicy.default(for: Data("GIF89a".utf8)) == .incremental)
        // A segment whose length leaves it no room for itself.
        #expect(
            ImagePipeline.PreviewPolicy.default(for: Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0xFF, 0xC2])) == .disabled)
    }

    @Test("a registered format's own answer is the default [PRG-21]")
    func formats() async throws {
        func format(
            _ capabilities: ImageFormat.Capabilities,
            _ policy: (@Sendable (Data) -> ImagePipeline.PreviewPolicy)? = nil
        ) -> ImageFormat {
            ImageFormat(
                name: "Pix", type: "org.example.pix", mimeTypes: [], fileExtensions: [], capabilities: capabilities,
                sniff: { $0.starts(with: "PIX1") ? .yes : .no }, previewPolicy: policy)
        }
        let registry = ImageDecoderRegistry()
        let pipeline = ImagePipeline { $0.decoderRegistry = registry }
        func policy() -> ImagePipeline.PreviewPolicy {
            let context = ImageDecodingContext(request: request, data: Data("PIX1 and more".utf8), isCompleted: false)
            return DefaultPipelineDelegate().previewPolicy(for: context, pipeline: pipeline)
        }
        #expect(policy() == .disabled)
        registry.register(format([.decode]))
        #expect(policy() == .disabled)
        registry.register(format([.decode, .progressive]))
        #expect(policy() == .incremental)
        registry.register(format([.decode, .progressive]) { $0.count > 4 ? .thumbnail : .disabled })
        #expect(policy() == .thumbnail)
    }

    @Test("the policies: all that can be shown, one thumbnail, or nothing [PRG-22] [PRG-37]")
    func policies() async throws {
        for (policy, counts) in [
            (ImagePipeline.PreviewPolicy.incremental, [1000, 1500, 2000]), (.thumbnail, [1000]), (.disabled, []),
        ] {
            let (test, _) = makeTest { _ in policy }
            let download = await PartialDownload(test, request)
            for (index, end) in [1000, 1500, 2000].enumerated() {
                await download.send(upTo: end)
                if index < counts.count { await waitUntil { download.previews.count == index + 1 } }
            }
            _ = try await download.finish().get()
            #expect(test.decoder.partialCounts == counts && download.previews.count == counts.count)
        }
    }

    @Test("a thumbnail that is not there is asked for as long as data comes [PRG-37]")
    func noThumbnail() async throws {
        let (test, _) = makeTest { _ in .thumbnail }
        test.decoder.decodePartially = { _, _ in nil }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await waitUntil { test.decoder.partialCounts == [1000] }
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty)
    }

    @Test("a context made by hand has the incremental policy [PRG-23]")
    func contextDefault() {
        #expect(ImageDecodingContext(request: request, data: Data()).previewPolicy == .incremental)
    }

    @Test("disabled is asked again as the data doubles, at most 6 times, and gives no preview [PRG-24] [PRG-26]")
    func evaluations() async throws {
        let (test, delegate) = makeTest { _ in .disabled }
        let download = await PartialDownload(test, request, body: PartialDownload.gif(count: 100_000))
        for chunk in 1...16 { await download.send(upTo: chunk * 2500) }
        let asked = delegate.policyCounts
        #expect(asked == [2500, 5000, 10000, 20000, 40000])
        for end in [80_000, 81_000, 99_999] { await download.send(upTo: end) }
        #expect(delegate.policyCounts == asked + [80_000])
        _ = try await download.finish().get()
        #expect(delegate.policyCounts.count == 6 && download.previews.isEmpty && test.decoder.decodeCount == 1)
    }

    @Test("tiny chunks don't use the evaluations up [PRG-24]")
    func tinyChunks() {
        var schedule = PreviewSchedule(interval: 0)
        var asked: [Int] = []
        for count in 1...10_000 where schedule.needsPolicy(byteCount: count) {
            schedule.resolve(.disabled, byteCount: count)
            asked.append(count)
        }
        #expect(asked == [1, 257, 514, 1028, 2056, 4112] && schedule.isOver)
    }

    @Test("an answer other than disabled holds for the rest of the load [PRG-25]")
    func fixedPolicy() async throws {
        let (test, delegate) = makeTest { _ in .incremental }
        let download = await PartialDownload(test, request, body: PartialDownload.gif(count: 100_000))
        for (index, end) in [1000, 5000, 50_000].enumerated() {
            await download.send(upTo: end)
            await waitUntil { download.previews.count == index + 1 }
        }
        _ = try await download.finish().get()
        #expect(delegate.policyCounts == [1000])
    }

    @Test("disabled at first and incremental later: previews start, by a decoder that knows [PRG-27]")
    func lateIncremental() async throws {
        let (test, delegate) = makeTest { $0.data.count < 2000 ? .disabled : .incremental }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await download.send(upTo: 2000)
        await waitUntil { download.previews.count == 1 }
        _ = try await download.finish().get()
        #expect(delegate.policyCounts == [1000, 2000] && test.decoder.partialCounts == [2000])
        #expect(test.decoder.contexts.map(\.previewPolicy) == [.incremental])
    }

    @Test("the disabled policy holds for GIF too [PRG-33]")
    func disabledForGIF() async throws {
        let (test, _) = makeTest { context in
            ImagePipeline.PreviewPolicy.default(for: context.data) == .incremental ? .disabled : .incremental
        }
        let download = await PartialDownload(test, request)
        await download.send(upTo: 1000)
        await download.send(upTo: 2000)
        _ = try await download.finish().get()
        #expect(download.previews.isEmpty && test.decoder.partialCounts.isEmpty)
    }
}
