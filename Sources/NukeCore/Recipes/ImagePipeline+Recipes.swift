// Recipes for what apps do with more than one load.
extension ImagePipeline {
    /// The previews of an image, as far as the pipeline makes any, and the image.
    public func images(with request: ImageRequest) -> ImageSequence {
        ImageSequence { [self] yield throws(Error) in
            let (task, events) = startTaskWithEvents(with: request)
            let result = await withTaskCancellationHandler { () -> Result<ImageResponse, Error> in
                for await event in events {
                    switch event {
                    case .progress: continue
                    case .preview(let response): yield(response)
                    case .finished(let result): return result
                    }
                }
                return .failure(.cancelled)
            } onCancel: {
                task.cancel()
            }
            yield(try result.get())
        }
    }

    /// An image in low resolution, unless the one in high resolution is there first, and then that one.
    public func images(lowResolution low: ImageRequest, highResolution high: ImageRequest) -> ImageSequence {
        .improving([images(with: low), images(with: high)])
    }

    /// What the caches have of an image, however old, and then the image loaded anew.
    ///
    /// An HTTP cache behind the loader goes by its own rules. When loading fails, what the caches have is given before
    /// the error is thrown.
    public func images(staleThenFresh request: ImageRequest) -> ImageSequence {
        var (stale, fresh) = (request, request)
        stale.options.insert(.returnCacheDataDontLoad)
        fresh.options.formUnion(.reloadIgnoringCachedData)
        return .improving([images(with: stale), images(with: fresh)])
    }

    /// The first of several images that can be loaded, tried one after the other.
    public func firstAvailableImage(of requests: [ImageRequest]) -> ImageSequence {
        .firstAvailable(requests.map { images(with: $0) })
    }

    /// Several images at once, each given as it comes.
    public func results(for requests: [ImageRequest]) -> ImageResults {
        ImageResults(pipeline: self, requests: requests)
    }
}
