#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImagePipeline {
    /// Decodes complete data in the decoding queue, as the node's operation; `completion` is not called once it is disposed.
    ///
    /// With `decoder`, if there is one; with a new one otherwise.
    @ImagePipelineActor
    func decode(
        _ context: ImageDecodingContext, with decoder: (any ImageDecoding)? = nil, for node: TaskNode<ImageResponse>,
        completion: @escaping @ImagePipelineActor (Result<ImageContainer, Error>) -> Void
    ) {
        var context = context
        context.limits = configuration.imageLimits
        guard let decoder = decoder ?? delegate.imageDecoder(for: context, pipeline: self) else {
            return completion(.failure(.decoderNotRegistered(context: context)))
        }
        guard decoder.isAsynchronous else { return completion(Self.decode(context, with: decoder)) }
        let cancellation = context.cancellation
        node.operation = configuration.imageDecodingQueue.add(priority: node.priority) { [weak node, context] in
            guard let priority = node?.priority else { return }
            let result = await withTaskCancellationHandler {
                if let decoder = decoder as? any AsyncImageDecoding {
                    return await Self.decode(context, awaiting: decoder)
                }
                return await CodecThreads.shared.run(priority: priority) { Self.decode(context, with: decoder) }
            } onCancel: {
                cancellation.cancel()
            }
            if let node, !node.isDisposed { completion(result) }
        }
    }

    /// Decodes complete data; blocks, so it belongs on codec threads.
    static func decode(
        _ context: ImageDecodingContext, with decoder: any ImageDecoding
    ) -> Result<ImageContainer, Error> {
        do {
            try context.cancellation.check()
            if let properties = try decoder.properties(of: context.data) {
                try context.limits.check(properties, for: context)
            }
            return .success(final(try decoder.decode(context.data)))
        } catch {
            return .failure(failure(error, of: decoder, context))
        }
    }

    private static func decode(
        _ context: ImageDecodingContext, awaiting decoder: any AsyncImageDecoding
    ) async -> Result<ImageContainer, Error> {
        do {
            return .success(final(try await decoder.decode(context.data)))
        } catch {
            return .failure(failure(error, of: decoder, context))
        }
    }

    /// What a decoder makes of everything is final, whatever it says.
    private static func final(_ container: ImageContainer) -> ImageContainer {
        guard container.isPreview else { return container }
        var container = container
        container.isPreview = false
        return container
    }

    private static func failure(
        _ error: any Swift.Error, of decoder: any ImageDecoding, _ context: ImageDecodingContext
    ) -> Error {
        if (error as? ImageDecodingError)?.code == .cancelled { return .cancelled }
        return .decodingFailed(decoder: decoder, context: context, error: error)
    }
}

extension ImageLimits {
    /// Checks what a header tells, whichever decoder read it.
    func check(
        _ properties: ImageProperties, for context: ImageDecodingContext
    ) throws(ImageDecodingError) {
        let codec = context.request.url == nil ? "" : properties.type.rawValue
        // What is kept after a reduction is the decoder's to know; here the pixels and the sides count.
        try check(width: properties.width, height: properties.height, decodedBytes: 0, codec: codec)
        guard properties.frameCount <= frameCount else {
            throw .limitExceeded("\(properties.frameCount) frames; a picture may have \(frameCount)", codec: codec)
        }
    }
}
