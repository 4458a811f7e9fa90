extension ImageTask {
    /// What a load took, step by step, and what it found.
    ///
    /// Steps that several tasks share count for each of them. Times are seconds; those of a timeline count from the moment
    /// the task was made, and are negative for work that was under way before.
    public struct Metrics: Sendable {
        private final class Storage: Sendable {
            let log: WorkLog
            let created: Double
            let ended: Double
            let previewCount: Int
            let cacheType: ImageResponse.CacheType?

            init(
                log: WorkLog, created: Double, ended: Double, previewCount: Int, cacheType: ImageResponse.CacheType?
            ) {
                self.log = log
                self.created = created
                self.ended = ended
                self.previewCount = previewCount
                self.cacheType = cacheType
            }
        }

        private let storage: Storage

        init(
            log: WorkLog, created: Double, ended: Double, previewCount: Int, cacheType: ImageResponse.CacheType?
        ) {
            storage = Storage(
                log: log, created: created, ended: ended, previewCount: previewCount, cacheType: cacheType)
        }

        // MARK: Times

        /// Seconds from the task's making to its end.
        public var duration: Double { storage.ended - storage.created }

        /// Every step, in the order in which they began; one that the end of the task cut short lasts until then.
        public var stages: [Stage] {
            storage.log.steps.sorted { $0.start < $1.start }
                .map { step in
                    Stage(
                        kind: step.kind, name: step.subject?.name,
                        queued: max(0, step.start - (step.queuedSince ?? step.start)),
                        start: step.start - storage.created, duration: (step.end ?? storage.ended) - step.start,
                        outputByteCount: step.outputByteCount)
                }
        }

        /// Seconds that steps of a kind took, all together.
        public func duration(of kind: Stage.Kind) -> Double {
            stages.reduce(0) { $0 + ($1.kind == kind ? $1.duration : 0) }
        }

        /// Seconds that steps waited for their turn, all together: for a place in a queue, and for memory.
        public var queuedDuration: Double { stages.reduce(0) { $0 + $1.queued } }

        // MARK: Pixels

        /// The upright size of the whole picture, in pixels; nil if nothing was decoded.
        public var sourceSize: ImageSize? { storage.log.decoding?.sourceSize }
        /// The size at which the picture was decoded, in pixels, before any processor; nil if nothing was decoded.
        public var decodedSize: ImageSize? { storage.log.decoding?.decodedSize }
        /// The type of the decoder that was picked; nil if nothing was decoded.
        public var decoder: String? { storage.log.decoding.map { "\($0.decoder)" } }
        /// The format that the data's first bytes tell; nil if they tell none or nothing was decoded.
        public var detectedType: AssetType? { storage.log.decoding?.type }
        /// How many previews the task has had.
        public var previewCount: Int { storage.previewCount }

        // MARK: Bytes

        /// The media type that the server declared, such as "image/jpeg".
        public var servedMIMEType: String? { storage.log.loading?.response?.mimeType }
        /// Bytes of the body that was loaded, decompressed, those of an earlier transfer included; nil if none was loaded.
        public var bodyByteCount: Int? { storage.log.loading?.bodyByteCount }
        /// Bytes of the body that came over the wire this time, compressed where they were sent so and the server said how many.
        public var wireByteCount: Int? { storage.log.loading?.wireByteCount }
        /// Bytes that an earlier transfer had brought already; 0 if this was the first.
        public var resumedByteCount: Int { storage.log.loading?.resumedByteCount ?? 0 }

        // MARK: Caches

        /// The cache that the image came from; nil if it was loaded.
        public var cacheType: ImageResponse.CacheType? { storage.cacheType }
        /// The key under which the data cache was asked; nil if it was not.
        public var dataCacheKey: String? { storage.log.dataCacheKey }
    }
}

extension ImageTask.Metrics {
    /// A step of a load.
    public struct Stage: Sendable {
        /// What kind of step it was.
        public let kind: Kind
        /// The processor's identifier or the decoder's type, where there is one.
        public let name: String?
        /// Seconds that it waited for its turn before.
        public let queued: Double
        /// Seconds from the task's making to the start; negative if the step was under way before.
        public let start: Double
        /// Seconds it took.
        public let duration: Double
        /// Bytes of what it made: of pixels in memory or of data; 0 if it made nothing.
        public let outputByteCount: Int

        /// A kind of step.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// A look into the memory cache.
            case memoryCacheLookup = "memory-cache-lookup"
            /// A look into the data cache, with reading what is there.
            case dataCacheLookup = "data-cache-lookup"
            /// A download, the reading of a file, or a data or image closure.
            case dataLoading = "data-load"
            /// The decoding of whole data.
            case decoding = "decode"
            /// The decoding of a preview.
            case previewDecoding = "progressive-decode"
            /// One processor at work on the image.
            case processing = "process"
            /// One processor at work on a preview.
            case previewProcessing = "progressive-process"
            /// The delegate's decompression.
            case decompression = "decompress"
            /// The encoding of an image.
            case encoding = "encode"
        }
    }
}
