#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The formats that can be decoded and encoded, and closures of one's own that make decoders.
///
/// Closures are asked first, the newest first; then formats, the newest first. Nothing is registered to begin with.
/// Usable from any thread; closures and factories are called outside the lock, so they may register themselves.
public final class ImageDecoderRegistry: Sendable {
    /// The registry that pipelines use unless their configuration names another.
    public static let shared = ImageDecoderRegistry()

    /// Makes a decoder for a context, or declines by answering nil.
    public typealias Match = @Sendable (ImageDecodingContext) -> (any ImageDecoding)?

    /// Stands for one registered closure.
    public struct RegistrationToken: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var matches: [(token: RegistrationToken, match: Match)] = []  // newest last
        var formats: [ImageFormat] = [] {  // the one to be asked first comes first
            didSet { accept = nil }
        }
        var accept: String??  // what was made of the formats; the outer nil: nothing yet
        var lastToken = 0
    }

    private let state = Lock(State())

    /// Creates an empty registry.
    public init() {}

    /// Registers a closure that is asked before formats and before closures registered earlier.
    @discardableResult
    public func register(_ match: @escaping Match) -> RegistrationToken {
        state.withLock { state in
            state.lastToken += 1
            let token = RegistrationToken(number: state.lastToken)
            state.matches.append((token, match))
            return token
        }
    }

    /// Removes one closure; a token that is spent does nothing.
    public func unregister(_ token: RegistrationToken) {
        state.withLock { $0.matches.removeAll { $0.token == token } }
    }

    /// Registers formats, which are asked before those registered earlier; of one type the newest counts.
    public func register(_ formats: ImageFormat...) {
        state.withLock { state in
            for format in formats {
                state.formats.removeAll { $0.type == format.type }
                state.formats.insert(format, at: 0)
            }
        }
    }

    /// Registers those formats whose type nobody registered yet, to be asked last, in the order given.
    public func registerMissing(_ formats: [ImageFormat]) {
        state.withLock { state in
            for format in formats where !state.formats.contains(where: { $0.type == format.type }) {
                state.formats.append(format)
            }
        }
    }

    /// Removes everything.
    public func clear() {
        state.withLock { state in
            state.matches = []
            state.formats = []
        }
    }

    /// The registered formats, in the order in which they are asked.
    public var formats: [ImageFormat] { state.withLock { $0.formats } }

    /// What `Accept` says where a request does not say it itself: the MIME types of the formats that can be decoded.
    ///
    /// AVIF, WebP and formats of one's own come first, then older ones with lower weights, in the order in which they are
    /// asked; any image and anything come last. Nil if there is no such format. What is registered is promised, whether its
    /// library is there or not: `ImageFormat.missingLibrary` tells which formats had better not be registered.
    public var acceptHeaderValue: String? {
        state.withLock { state in
            if let accept = state.accept { return accept }
            let value = AcceptHeader.value(for: state.formats)
            state.accept = .some(value)
            return value
        }
    }

    /// A decoder for this context; nil if nothing registered takes the data.
    public func decoder(for context: ImageDecodingContext) -> (any ImageDecoding)? {
        let (matches, formats) = state.withLock { ($0.matches, $0.formats) }
        for entry in matches.reversed() {
            if let decoder = entry.match(context) { return decoder }
        }
        for format in formats {
            guard let makeDecoder = format.makeDecoder,
                format.matches(context.data, isCompleted: context.isCompleted) == .yes
            else { continue }
            if let decoder = makeDecoder(context) { return decoder }
        }
        return nil
    }

    /// The registered format that says it knows this data.
    public func format(of data: Data) -> ImageFormat? {
        formats.first { $0.matches(data, isCompleted: true) == .yes }
    }

    /// The registered format of a type.
    public func format(for type: AssetType) -> ImageFormat? {
        formats.first { $0.type == type }
    }

    /// The registered format with this name or file name extension, in any letter case.
    public func format(named name: String) -> ImageFormat? {
        let name = name.lowercased()
        return formats.first { $0.name.lowercased() == name || $0.fileExtensions.contains(name) }
    }
}
