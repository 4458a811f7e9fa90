extension ImagePipeline {
    /// What a pipeline was doing, and had done, at one moment.
    public struct Snapshot: Sendable {
        /// A queue, and what waits in it.
        public struct QueueState: Sendable {
            /// How many pieces of work run at once.
            public let limit: Int
            /// How many run.
            public let runningCount: Int
            /// What waits, in the order in which it will start as things stand.
            public let pending: [PendingWork]
            /// Whether work waits instead of starting.
            public let isSuspended: Bool
        }

        /// A piece of work that waits.
        public struct PendingWork: Sendable {
            /// How urgent it is.
            public let priority: ImageRequest.Priority
            /// The tasks that want it, in the order in which they came.
            public let tasks: [ImageTask]
        }

        /// The memory that loads may hold at once, and have reserved.
        public struct MemoryState: Sendable {
            /// Bytes there are in all.
            public let budget: Int
            /// Bytes that loads hold.
            public let reserved: Int
            /// The loads that wait for memory, in the order in which they will get it as things stand.
            public let pending: [PendingWork]
        }

        /// Where images come from.
        public enum Origin: Sendable, Hashable, CaseIterable {
            /// The memory cache.
            case memoryCache
            /// The data cache.
            case dataCache
            /// A loader.
            case network
            /// A file or the URL itself.
            case local
            /// A closure.
            case closure
        }

        /// The queues of the pipeline's configuration.
        public let queues: [Queue: QueueState]
        /// The memory budget.
        public let memory: MemoryState
        /// The tasks under way, in the order in which they were made.
        public let runningTasks: [ImageTask]
        /// How many tasks have ended with an image or data.
        public let succeededTaskCount: Int
        /// How many tasks have ended with an error.
        public let failedTaskCount: Int
        /// How many tasks were cancelled.
        public let cancelledTaskCount: Int
        /// How many images were delivered, by where they came from; hits of `image(for:)` that take no task included.
        public let imageCounts: [Origin: Int]
        /// How full the memory cache is; nil if there is none, or it can't tell.
        public let imageCacheFill: CacheFill?
        /// How full the data cache is; nil if there is none, or it can't tell.
        public let dataCacheFill: CacheFill?
    }

    /// A queue of the pipeline.
    public enum Queue: String, Sendable, Hashable, CaseIterable {
        /// Loads.
        case dataLoading
        /// Decodes.
        case decoding
        /// Processing steps.
        case processing
        /// Encodes.
        case encoding
        /// Decompressions by the delegate.
        case decompressing
    }

    /// What the pipeline is doing and has done; counts of a data cache look at its files, off the pipeline's actor.
    public func snapshot() async -> Snapshot {
        let caches = (configuration.dataCache as? any CacheMeasuring, imageCache as? any CacheMeasuring)
        let dataCacheFill = await CodecThreads.disk.run { caches.0?.fill }
        return await makeSnapshot(dataCacheFill: dataCacheFill, imageCacheFill: caches.1?.fill)
    }

    /// Lets no more work of a queue start; what runs goes on.
    ///
    /// Queues are shared with pipelines made from copies of the configuration.
    public func suspend(_ queue: Queue) { self[queue].isSuspended = true }

    /// Lets the work of a queue start again.
    public func resume(_ queue: Queue) { self[queue].isSuspended = false }

    private subscript(queue: Queue) -> TaskQueue {
        switch queue {
        case .dataLoading: configuration.dataLoadingQueue
        case .decoding: configuration.imageDecodingQueue
        case .processing: configuration.imageProcessingQueue
        case .encoding: configuration.imageEncodingQueue
        case .decompressing: configuration.imageDecompressingQueue
        }
    }

    @ImagePipelineActor
    private func makeSnapshot(dataCacheFill: CacheFill?, imageCacheFill: CacheFill?) -> Snapshot {
        let queues = Queue.allCases.map { ($0, self[$0].state) }
        let memory = Snapshot.MemoryState(
            budget: memoryBudget.limit, reserved: memoryBudget.reserved,
            pending: memoryBudget.pending.map { Snapshot.PendingWork($0) })
        return Snapshot(
            queues: Dictionary(uniqueKeysWithValues: queues), memory: memory, runningTasks: runningTasks,
            succeededTaskCount: counters.succeeded, failedTaskCount: counters.failed,
            cancelledTaskCount: counters.cancelled,
            imageCounts: counters.images.merging([.memoryCache: immediateHitCount], uniquingKeysWith: +),
            imageCacheFill: imageCacheFill, dataCacheFill: dataCacheFill)
    }

    /// Counts what tasks came to.
    struct Counters {
        var succeeded = 0
        var failed = 0
        var cancelled = 0
        var images = Dictionary(uniqueKeysWithValues: Snapshot.Origin.allCases.map { ($0, 0) })

        mutating func count(_ result: Result<ImageResponse, Error>, of task: ImageTask) {
            switch result {
            case .success(let response):
                succeeded += 1
                if !task.isDataTask { images[Self.origin(of: response), default: 0] += 1 }
            case .failure(.cancelled): cancelled += 1
            case .failure: failed += 1
            }
        }

        private static func origin(of response: ImageResponse) -> Snapshot.Origin {
            switch (response.cacheType, response.request.resource) {
            case (.memory, _): .memoryCache
            case (.disk, _): .dataCache
            case (nil, .request): response.dataResponse == nil ? .local : .network
            case (nil, _): .closure
            }
        }
    }
}

extension ImagePipeline.Snapshot.PendingWork {
    @ImagePipelineActor
    init(_ work: any NodeWork) {
        self.init(
            priority: work.priority, tasks: work.owner?.imageTasks.sorted { $0.taskId < $1.taskId } ?? [])
    }
}

extension TaskQueue {
    @ImagePipelineActor
    fileprivate var state: ImagePipeline.Snapshot.QueueState {
        ImagePipeline.Snapshot.QueueState(
            limit: maxConcurrentOperationCount, runningCount: runningCount,
            pending: pending.map { ImagePipeline.Snapshot.PendingWork($0) }, isSuspended: isSuspended)
    }
}
