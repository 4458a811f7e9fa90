#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Loads images into a cache before they are needed, a few at a time and at low priority.
///
/// Usable from any thread.
///
/// What is asked for twice is loaded once, and one stop ends it. A batch starts in the order given. Letting go of the
/// prefetcher stops everything that is not done; loads that others share go on for them.
public final class ImagePrefetcher: Sendable {
    /// Where prefetched images go.
    public enum Destination: Hashable, Sendable {
        /// Decoded and processed, into the memory cache; the bytes into the disk cache as the pipeline's policy has it.
        case memoryCache
        /// The bytes alone, into the disk cache; nothing is decoded.
        case diskCache
    }

    let worker: PrefetchWorker

    /// Creates a prefetcher; of what it was told to load, two are under way at once unless told otherwise.
    public init(
        pipeline: ImagePipeline = .shared, destination: Destination = .memoryCache,
        maxConcurrentRequestCount: Int = 2
    ) {
        worker = PrefetchWorker(
            pipeline: pipeline, destination: destination,
            queue: TaskQueue(maxConcurrentOperationCount: maxConcurrentRequestCount))
    }

    deinit { worker.perform(.stopAll) }

    /// Whether what has not started waits; what is under way goes on.
    ///
    /// False by default.
    public var isPaused: Bool {
        get { worker.queue.isSuspended }
        set { worker.queue.isSuspended = newValue }
    }

    /// How urgent the loads are, whatever their requests say; low by default, and settable while they run.
    public var priority: ImageRequest.Priority {
        get { worker.priority }
        set { worker.priority = newValue }
    }

    /// Called on the main actor when there is nothing left to load, however the loads went; not because of a stop.
    ///
    /// Also called after a start that had nothing to load.
    public var didComplete: (@MainActor @Sendable () -> Void)? {
        get { worker.didComplete }
        set { worker.didComplete = newValue }
    }

    /// Starts loading the images at the URLs.
    public func startPrefetching(with urls: [URL]) { startPrefetching(with: urls.map { ImageRequest(url: $0) }) }

    /// Starts loading images, except those under way or in the cache already.
    public func startPrefetching(with requests: [ImageRequest]) { worker.perform(.start(requests)) }

    /// Stops loading the images at the URLs.
    public func stopPrefetching(with urls: [URL]) { stopPrefetching(with: urls.map { ImageRequest(url: $0) }) }

    /// Stops loading images, however often they were started.
    ///
    /// The requests have to ask for the same images, processors and options included.
    public func stopPrefetching(with requests: [ImageRequest]) { worker.perform(.stop(requests)) }

    /// Stops loading everything.
    public func stopPrefetching() { worker.perform(.stopAll) }
}
