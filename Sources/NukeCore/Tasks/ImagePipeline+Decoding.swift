#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension ImagePipeline {
    /// Decodes complete data in the decoding queue, as the node's operation; `completion` is not called once it is disposed.
    @ImagePipelineActor
    func decode(
        _ context: ImageDecodingContext, for node: TaskNode<ImageResponse>,
        completion: @escaping @ImagePipelineActor (Result<ImageContainer, Error>) -> Void
    ) {
        var context = context
        context.limits = configuration.imageLimits
        guard let decoder = delegate.imageDecoder(for: context, pipeline: self) else {
            return completion(.failure(.decoderNotRegistered(context: context)))
        }
        guard decoder.isAsynchronous else { return completion(Self.decode(context, with: decoder)) }
        let cancellation = context.cancellation
        node.operation = configuration.imageDecodingQueue.add(priority: node.priority) { [weak node, context] in
            guard let priority = node?.priority else { return }
            let result = await withTaskCancellationHandler {
                await CodecThreads.shared.run(priority: priority) { Self.decode(context, with: decoder) }
            } onCancel: {
                cancellation.cancel()
            }
            if let node, !node.isDisposed { completion(result) }
        }
    }

    private static func decode(
        _ context: ImageDecodingContext, with decoder: any ImageDecoding
    ) -> Result<ImageContainer, Error> {
        do {
            try context.cancellation.check()
            if let properties = try decoder.properties(of: context.data) {
                try context.limits.check(properties, for: context)
            }
            return .success(try decoder.decode(context.data))
        } catch let error as ImageDecodingError where error.code == .cancelled {
            return .failure(.cancelled)
        } catch {
            return .failure(.decodingFailed(decoder: decoder, context: context, error: error))
        }
    }
}

extension ImageLimits {
    /// Checks what a header tells, whichever decoder read it.
    fileprivate func check(
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
