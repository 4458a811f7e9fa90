extension ImagePipeline {
    /// Why a load failed.
    ///
    /// Every pipeline call throws this and nothing else.
    public enum Error: Swift.Error, Sendable {
        /// The request allows caches only, and they don't have it.
        case dataMissingInCache
        /// The loader, a closure or the file system failed; `error` is theirs, unwrapped.
        case dataLoadingFailed(error: any Swift.Error)
        /// The load gave no bytes.
        case dataIsEmpty
        /// Nothing registered takes the data.
        case decoderNotRegistered(context: ImageDecodingContext)
        /// The decoder failed; `error` is its own, unwrapped.
        case decodingFailed(decoder: any ImageDecoding, context: ImageDecodingContext, error: any Swift.Error)
        /// A processor failed; `error` is its own, unwrapped.
        case processingFailed(
            processor: any ImageProcessing, context: ImageProcessingContext, error: any Swift.Error)
        /// There was no request; used where one is optional.
        case imageRequestMissing
        /// The pipeline was invalidated before.
        case pipelineInvalidated
        /// The data is larger than `Configuration.maximumResponseDataSize`.
        case dataDownloadExceededMaximumSize
        /// The load was cancelled.
        case cancelled

        /// The error of the loader, if that is what failed.
        public var dataLoadingError: (any Swift.Error)? {
            if case .dataLoadingFailed(let error) = self { return error }
            return nil
        }
    }
}

extension ImagePipeline.Error: CustomStringConvertible {
    /// What happened and, where there is one, the remedy.
    public var description: String {
        switch self {
        case .dataMissingInCache: "the image is not in the caches, and the request allows nothing else"
        case .dataLoadingFailed(let error): Self.nonEmpty("\(error)")
        case .dataIsEmpty: "the data is empty"
        case .decoderNotRegistered(let context): Self.noDecoder(for: context)
        case .decodingFailed(let decoder, _, let error):
            "\(type(of: decoder)) failed" + Self.reason(error, generic: error as? ImageDecodingError == .unknown)
        case .processingFailed(let processor, _, let error):
            "\(processor) failed" + Self.reason(error, generic: error as? ImageProcessingError == .unknown)
        case .imageRequestMissing: "there is no request"
        case .pipelineInvalidated: "the pipeline was invalidated"
        case .dataDownloadExceededMaximumSize: "the data is larger than the pipeline allows"
        case .cancelled: "the load was cancelled"
        }
    }

    private static func nonEmpty(_ text: String) -> String { text.isEmpty ? "the data could not be loaded" : text }

    /// What stands behind "failed": nothing, where the error only says that there is no reason.
    private static func reason(_ error: any Swift.Error, generic isGeneric: Bool) -> String {
        isGeneric ? "" : ": \(error)"
    }

    private static func noDecoder(for context: ImageDecodingContext) -> String {
        guard let type = AssetType(context.data) else {
            let served = context.dataResponse?.mimeType.map { ", served as \($0)" } ?? ""
            return "the data (\(context.data.count) bytes\(served)) is of no known image format"
        }
        guard let product = type.decoderProduct else { return "no decoder is registered for \(type.rawValue)" }
        return "no decoder is registered for \(type.rawValue); add the product \(product) and register its format"
    }
}
