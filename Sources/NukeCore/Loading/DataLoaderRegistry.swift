/// The loaders in use, by URL scheme.
///
/// Usable from any thread.
public final class DataLoaderRegistry: Sendable {
    /// The registry that pipelines use unless their configuration names a loader or another registry.
    public static let shared = DataLoaderRegistry()

    private let loaders = Lock<[String: any DataLoading]>([:])

    /// Creates an empty registry.
    public init() {}

    /// Makes `loader` serve these schemes, in any letter case, in place of what served them before.
    public func register(_ loader: any DataLoading, for schemes: [String]) {
        loaders.withLock { loaders in
            for scheme in schemes { loaders[scheme.lowercased()] = loader }
        }
    }

    /// Makes the loader serve those of the schemes that none serves yet; made only if there is such a scheme.
    public func registerMissing(_ makeLoader: () -> any DataLoading, for schemes: [String]) {
        let missing = loaders.withLock { loaders in schemes.filter { loaders[$0.lowercased()] == nil } }
        if !missing.isEmpty { register(makeLoader(), for: missing) }
    }

    /// Removes what serves these schemes.
    public func unregister(_ schemes: [String]) {
        loaders.withLock { loaders in
            for scheme in schemes { loaders[scheme.lowercased()] = nil }
        }
    }

    /// Removes everything.
    public func clear() { loaders.withLock { $0 = [:] } }

    /// The loaders of all schemes, in no order; one that serves several may be there as often.
    var all: [any DataLoading] { loaders.withLock { Array($0.values) } }

    /// The loader that serves a scheme, in any letter case.
    public func loader(for scheme: String) -> (any DataLoading)? {
        loaders.withLock { $0[scheme.lowercased()] }
    }
}
