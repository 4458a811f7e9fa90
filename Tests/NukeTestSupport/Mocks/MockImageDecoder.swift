public import FoundationEssentials
public import NukeCore

/// A decoder of any data, which makes a gray picture of a set size and counts.
public final class MockImageDecoder: ImageDecoding {
    private struct State {
        var decodeCount = 0
        var hints: [ImageSize?] = []
        var error: (any Error)?
    }

    private let state = Lock(State())
    private let size: ImageSize
    private let willDecode: @Sendable () -> Void
    public let isAsynchronous: Bool

    /// Creates a decoder; `willDecode` is called on the decoding thread before each decode.
    public init(
        size: ImageSize = ImageSize(width: 640, height: 480), isAsynchronous: Bool = true,
        willDecode: @escaping @Sendable () -> Void = {}
    ) {
        self.size = size
        self.isAsynchronous = isAsynchronous
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
        registry.register { context in Session(decoder: self, context: context) }
        return registry
    }

    private struct Session: ImageDecoding {
        let decoder: MockImageDecoder
        let context: ImageDecodingContext
        var isAsynchronous: Bool { decoder.isAsynchronous }

        func decode(_ data: Data) throws -> ImageContainer { try decoder.decode(data, in: context) }
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
}
