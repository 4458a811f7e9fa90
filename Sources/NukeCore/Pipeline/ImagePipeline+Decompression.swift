extension ImagePipeline {
    /// Whether the delegate is to decompress an image; without a user's delegate never, as bitmaps hold pixels.
    @ImagePipelineActor
    func needsDecompression(_ response: ImageResponse, for request: ImageRequest) -> Bool {
        hasUserDelegate && response.isDecompressionNeeded && !request.options.contains(.skipDecompression)
            && delegate.shouldDecompress(response: response, for: request, pipeline: self)
    }
}
