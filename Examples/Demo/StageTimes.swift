import FoundationEssentials
import NukeKit

/// Takes the time of each stage of each load: a delegate that wraps decoders, and a clock for processors.
final class StageTimes: ImagePipeline.Delegate {
    /// Milliseconds of the stages of one load; nil for those that did not happen.
    struct Stages: Sendable {
        var loading: Double?
        var decoding: Double?
        var resizing: Double?
        var originalSize: ImageSize?
    }

    private let stages = Lock<[String: Stages]>([:])
    private let starts = Lock<[String: ContinuousClock.Instant]>([:])

    func stages(of url: String) -> Stages { stages.withLock { $0[url] ?? Stages() } }

    func update(_ url: String, _ change: (inout Stages) -> Void) {
        stages.withLock { change(&$0[url, default: Stages()]) }
    }

    @concurrent
    func willLoadData(
        for request: ImageRequest, dataRequest: DataRequest, pipeline: ImagePipeline
    ) async throws -> DataRequest {
        starts.withLock { $0[dataRequest.url?.absoluteString ?? ""] = .now }
        return dataRequest
    }

    func imageDecoder(for context: ImageDecodingContext, pipeline: ImagePipeline) -> (any ImageDecoding)? {
        guard let decoder = pipeline.configuration.decoderRegistry.decoder(for: context) else { return nil }
        let url = context.request.url?.absoluteString ?? ""
        if let start = starts.withLock({ $0[url] }) {
            update(url) { $0.loading = (ContinuousClock.now - start) / .milliseconds(1) }
        }
        return TimedDecoder(decoder: decoder, times: self, url: url)
    }
}

/// Takes the time of another decoder.
private struct TimedDecoder: ImageDecoding {
    let decoder: any ImageDecoding
    let times: StageTimes
    let url: String

    func properties(of data: Data) throws -> ImageProperties? { try decoder.properties(of: data) }

    func decode(_ data: Data) throws -> ImageContainer {
        let start = ContinuousClock.now
        let container = try decoder.decode(data)
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        times.update(url) {
            $0.decoding = time
            $0.originalSize = container.originalSize
        }
        return container
    }
}

/// Takes the time of another processor, whose identity it has.
struct TimedProcessor: ImageProcessing {
    let processor: any ImageProcessing
    let times: StageTimes
    let url: String

    init(_ processor: any ImageProcessing, times: StageTimes, url: String) {
        self.processor = processor
        self.times = times
        self.url = url
    }

    var identifier: String { processor.identifier }

    func process(_ image: PlatformImage) -> PlatformImage? { processor.process(image) }

    func process(_ container: ImageContainer, context: ImageProcessingContext) throws -> ImageContainer {
        let start = ContinuousClock.now
        let result = try processor.process(container, context: context)
        let time = (ContinuousClock.now - start) / .milliseconds(1)
        times.update(url) { $0.resizing = time }
        return result
    }

    func decodeHint(for original: ImageSize) -> ImageSize? { processor.decodeHint(for: original) }
}
