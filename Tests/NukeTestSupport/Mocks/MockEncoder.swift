public import FoundationEssentials
public import NukeCore

/// An encoder whose files are what a closure gives, and that keeps the contexts it was called with.
public final class MockEncoder: ImageEncoding {
    private let log = Lock<[ImageEncodingContext]>([])
    private let result: @Sendable (ImageContainer) throws -> Data?

    /// Creates an encoder; by default its files are the text "encoded".
    public init(_ result: @escaping @Sendable (ImageContainer) throws -> Data? = { _ in Data("encoded".utf8) }) {
        self.result = result
    }

    /// What it was called with, in order.
    public var contexts: [ImageEncodingContext] { log.withLock { $0 } }

    public func encode(_ image: PlatformImage) -> Data? { (try? result(ImageContainer(image: image))) ?? nil }

    public func encode(_ container: ImageContainer, context: ImageEncodingContext) -> Data? {
        log.withLock { $0.append(context) }
        return (try? result(container)) ?? nil
    }

    public func encodedData(for container: ImageContainer, context: ImageEncodingContext) throws -> Data {
        log.withLock { $0.append(context) }
        return try result(container) ?? Data()
    }
}

extension ImageFormat {
    /// A format that only encodes; by default a file is the type and the quality, as text.
    public static func mock(
        _ type: AssetType, capabilities: Capabilities = [.encode, .alpha],
        makeEncoder: (@Sendable (ImageEncodingOptions) -> (any ImageEncoding)?)? = nil
    ) -> ImageFormat {
        ImageFormat(
            name: type.rawValue, type: type, mimeTypes: [], fileExtensions: [], capabilities: capabilities,
            sniff: { _ in .no },
            makeEncoder: makeEncoder ?? { options in
                MockEncoder { _ in Data("\(type.rawValue) \(options.quality)".utf8) }
            })
    }
}
