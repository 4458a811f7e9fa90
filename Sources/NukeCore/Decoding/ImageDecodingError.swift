/// Why a picture could not be decoded: whose fault it is, which codec says so, and in words what happened.
///
/// Equality looks at the code and the codec, not at the words.
public struct ImageDecodingError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case corruptData, truncated, unsupported, limitExceeded, missingCodec, outOfMemory, cancelled, needsRange
            case unknown
        }

        private let kind: Kind

        /// The data breaks the format's rules.
        public static var corruptData: Code { Code(kind: .corruptData) }
        /// The data ends before the picture does.
        public static var truncated: Code { Code(kind: .truncated) }
        /// The data is sound, but this codec doesn't do what it asks for.
        public static var unsupported: Code { Code(kind: .unsupported) }
        /// The picture is larger than `ImageLimits` allow.
        public static var limitExceeded: Code { Code(kind: .limitExceeded) }
        /// The library that decodes this format is not installed or lacks a part.
        public static var missingCodec: Code { Code(kind: .missingCodec) }
        /// The system has no memory for the pixels.
        public static var outOfMemory: Code { Code(kind: .outOfMemory) }
        /// The work was no longer wanted.
        public static var cancelled: Code { Code(kind: .cancelled) }
        /// Bytes from further on are needed first; thrown for partial data only.
        public static var needsRange: Code { Code(kind: .needsRange) }
        /// A third-party closure gave no image and no reason.
        public static var unknown: Code { Code(kind: .unknown) }

        /// The name of the code.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the codec, such as "JPEG"; empty if none was involved.
    public let codec: String
    /// What happened and, where there is one, the remedy; a clause without a full stop.
    public let reason: String
    /// The bytes that `needsRange` asks for; nil in all other errors.
    public let neededRange: Range<Int>?

    private init(_ code: Code, _ codec: String, _ reason: String, neededRange: Range<Int>? = nil) {
        self.code = code
        self.codec = codec
        self.reason = reason
        self.neededRange = neededRange
    }

    /// The data breaks the format's rules.
    public static func corruptData(_ reason: String, codec: String) -> Self { .init(.corruptData, codec, reason) }

    /// The data ends before the picture does.
    public static func truncated(_ reason: String, codec: String) -> Self { .init(.truncated, codec, reason) }

    /// The data is sound, but this codec doesn't do what it asks for.
    public static func unsupported(_ reason: String, codec: String) -> Self { .init(.unsupported, codec, reason) }

    /// The picture is larger than `ImageLimits` allow.
    public static func limitExceeded(_ reason: String, codec: String) -> Self { .init(.limitExceeded, codec, reason) }

    /// The library that decodes this format is not installed or lacks a part; `reason` names the package to install.
    public static func missingCodec(_ reason: String, codec: String) -> Self { .init(.missingCodec, codec, reason) }

    /// The system has no memory for the pixels.
    public static func outOfMemory(_ reason: String, codec: String) -> Self { .init(.outOfMemory, codec, reason) }

    /// The work was no longer wanted.
    public static var cancelled: Self { .init(.cancelled, "", "the decoding was cancelled") }

    /// These bytes are needed before anything can be shown, and it is not worth waiting until the transfer gets there.
    ///
    /// Thrown by `decodePartiallyDownloadedData`, which says what comes of it.
    public static func needsRange(_ range: Range<Int>, codec: String) -> Self {
        .init(.needsRange, codec, "bytes \(range) are needed first", neededRange: range)
    }

    /// The decoder works asynchronously only: what its synchronous requirement throws.
    public static var synchronousDecodingUnsupported: Self {
        .init(.unsupported, "", "this decoder works asynchronously only")
    }

    /// A third-party closure gave no image and no reason.
    public static var unknown: Self { .init(.unknown, "", "the decoder gave no image and no reason") }
}

extension ImageDecodingError: Hashable {
    /// Whether code and codec are equal.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.codec == b.codec }

    /// Hashes code and codec.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(codec)
    }
}

extension ImageDecodingError: CustomStringConvertible {
    /// The codec and the reason.
    public var description: String { codec.isEmpty ? reason : "\(codec): \(reason)" }
}
