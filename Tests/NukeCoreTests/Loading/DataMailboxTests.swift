import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct DataMailboxTests {
    let response = DataResponse(url: nil, statusCode: 200)

    @Test("chunks keep their order and their bounds, whatever thread they come on [DAT-16]")
    func order() async {
        let test = TestPipeline()
        test.loader.answerEverything(with: nil)
        let task = test.pipeline.imageTask(with: "http://test.com/a")
        let progress = task.progress
        await waitUntil { test.loader.loadCount == 1 }
        let transfer = test.loader.transfers[0]
        for index in 1...200 { transfer.send(Data(repeating: UInt8(index), count: index), response) }
        transfer.finish()
        var held: Int64 = 0
        var index: Int64 = 0
        for await value in progress {
            index += 1
            held += index
            #expect(value.completed == held)
        }
        #expect(index == 200)
    }

    /// A mailbox with a transfer to pause.
    private func makeMailbox() -> (DataMailbox, MockTransfer) {
        let mailbox = DataMailbox {}
        let loader = MockDataLoader()
        loader.answerEverything(with: nil)
        mailbox.attach(loader.loadData(with: DataRequest(url: nil), didReceiveData: { _, _ in }, completion: { _ in }))
        return (mailbox, loader.transfers[0])
    }

    @Test("above 1 MB waiting the transfer pauses, and the taker is told")
    func backPressure() async {
        let (mailbox, transfer) = makeMailbox()
        mailbox.post(Data(count: 1 << 20), response)
        #expect(!transfer.isPaused)
        mailbox.post(Data(count: 1), response)
        mailbox.post(Data(count: 1 << 20), response)
        #expect(transfer.isPaused && transfer.pauseCount == 1)
        let (chunks, completion, isPaused) = mailbox.take()
        #expect(chunks.map(\.data.count) == [1 << 20, 1, 1 << 20] && completion == nil && isPaused)
        #expect(mailbox.take().isPaused == false)
    }

    @Test("where each step is watched, a response above 1 MB pauses with every chunk, a smaller one never")
    func watching() async {
        for (length, isPaused) in [(Int64(1) << 20 + 1, true), (1 << 20, false), (-1, false)] {
            let (mailbox, transfer) = makeMailbox()
            mailbox.isWatched = true
            mailbox.post(Data(count: 1), DataResponse(url: nil, statusCode: 200, expectedContentLength: length))
            #expect(transfer.isPaused == isPaused && mailbox.take().isPaused == isPaused)
        }
    }

    @ImagePipelineActor
    @Test(
        "a large download pauses until its format is known, then goes on; smaller ones do not",
        arguments: [true, false])
    func pauseForFormat(isLarge: Bool) async throws {
        let registry = ImageDecoderRegistry()
        registry.register(
            ImageFormat(
                name: "Early", type: "org.example.early", mimeTypes: [], fileExtensions: [],
                capabilities: [.decode, .finishesEarly], sniff: { _ in .no }, makeDecoder: { _ in MockImageDecoder() }))
        let test = TestPipeline { $0.decoderRegistry = registry }
        let request = ImageRequest(url: URL(string: "http://test.com/a"))
        let download = await PartialDownload(test, request, body: Data(count: isLarge ? 3 << 20 : 1 << 20))
        await download.send(upTo: 100)
        await waitUntil { !download.transfer.isPaused }
        #expect(download.transfer.pauseCount == (isLarge ? 1 : 0))
        await download.send(upTo: 100_000)
        await waitUntil { !download.transfer.isPaused }
        await download.send(upTo: 200_000)
        #expect(download.transfer.pauseCount == (isLarge ? 2 : 0))
        _ = await download.finish()
    }

    /// A transfer that is taken from while it is being paused.
    private final class SlowTransfer: DataTransfer {
        let whilePausing: @Sendable () -> Void
        var priority: ImageRequest.Priority {
            get { .normal }
            set {}
        }

        init(_ whilePausing: @escaping @Sendable () -> Void) { self.whilePausing = whilePausing }

        func pause() { whilePausing() }
        func resume() {}
        func cancel() {}
    }

    @Test("a transfer is told to be paused once it is, not while: else it would be resumed too early, and stay paused")
    func pauseInBetween() {
        let mailbox = DataMailbox {}
        mailbox.isWatched = true
        let early = Locked<Bool?>(nil)
        mailbox.attach(SlowTransfer { early.withLock { $0 = mailbox.take().isPaused } })
        mailbox.post(Data(count: 1), DataResponse(url: nil, statusCode: 200, expectedContentLength: 2 << 20))
        #expect(early.withLock { $0 } == false && mailbox.take().isPaused)
        mailbox.abandon()
    }

    @Test("what comes after the end, or once nobody wants it, is ignored [DAT-02]")
    func lateCalls() {
        let mailbox = DataMailbox {}
        mailbox.close(nil)
        mailbox.close(DataLoadingError.badURL)
        mailbox.post(Data([1]), response)
        let (chunks, completion, _) = mailbox.take()
        #expect(chunks.isEmpty && completion != nil && completion?.error == nil)
        let abandoned = DataMailbox {}
        abandoned.abandon()
        abandoned.post(Data([1]), response)
        #expect(abandoned.take().0.isEmpty)
    }

    @Test("a transfer that is attached after it was given up is cancelled")
    func lateAttach() {
        let mailbox = DataMailbox {}
        mailbox.abandon()
        let loader = MockDataLoader()
        loader.answerEverything(with: nil)
        mailbox.attach(loader.loadData(with: DataRequest(url: nil), didReceiveData: { _, _ in }, completion: { _ in }))
        #expect(loader.transfers[0].isCancelled)
    }

    @Test("statuses are judged by the pipeline: 200…299 by default, or as the closure says [DAT-05] [DAT-06]")
    func validation() async throws {
        for (status, isFine) in [(200, true), (299, true), (404, false), (500, false), (304, false)] {
            let test = TestPipeline()
            let response = DataResponse(url: nil, statusCode: status)
            test.loader.answerEverything(with: .init(chunks: [Data([1])], response: response))
            let result = await Result(catchingAsync: { try await test.pipeline.image(for: "http://test.com/a") })
            if isFine {
                _ = try result.get()
            } else {
                let error = #expect(throws: ImagePipeline.Error.self) { try result.get() }
                #expect(error?.dataLoadingError as? DataLoadingError == .statusCodeUnacceptable(status))
                await waitUntil { test.loader.cancelCount == 1 }
            }
        }
        let lenient = TestPipeline { $0.validate = { _ in nil } }
        let response = DataResponse(url: nil, statusCode: 500)
        lenient.loader.answerEverything(with: .init(chunks: [Data([1])], response: response))
        _ = try await lenient.pipeline.image(for: "http://test.com/a")
    }

    @Test("a body shorter than declared is an error and is not stored [DAT-41] [PITFALLS 92]")
    func shortBody() async {
        let test = TestPipeline(hasDataCache: true)
        let response = DataResponse(url: nil, statusCode: 200, expectedContentLength: 10)
        test.loader.answerEverything(with: .init(chunks: [Data(count: 5)], response: response))
        let error = await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: "http://x/a") }
        #expect((error?.dataLoadingError as? DataLoadingError)?.code == .truncatedBody)
        await test.pipeline.dataStores.completion()
        #expect(test.dataCache?.writeCount == 0)
    }

    @Test(
        "a declared length above the limit fails before any progress; an unknown one once it is passed [DAT-25] [DAT-26]"
    )
    func byteLimit() async {
        let test = TestPipeline { $0.maximumResponseDataSize = 20 }
        test.loader.isSuspended = true
        test.loader.answer("http://x/a", with: .init(chunks: [Data(count: 11), Data(count: 10)]))
        let unknown = DataResponse(url: nil, statusCode: 200)
        test.loader.answer("http://x/b", with: .init(chunks: [Data(count: 11), Data(count: 10)], response: unknown))
        test.loader.answer("http://x/c", with: .init(chunks: [Data(count: 10), Data(count: 10)]))
        let tasks = ["http://x/a", "http://x/b", "http://x/c"].map {
            test.pipeline.imageTask(with: ImageRequest(url: URL(string: $0)))
        }
        let progress = tasks[0].progress
        await waitUntil { test.loader.loadCount == 3 }
        test.loader.isSuspended = false
        for task in tasks.prefix(2) {
            let error = await #expect(throws: ImagePipeline.Error.self) { try await task.image }
            guard case .dataDownloadExceededMaximumSize? = error else {
                Issue.record("not too large")
                return
            }
        }
        for await _ in progress { Issue.record("progress of a load that is too large") }
        #expect((try? await tasks[2].image) != nil)
        await waitUntil { test.loader.cancelCount == 2 }
    }
}
