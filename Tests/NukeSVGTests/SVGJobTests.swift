import FoundationEssentials
import NukeCore
import NukeTestSupport
import Testing

@testable import NukeSVG

@Suite("Threads of SVG", .timeLimit(.minutes(5)))
struct SVGJobTests {
    private static func bitmap() throws -> Bitmap {
        guard let buffer = PixelBuffer(width: 1, height: 1) else { throw ImageDecodingError.unknown }
        return buffer.freeze()
    }

    /// A job that has started, and waits for the gate.
    private static func startedJob(
        _ threads: SVGThreads, _ gate: ThreadGate, seconds: Double, _ bitmap: Bitmap
    ) async -> SVGJob {
        let started = AsyncGate()
        let job = SVGJob(seconds: seconds, priority: .normal, threads: threads, interruption: nil) {
            () throws(ImageDecodingError) in
            started.open()
            gate.wait()
            return bitmap
        }
        await started.wait()
        return job
    }

    private static func error(_ body: () async throws -> Bitmap) async -> ImageDecodingError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? ImageDecodingError
        }
    }

    @Test("What takes too long ends typed while its thread stays taken; others wait, or fail by their own time")
    func deadlines() async throws {
        let (threads, gate, bitmap) = (SVGThreads(), ThreadGate(), try Self.bitmap())
        let first = await Self.startedJob(threads, gate, seconds: 0.05, bitmap)
        let second = await Self.startedJob(threads, gate, seconds: 1000, bitmap)
        let error = await Self.error { try await first.image() }
        #expect(error?.code == .limitExceeded && error?.reason == "drawing takes longer than 0.05 s")
        let third = SVGJob(seconds: 0.05, priority: .normal, threads: threads, interruption: nil) {
            () throws(ImageDecodingError) in bitmap
        }
        let waited = await Self.error { try await third.image() }
        #expect(waited?.code == .limitExceeded && waited?.reason.contains("held by other pictures") == true)
        let fourth = SVGJob(seconds: 1000, priority: .normal, threads: threads, interruption: nil) {
            () throws(ImageDecodingError) in bitmap
        }
        gate.open()
        #expect(try await second.image() === bitmap)
        #expect(try await fourth.image() === bitmap)
    }

    @Test("The same on a thread that is blocked meanwhile")
    func blocking() async throws {
        let (threads, gate, bitmap) = (SVGThreads(), ThreadGate(), try Self.bitmap())
        let slow = await Self.startedJob(threads, gate, seconds: 0.05, bitmap)
        let error = await Self.error {
            try await CodecThreads.disk.run { () throws(ImageDecodingError) in
                try slow.image(cancellation: CancellationFlag())
            }
        }
        #expect(error?.code == .limitExceeded)
        let cancelled = await Self.startedJob(threads, gate, seconds: 1000, bitmap)
        let flag = CancellationFlag()
        flag.cancel()
        let second = await Self.error {
            try await CodecThreads.disk.run { () throws(ImageDecodingError) in
                try cancelled.image(cancellation: flag)
            }
        }
        #expect(second?.code == .cancelled)
        gate.open()
    }

    @Test("Cancellation answers at once, while the drawing goes on; what has not begun never begins")
    func cancellation() async throws {
        let (threads, gate, bitmap) = (SVGThreads(), ThreadGate(), try Self.bitmap())
        let jobs = [
            await Self.startedJob(threads, gate, seconds: 1000, bitmap),
            await Self.startedJob(threads, gate, seconds: 1000, bitmap),
        ]
        let hasBegun = Lock(false)
        let waiting = SVGJob(seconds: 1000, priority: .normal, threads: threads, interruption: nil) {
            () throws(ImageDecodingError) in
            hasBegun.withLock { $0 = true }
            return bitmap
        }
        for job in jobs + [waiting] {
            let task = Task { try await job.image() }
            task.cancel()
            let result = await task.result
            #expect(throws: ImageDecodingError.cancelled) { try result.get() }
        }
        gate.open()
        let last = SVGJob(seconds: 1000, priority: .low, threads: threads, interruption: nil) {
            () throws(ImageDecodingError) in bitmap
        }
        #expect(try await last.image() === bitmap)
        #expect(!hasBegun.withLock { $0 })
    }

    @Test(
        "While both threads are taken other formats are decoded by the same pipeline, and SVG fails in time",
        .needsLibrary)
    func otherFormats() async throws {
        let (threads, gate, bitmap) = (SVGThreads(), ThreadGate(), try Self.bitmap())
        let holders = [
            await Self.startedJob(threads, gate, seconds: 1000, bitmap),
            await Self.startedJob(threads, gate, seconds: 1000, bitmap),
        ]
        let svg = ImageFormat(
            name: "SVG", type: .svg, mimeTypes: [], fileExtensions: [], capabilities: .decode,
            sniff: ImageFormat.svg.sniff,
            makeDecoder: { context in
                ImageDecoders.SVG(context: context, options: .init(), library: nil, threads: threads)
            })
        let plain = ImageFormat(
            name: "Plain", type: "plain", mimeTypes: [], fileExtensions: [], capabilities: .decode,
            sniff: { $0.starts(with: "PLAIN") ? .yes : .no }, makeDecoder: { _ in PlainDecoder(bitmap: bitmap) })
        let pipeline = SVGUnderTest.pipeline(svg, plain)
        let document = SVGUnderTest.document()
        let waiting = (0..<4).map { number in
            pipeline.imageTask(with: ImageRequest(id: "svg \(number)", data: { document }))
        }
        for task in waiting { Task { try? await task.image } }
        for number in 0..<20 {
            let request = ImageRequest(id: "plain \(number)", data: { Data("PLAIN".utf8) })
            #expect(try await pipeline.image(for: request) === bitmap)
        }
        // The first two by their own time, and the others after these.
        for task in waiting.prefix(2) {
            do {
                _ = try await task.image
                Issue.record("drawn without a thread")
            } catch ImagePipeline.Error.decodingFailed(_, _, let error) {
                #expect((error as? ImageDecodingError)?.code == .limitExceeded)
            }
        }
        gate.open()
        for holder in holders { #expect(try await holder.image() === bitmap) }
        for task in waiting { task.cancel() }
    }
}

/// Takes no time.
private struct PlainDecoder: ImageDecoding {
    let bitmap: Bitmap

    func decode(_ data: Data) throws -> ImageContainer { ImageContainer(image: bitmap, type: "plain") }
}
