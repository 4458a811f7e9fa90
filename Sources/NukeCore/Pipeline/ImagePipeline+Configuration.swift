extension ImagePipeline {
    /// What a pipeline is made of.
    ///
    /// A value, except that its queues are shared by the copies.
    public struct Configuration: Sendable {
        /// The loader for every scheme; nil, the default: what `dataLoaderRegistry` has for the URL's scheme.
        public var dataLoader: (any DataLoading)?
        /// The loaders by scheme; the shared registry by default.
        public var dataLoaderRegistry: DataLoaderRegistry = .shared
        /// The formats that are decoded and encoded; the shared registry by default.
        public var decoderRegistry: ImageDecoderRegistry = .shared
        /// Makes decoders; nil, the default: `decoderRegistry` does.
        public var makeImageDecoder: (@Sendable (ImageDecodingContext) -> (any ImageDecoding)?)?
        /// Makes the encoders of what goes to the data cache; nil, the default: `ImageEncoders.Default` on `decoderRegistry`.
        public var makeImageEncoder: (@Sendable (ImageEncodingContext) -> any ImageEncoding)?
        /// The cache of data; nil, the default: none.
        public var dataCache: (any DataCaching)?

        private var customImageCache: (any ImageCaching)??

        /// The cache of decoded images; `ImageCache.shared` unless assigned; nil: none.
        public var imageCache: (any ImageCaching)? {
            get { customImageCache ?? ImageCache.shared }
            set { customImageCache = .some(newValue) }
        }

        /// What goes to the data cache; the original data by default.
        public var dataCachePolicy: DataCachePolicy = .storeOriginalData
        /// The steps that are applied to the images of requests that name none; none by default.
        ///
        /// They count as the request's own, in its keys too.
        public var processors: [any ImageProcessing] = []

        /// Judges a response before its body is taken: an error fails the load; by default statuses but 200…299 do.
        public var validate: @Sendable (DataResponse) -> (any Swift.Error)? = Self.validateStatus

        /// What pictures may ask for.
        public var imageLimits = ImageLimits()
        /// Bytes that the pipeline's loads may hold at once, from decoding until the image is handed over.
        ///
        /// Half of what the process may use by default: of the host's memory, the cgroup's limit or the address space, whichever
        /// is least. Loads that don't fit wait, by priority; one that alone needs more fails with
        /// `ImageDecodingError.Code.limitExceeded` before any pixel is decoded. Images that were handed over or are cached
        /// don't count.
        public var memoryBudget: Int = HostLimits.memory / 2
        /// What becomes of pictures of which data is lacking; strict by default.
        public var truncationPolicy: TruncationPolicy = .strict
        /// Bytes a load may bring; by default the lesser of 200 MiB and a tenth of the memory; nil: any number.
        public var maximumResponseDataSize: Int? = min(200 << 20, HostLimits.memory / 10)

        /// Whether previews are decoded while data arrives; false by default.
        public var isProgressiveDecodingEnabled = false
        /// Seconds that pass at least from one preview of a load to its next; 0.5 by default, 0: none.
        public var progressiveDecodingInterval: Double = 0.5
        /// Whether previews go into the memory cache, until the final image replaces them; true by default.
        public var isStoringPreviewsInMemoryCache = true
        /// Seconds on the clock that `progressiveDecodingInterval` goes by; tests set it.
        var now: @Sendable () -> Double = { MonotonicClock.now }

        /// Whether the delegate is asked to decompress decoded images; true by default.
        ///
        /// Bitmaps hold pixels, so without a delegate there is nothing to do.
        public var isDecompressionEnabled = true
        /// Whether equal work is done once; true by default.
        public var isTaskCoalescingEnabled = true
        /// Whether `file:` and `data:` URLs are read without a loader; true by default.
        public var isLocalResourcesSupportEnabled = true
        /// Whether loads start at most 25 at once and then 80 a second; false by default.
        ///
        /// For loaders that suffer from many starts and cancellations in a short time.
        public var isRateLimiterEnabled = false
        /// The clock of the rate limiter; tests set it.
        var clock: any Clock<Duration> = ContinuousClock()

        /// Loads at once: 6 by default.
        public var dataLoadingQueue = TaskQueue(maxConcurrentOperationCount: 6)
        /// Decodes at once: as many as codec threads by default.
        public var imageDecodingQueue = TaskQueue(maxConcurrentOperationCount: CodecThreads.shared.count)
        /// Processing steps at once: as many as codec threads by default.
        public var imageProcessingQueue = TaskQueue(maxConcurrentOperationCount: CodecThreads.shared.count)
        /// Encodes at once: as many as codec threads by default.
        public var imageEncodingQueue = TaskQueue(maxConcurrentOperationCount: CodecThreads.shared.count)
        /// Decompressions at once, where the delegate does any: 2 by default.
        public var imageDecompressingQueue = TaskQueue(maxConcurrentOperationCount: 2)

        /// Whether tasks are told to `Diagnostics.sink` whatever its switch says; tests, which share the switch, set it.
        var isReportingTasks = false

        /// Whether every step of every load is told to `Diagnostics.sink`; false by default, the same as
        /// `Diagnostics.isTracingEnabled`.
        public static var isSignpostLoggingEnabled: Bool {
            get { Diagnostics.isTracingEnabled }
            set { Diagnostics.isTracingEnabled = newValue }
        }

        /// Creates the default configuration: memory cache only, loaders and formats of the shared registries.
        public init(dataLoader: (any DataLoading)? = nil) {
            self.dataLoader = dataLoader
        }

        /// The default of `validate`: accepts statuses 200…299 and responses without a status.
        public static func validateStatus(_ response: DataResponse) -> (any Swift.Error)? {
            guard let status = response.statusCode, !(200...299).contains(status) else { return nil }
            return DataLoadingError.statusCodeUnacceptable(status)
        }
    }
}
