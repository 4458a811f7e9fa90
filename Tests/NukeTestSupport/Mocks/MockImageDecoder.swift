public import FoundationEssentials
public import NukeCore

/// A decoder of any data, which makes a gray picture of a set size and counts.
public final class MockImageDecoder: ImageDecoding {
    private struct State {
        var decodeCount = 0
        var hints: [ImageSize?] = []
        var error: (any Error)?
        var decodePartially: PartialDecode?
        var partialCounts: [Int] = []
        var contexts: [ImageDecodingContext] = []
        var decodingSessions: [Int] = []
    }

    /// Makes something of partial data, for a context.
    public typealias PartialDecode = @Sendable (Data, ImageDecodingContext) throws -> ImageContainer?

    private let state = Lock(State())
    private let size: ImageSize
    private let workingSetBytes: Int?
    private let willDecode: @Sendable () -> Void
    public let isAsynchronous: Bool

    /// Creates a decoder; `willDecode` is called on the decoding thread before each decode.
    ///
    /// With `workingSetBytes` it tells properties before decoding, and that it needs so much.
    public init(
        size: ImageSize = ImageSize(width: 640, height: 480), isAsynchronous: Bool = true,
        workingSetBytes: Int? = nil, willDecode: @escaping @Sendable () -> Void = {}
    ) {
        self.size = size
        self.isAsynchronous = isAsynchronous
        self.workingSetBytes = workingSetBytes
        self.willDecode = willDecode
    }

    /// How often something was decoded.
    public var decodeCount: Int { state.withLock { $0.decodeCount } }

    /// The hints of the decodes so far.
    public var hints: [ImageSize?] { state.withLock { $0.hints } }

    /// What every further decode throws.
    public var error: (any Error)? {
        get { state.withLock { $0.error } }
        set { state.withLock { $0.error = newValue } }
    }

    /// What every further partial decode does; nil, as at first: there are no previews.
    public var decodePartially: PartialDecode? {
        get { state.withLock { $0.decodePartially } }
        set { state.withLock { $0.decodePartially = newValue } }
    }

    /// Makes every further partial decode give a preview of the size that the decoder has.
    public func enablePreviews(willDecode: @escaping @Sendable (Data) -> Void = { _ in }) {
        decodePartially = { [size] data, context in
            willDecode(data)
            let image = Bitmap.mock(width: Int(size.width), height: Int(size.height))
            var container = try context.makeContainer(image: image, type: "org.nuke.mock", originalSize: size)
            container.isPreview = true
            return container
        }
    }

    /// How many bytes there were at each partial decode, in order.
    public var partialCounts: [Int] { state.withLock { $0.partialCounts } }

    /// What each session of the `registry` was made from, in order.
    public var contexts: [ImageDecodingContext] { state.withLock { $0.contexts } }

    /// The sessions, counted from 0 in the order of `contexts`, that decoded whole data.
    public var decodingSessions: [Int] { state.withLock { $0.decodingSessions } }

    public func properties(of data: Data) throws -> ImageProperties? {
        guard let workingSetBytes else { return nil }
        var properties = ImageProperties(
            type: "org.nuke.mock", storedWidth: Int(size.width), storedHeight: Int(size.height), hasAlpha: false,
            bitDepth: 8, colorModel: .rgb)
        properties.workingSetBytes = workingSetBytes
        return properties
    }

    public func decode(_ data: Data) throws -> ImageContainer { try decode(data, in: nil) }

    private func decode(_ data: Data, in context: ImageDecodingContext?) throws -> ImageContainer {
        willDecode()
        let hint = context?.decodeHint(for: size)
        let error = state.withLock { state in
            state.decodeCount += 1
            state.hints.append(hint)
            return state.error
        }
        if let error { throw error }
        var decoded = size
        if let hint, hint.width * 2 <= size.width {
            decoded = ImageSize(width: hint.width * 2, height: hint.height * 2)
        }
        let image = Bitmap.mock(width: Int(decoded.width), height: Int(decoded.height))
        guard let context else { return ImageContainer(image: image) }
        return try context.makeContainer(image: image, type: "org.nuke.mock", originalSize: size)
    }

    /// A registry in which this decoder takes everything, hints and all.
    public var registry: ImageDecoderRegistry {
        let registry = ImageDecoderRegistry()
        registry.register { context in self.makeSession(context) }
        return registry
    }

    /// A decoder of one load that counts here.
    public func makeSession(_ context: ImageDecodingContext) -> any ImageDecoding {
        let number = state.withLock { state in
            state.contexts.append(context)
            return state.contexts.count - 1
        }
        return Session(decoder: self, number: number, context: context)
    }

    private struct Session: ImageDecoding {
        let decoder: MockImageDecoder
        let number: Int
        let context: ImageDecodingContext
        var isAsynchronous: Bool { decoder.isAsynchronous }

        func properties(of data: Data) throws -> ImageProperties? { try decoder.properties(of: data) }

        func decode(_ data: Data) throws -> ImageContainer {
            decoder.state.withLock { $0.decodingSessions.append(number) }
            return try decoder.decode(data, in: context)
        }

        func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? {
            let decodePartially = decoder.state.withLock { state in
                state.partialCounts.append(data.count)
                return state.decodePartially
            }
            return try decodePartially?(data, context)
        }
    }
}

extension Bitmap {
    /// A picture of one gray.
    public static func mock(width: Int = 4, height: Int = 3, gray: UInt8 = 128) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else { preconditionFailure("no memory") }
        for y in 0..<height {
            buffer.withRow(y) { row in
                let pixel = UInt32(gray) * 0x01_0101 | 0xFF00_0000
                row.withUnsafeMutableBytes { $0.bindMemory(to: UInt32.self).update(repeating: pixel) }
            }
        }
        return buffer.freeze(isOpaque: true)
    }

    /// A picture whose pixels a closure gives, premultiplied.
    public static func make(width: Int, height: Int, _ pixel: (Int, Int) -> [UInt8]) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height) else { preconditionFailure("no memory") }
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    for (channel, value) in pixel(x, y).enumerated() {
                        row.storeBytes(of: value, toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                }
            }
        }
        return buffer.freeze()
    }

    /// A picture of a format, opaque, whose samples rise from 0 to nearly full from left to right, in equal steps.
    public static func gradient(width: Int, height: Int, format: PixelFormat, scale: Double = 1) -> Bitmap {
        guard var buffer = PixelBuffer(width: width, height: height, format: format) else {
            preconditionFailure("no memory")
        }
        let (channels, isWide) = (format.channelCount, format == .rgba16)
        for y in 0..<height {
            buffer.withRow(y) { row in
                for x in 0..<width {
                    for channel in 0..<channels {
                        let value = channel == 3 ? 65_535 : x * 65_536 / width
                        if isWide {
                            row.storeBytes(
                                of: UInt16(value), toByteOffset: (x * channels + channel) * 2, as: UInt16.self)
                        } else {
                            row.storeBytes(
                                of: UInt8(value >> 8), toByteOffset: x * channels + channel, as: UInt8.self)
                        }
                    }
                }
            }
        }
        return buffer.freeze(isOpaque: true, scale: scale)
    }
}
