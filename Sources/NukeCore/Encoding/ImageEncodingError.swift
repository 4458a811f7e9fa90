/// Why an image could not be encoded.
///
/// Equality looks at the code and the codec, not at the words.
public struct ImageEncodingError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unsupported, failed, missingCodec, encoderNotRegistered }
        private let kind: Kind

        /// The format has no way to hold this image.
        public static var unsupported: Code { Code(kind: .unsupported) }
        /// The library gave up.
        public static var failed: Code { Code(kind: .failed) }
        /// The library that encodes this format is not installed or lacks a part.
        public static var missingCodec: Code { Code(kind: .missingCodec) }
        /// No registered format encodes this type.
        public static var encoderNotRegistered: Code { Code(kind: .encoderNotRegistered) }

        /// The name of the code.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the codec, such as "JPEG"; empty if none was involved.
    public let codec: String
    /// What happened and, where there is one, the remedy.
    public let reason: String

    private init(_ code: Code, _ codec: String, _ reason: String) {
        self.code = code
        self.codec = codec
        self.reason = reason
    }

    /// The format has no way to hold this image.
    public static func unsupported(_ reason: String, codec: String) -> Self { .init(.unsupported, codec, reason) }

    /// The library gave up.
    public static func failed(_ reason: String, codec: String) -> Self { .init(.failed, codec, reason) }

    /// The library that encodes this format is not installed or lacks a part.
    public static func missingCodec(_ reason: String, codec: String) -> Self { .init(.missingCodec, codec, reason) }

    /// No registered format encodes this type.
    public static func encoderNotRegistered(_ reason: String) -> Self { .init(.encoderNotRegistered, "", reason) }
}

extension ImageEncodingError: Hashable {
    /// Whether code and codec are equal.
    public static func == (a: Self, b: Self) -> Bool { a.code == b.code && a.codec == b.codec }

    /// Hashes code and codec.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(codec)
    }
}

extension ImageEncodingError: CustomStringConvertible {
    /// The codec and the reason.
    public var description: String { codec.isEmpty ? reason : "\(codec): \(reason)" }
}
