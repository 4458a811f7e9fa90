#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A format as it is registered: how to tell it, what to call it, and how to make its decoder and encoder.
public struct ImageFormat: Sendable {
    /// The name people know, such as "JPEG".
    public let name: String
    /// The type that its files have.
    public let type: AssetType
    /// MIME types, the registered one first.
    public let mimeTypes: [String]
    /// File name extensions in lower case without a dot, the usual one first.
    public let fileExtensions: [String]
    /// What the format's code can do.
    public let capabilities: Capabilities
    /// Tells by the first bytes whether data is of this format; must be cheap, as every format is asked.
    public let sniff: @Sendable (Prefix) -> Sniff
    /// Tells by all the bytes received so far which previews are worth decoding; `disabled` is asked again with more.
    public let previewPolicy: @Sendable (Data) -> ImagePipeline.PreviewPolicy
    /// Makes the decoder of one load; nil to decline, whereupon the search goes on.
    public let makeDecoder: (@Sendable (ImageDecodingContext) -> (any ImageDecoding)?)?
    /// Makes an encoder; nil if it can't do what the options ask.
    public let makeEncoder: (@Sendable (ImageEncodingOptions) -> (any ImageEncoding)?)?
    /// Name and version of the library in use, such as "libpng 1.6.39"; nil if there is none or it is missing.
    public let libraryVersion: @Sendable () -> String?
    /// What of the library is lacking, and which package to install; nil if nothing is, or if there is no library.
    ///
    /// May open the library.
    public let missingLibrary: @Sendable () -> String?

    /// Creates a format; see the properties for what each part means.
    ///
    /// Without a `previewPolicy` formats with the capability `progressive` have incremental previews, others none; for JPEG
    /// and GIF `PreviewPolicy.default(for:)` decides.
    public init(
        name: String, type: AssetType, mimeTypes: [String], fileExtensions: [String], capabilities: Capabilities,
        sniff: @escaping @Sendable (Prefix) -> Sniff,
        previewPolicy: (@Sendable (Data) -> ImagePipeline.PreviewPolicy)? = nil,
        makeDecoder: (@Sendable (ImageDecodingContext) -> (any ImageDecoding)?)? = nil,
        makeEncoder: (@Sendable (ImageEncodingOptions) -> (any ImageEncoding)?)? = nil,
        libraryVersion: @escaping @Sendable () -> String? = { nil },
        missingLibrary: @escaping @Sendable () -> String? = { nil }
    ) {
        self.name = name
        self.type = type
        self.mimeTypes = mimeTypes
        self.fileExtensions = fileExtensions
        self.capabilities = capabilities
        self.sniff = sniff
        self.previewPolicy =
            previewPolicy ?? { data in
                guard type != .jpeg, type != .gif else { return .default(for: data) }
                return capabilities.contains(.progressive) ? .incremental : .disabled
            }
        self.makeDecoder = makeDecoder
        self.makeEncoder = makeEncoder
        self.libraryVersion = libraryVersion
        self.missingLibrary = missingLibrary
    }

    /// What a sniff says.
    public enum Sniff: Sendable {
        /// The data is of this format.
        case yes
        /// It is not.
        case no
        /// It may be; more bytes are needed to tell. Counts as `no` once the data is complete.
        case needsMoreData
    }

    /// What a format's code can do.
    public struct Capabilities: OptionSet, Sendable, Hashable {
        /// One bit a capability.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Decodes.
        public static let decode = Capabilities(rawValue: 1 << 0)
        /// Encodes.
        public static let encode = Capabilities(rawValue: 1 << 1)
        /// Makes previews of partial data.
        public static let progressive = Capabilities(rawValue: 1 << 2)
        /// Decodes animations.
        public static let animation = Capabilities(rawValue: 1 << 3)
        /// Decodes at a reduced size for less than the cost of the whole picture.
        public static let scaledDecode = Capabilities(rawValue: 1 << 4)
        /// Makes the final image of partial data, or of ranges of it, and is asked for it whether or not there are previews.
        public static let finishesEarly = Capabilities(rawValue: 1 << 6)
        /// Stores alpha.
        public static let alpha = Capabilities(rawValue: 1 << 5)
        /// Encodes all frames of an animation; what lacks it writes the poster.
        public static let animationEncoding = Capabilities(rawValue: 1 << 7)
    }

    /// The first bytes of data, at most 16 KB, as a sniff sees them.
    public struct Prefix: Sendable {
        /// The bytes; indices start at 0.
        public let bytes: Data
        /// Whether these are all the bytes there are.
        public let isComplete: Bool

        /// How many bytes a sniff sees at most.
        public static let maximumCount = 16 << 10

        init(_ data: Data, isCompleted: Bool) {
            let prefix = data.prefix(Self.maximumCount)
            bytes = prefix.startIndex == 0 ? prefix : Data(prefix)
            isComplete = isCompleted && data.count <= Self.maximumCount
        }

        /// How many bytes there are.
        public var count: Int { bytes.count }

        /// Whether the bytes at `offset` are these characters.
        public func starts(with text: StaticString, at offset: Int = 0) -> Bool {
            starts(with: text.withUTF8Buffer { unsafe Array($0) }, at: offset)
        }

        /// Whether the bytes at `offset` are these.
        public func starts(with wanted: [UInt8], at offset: Int = 0) -> Bool {
            bytes.dropFirst(offset).starts(with: wanted)
        }
    }

    /// What the sniff says of `data`, with `needsMoreData` only where more can come.
    func matches(_ data: Data, isCompleted: Bool) -> Sniff {
        let prefix = Prefix(data, isCompleted: isCompleted)
        let answer = sniff(prefix)
        return answer == .needsMoreData && (isCompleted || prefix.count == Prefix.maximumCount) ? .no : answer
    }
}
