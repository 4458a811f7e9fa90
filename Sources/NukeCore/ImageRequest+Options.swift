extension ImageRequest {
    /// How urgent a load is; five levels.
    public enum Priority: Int, Comparable, Sendable, CaseIterable {
        /// After everything else.
        case veryLow = 0
        /// Prefetching.
        case low
        /// The default.
        case normal
        /// What is about to be seen.
        case high
        /// What is being looked at.
        case veryHigh

        /// Whether the first is less urgent than the second.
        public static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
    }

    /// How a load may use caches and queues, and what it keeps of the original.
    public struct Options: OptionSet, Hashable, Sendable, CustomStringConvertible {
        /// One bit an option.
        public let rawValue: UInt16

        /// Creates a set from its bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Does not look in the memory cache.
        public static let disableMemoryCacheReads = Options(rawValue: 1 << 0)
        /// Does not store in the memory cache.
        public static let disableMemoryCacheWrites = Options(rawValue: 1 << 1)
        /// Leaves the memory cache alone.
        public static let disableMemoryCache: Options = [.disableMemoryCacheReads, .disableMemoryCacheWrites]
        /// Does not look in the disk cache.
        public static let disableDiskCacheReads = Options(rawValue: 1 << 2)
        /// Does not store in the disk cache.
        public static let disableDiskCacheWrites = Options(rawValue: 1 << 3)
        /// Leaves the disk cache alone.
        public static let disableDiskCache: Options = [.disableDiskCacheReads, .disableDiskCacheWrites]
        /// Loads anew and stores what was loaded.
        ///
        /// An HTTP cache behind the loader has `DataRequest.cachePolicy`.
        public static let reloadIgnoringCachedData: Options = [.disableMemoryCacheReads, .disableDiskCacheReads]
        /// Fails with `dataMissingInCache` where the caches don't have it.
        public static let returnCacheDataDontLoad = Options(rawValue: 1 << 4)
        /// Does not call the delegate's `decompress`; bitmaps are decompressed as they are.
        public static let skipDecompression = Options(rawValue: 1 << 5)
        /// Starts the load at once, even if the data loading queue is full or suspended.
        public static let skipDataLoadingQueue = Options(rawValue: 1 << 6)

        /// Keeps samples of more than 8 bits, as pixels of 16, where the decoder can.
        ///
        /// Part of the image's identity. Processors work on such pixels; encoders that can store them do.
        public static let preserveBitDepth = Options(rawValue: 1 << 7)

        /// Keeps the colour space of the original instead of bringing its colours to sRGB; encoders write its profile.
        ///
        /// Part of the image's identity. Processors work on the values as they are.
        public static let preserveColorSpace = Options(rawValue: 1 << 8)

        /// Keeps the EXIF data of the original in `ImageContainer.metadata`; encoders write it.
        ///
        /// Part of the image's identity. It may tell where a picture was taken: to be asked for by those who want it known.
        public static let preserveMetadata = Options(rawValue: 1 << 9)

        /// The options that change what is decoded, and so belong to the image's identity.
        static let decoding: Options = [.preserveBitDepth, .preserveColorSpace, .preserveMetadata]

        private static let names: [(Options, String)] = [
            (.disableMemoryCacheReads, "disableMemoryCacheReads"),
            (.disableMemoryCacheWrites, "disableMemoryCacheWrites"),
            (.disableDiskCacheReads, "disableDiskCacheReads"), (.disableDiskCacheWrites, "disableDiskCacheWrites"),
            (.returnCacheDataDontLoad, "returnCacheDataDontLoad"), (.skipDecompression, "skipDecompression"),
            (.skipDataLoadingQueue, "skipDataLoadingQueue"), (.preserveBitDepth, "preserveBitDepth"),
            (.preserveColorSpace, "preserveColorSpace"), (.preserveMetadata, "preserveMetadata"),
        ]

        /// The names of the options in the set.
        public var description: String {
            "[" + Self.names.filter { contains($0.0) }.map { ".\($0.1)" }.joined(separator: ", ") + "]"
        }
    }

    /// A key of `userInfo`; equal if the raw values are.
    public struct UserInfoKey: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name.
        public let rawValue: String

        /// Creates a key.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// Creates a key.
        public init(stringLiteral value: String) { self.init(value) }
    }
}
