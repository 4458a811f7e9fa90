import FoundationEssentials
import NukeTestSupport
import Testing

@testable import NukeCore

@Suite(.serialized, .timeLimit(.minutes(5)))
struct PipelineErrorTests {
    let request = ImageRequest(url: URL(string: "http://test.com/example.jpeg"))

    private final class OwnError: Error, CustomStringConvertible {
        let description = "an error of its own"
    }

    private struct FailingProcessor: ImageProcessing {
        let error: any Error
        let identifier = "failing"

        func process(_ image: PlatformImage) -> PlatformImage? { nil }
        func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
            throw error
        }
    }

    private var decodingContext: ImageDecodingContext { ImageDecodingContext(request: request, data: Data([1])) }

    private func decodingFailed(_ error: any Error) -> ImagePipeline.Error {
        .decodingFailed(decoder: MockImageDecoder(), context: decodingContext, error: error)
    }

    private func processingFailed(_ error: any Error) -> ImagePipeline.Error {
        let response = ImageResponse(container: ImageContainer(image: .mock()), request: request)
        return .processingFailed(
            processor: MockProcessor("sharpen"),
            context: ImageProcessingContext(request: request, response: response, isCompleted: true), error: error)
    }

    private var allErrors: [ImagePipeline.Error] {
        [
            .dataMissingInCache, .dataLoadingFailed(error: OwnError()), .dataIsEmpty,
            .decoderNotRegistered(context: decodingContext), decodingFailed(OwnError()), processingFailed(OwnError()),
            .imageRequestMissing, .pipelineInvalidated, .dataDownloadExceededMaximumSize, .cancelled,
        ]
    }

    /// The error that a load throws.
    private func error(_ test: TestPipeline, _ request: ImageRequest) async -> ImagePipeline.Error? {
        await #expect(throws: ImagePipeline.Error.self) { try await test.pipeline.image(for: request) }
    }

    @Test("there are ten kinds of failure, each with what belongs to it [ERR-01]")
    func cases() {
        // Without a default: a case that is gone, or new, does not compile.
        let names = allErrors.map { error in
            switch error {
            case .dataMissingInCache: "dataMissingInCache"
            case .dataLoadingFailed(let error): error is OwnError ? "dataLoadingFailed" : ""
            case .dataIsEmpty: "dataIsEmpty"
            case .decoderNotRegistered(let context): context.data == Data([1]) ? "decoderNotRegistered" : ""
            case .decodingFailed(_, let context, let error):
                context.data == Data([1]) && error is OwnError ? "decodingFailed" : ""
            case .processingFailed(let processor, let context, let error):
                context.isCompleted && error is OwnError ? "processingFailed \(processor.identifier)" : ""
            case .imageRequestMissing: "imageRequestMissing"
            case .pipelineInvalidated: "pipelineInvalidated"
            case .dataDownloadExceededMaximumSize: "dataDownloadExceededMaximumSize"
            case .cancelled: "cancelled"
            }
        }
        #expect(Set(names).count == 10 && !names.contains(""))
    }

    @Test("only failures of loading have a loading error [ERR-02]")
    func dataLoadingError() {
        let errors = allErrors.filter { $0.dataLoadingError != nil }
        #expect(errors.count == 1 && errors.first?.dataLoadingError is OwnError)
    }

    @Test("descriptions are never empty, name who failed, and add a reason where there is one [ERR-03]")
    func descriptions() {
        struct Silent: Error, CustomStringConvertible { let description = "" }
        for error in allErrors + [.dataLoadingFailed(error: Silent()), decodingFailed(Silent())] {
            #expect(!error.description.isEmpty)
        }
        #expect(decodingFailed(OwnError()).description == "MockImageDecoder failed: an error of its own")
        #expect(decodingFailed(ImageDecodingError.unknown).description == "MockImageDecoder failed")
        let processing = processingFailed(OwnError()).description
        #expect(processing.contains("sharpen") && processing.hasSuffix("failed: an error of its own"))
        let unknown = processingFailed(ImageProcessingError.unknown).description
        #expect(unknown.contains("sharpen") && unknown.hasSuffix("failed"))
    }

    @Test("a request without a URL is a bad URL, not a missing request [ERR-04]")
    func missingURL() async {
        let error = await error(TestPipeline(), ImageRequest(url: nil))
        #expect((error?.dataLoadingError as? DataLoadingError)?.code == .badURL)
    }

    @Test("the errors of loaders, closures, decoders and processors come through as they are [ERR-05]")
    func underlying() async {
        let own = OwnError()
        let test = TestPipeline()
        test.loader.answerEverything(with: .init(chunks: [], error: own))
        #expect(await error(test, request)?.dataLoadingError as? OwnError === own)
        let data = ImageRequest(id: "data", data: { throw own })
        #expect(await error(test, data)?.dataLoadingError as? OwnError === own)
        let image = ImageRequest(id: "image", image: { throw own })
        #expect(await error(test, image)?.dataLoadingError as? OwnError === own)

        let decoding = TestPipeline()
        decoding.decoder.error = own
        guard case .decodingFailed(_, _, let decodingError)? = await error(decoding, request) else {
            Issue.record("not a decoding failure")
            return
        }
        #expect(decodingError as? OwnError === own)

        var processed = request
        processed.processors = [FailingProcessor(error: own)]
        guard
            case .processingFailed(let processor, _, let processingError)? = await error(TestPipeline(), processed)
        else {
            Issue.record("not a processing failure")
            return
        }
        #expect(processingError as? OwnError === own && processor is FailingProcessor)
    }

    @Test("cancellation is the pipeline's own case, wherever it strikes [ERR-06]", arguments: 0..<5)
    func cancellation(kind: Int) async {
        let test = TestPipeline()
        test.loader.isSuspended = true
        let gate = AsyncGate()
        // A closure that notices the cancellation throws Swift's error.
        let closure = ImageRequest(
            id: "closure",
            data: {
                await gate.wait()
                try Task.checkCancellation()
                return Data([1])
            })
        let request = kind == 2 ? closure : request
        let waiting = Task { () -> Result<PlatformImage, any Error> in
            do { return .success(try await test.pipeline.image(for: request)) } catch { return .failure(error) }
        }
        await waitUntil {
            test.pipeline.taskCount == 1
                && (kind == 2
                    ? test.pipeline.configuration.dataLoadingQueue.runningCount == 1 : test.loader.loadCount == 1)
        }
        switch kind {
        case 0, 2: waiting.cancel()
        case 1:
            waiting.cancel()
            test.loader.transfers[0].finish(CancellationError())
        case 3: test.pipeline.invalidate()
        default:
            waiting.cancel()
            test.loader.isSuspended = false
        }
        gate.open()
        guard case .failure(let error) = await waiting.value, case .cancelled? = error as? ImagePipeline.Error else {
            Issue.record("not the pipeline's cancelled")
            return
        }
    }

    @Test(
        "a failure is forgotten: the next request tries again [ERR-07]",
        arguments: ["loading", "decoding", "processing"])
    func retries(stage: String) async throws {
        let test = TestPipeline(hasDataCache: true)
        let isFailing = Locked(true)
        var request = request
        request.processors = [.process(id: "p") { isFailing.withLock { $0 } ? nil : $0 }]
        switch stage {
        case "loading": test.loader.answerEverything(with: .init(chunks: [], error: OwnError()))
        case "decoding": test.decoder.error = OwnError()
        default: break
        }
        if stage != "processing" { isFailing.withLock { $0 = false } }
        _ = await error(test, request)
        _ = await error(test, request)
        test.loader.answerEverything(with: .init(chunks: [Data([1])]))
        test.decoder.error = nil
        isFailing.withLock { $0 = false }
        _ = try await test.pipeline.image(for: request)
    }
}
