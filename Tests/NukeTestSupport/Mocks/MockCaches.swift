public import FoundationEssentials
public import NukeCore

/// A memory cache that keeps everything and counts.
public final class MockImageCache: ImageCaching {
    private struct State {
        var images: [ImageCacheKey: ImageContainer] = [:]
        var readCount = 0
        var writeCount = 0
    }

    private let state = Lock(State())

    /// Creates an empty cache.
    public init() {}

    /// How often somebody looked.
    public var readCount: Int { state.withLock { $0.readCount } }
    /// How often something was stored.
    public var writeCount: Int { state.withLock { $0.writeCount } }
    /// How many images are stored.
    public var count: Int { state.withLock { $0.images.count } }
    /// The keys under which something is stored.
    public var keys: Set<ImageCacheKey> { state.withLock { Set($0.images.keys) } }

    public subscript(key: ImageCacheKey) -> ImageContainer? {
        get {
            state.withLock { state -> ImageContainer? in
                state.readCount += 1
                return state.images[key]
            }
        }
        set {
            state.withLock { state in
                state.writeCount += newValue == nil ? 0 : 1
                state.images[key] = newValue
            }
        }
    }

    public func removeAll() { state.withLock { $0.images = [:] } }
}

/// A data cache in memory that counts, and that tests can hold back.
public final class MockDataCache: DataCaching {
    private struct State {
        var entries: [String: Data] = [:]
        var readCount = 0
        var writeCount = 0
        var flushCount = 0
    }

    private let state = Lock(State())
    private let willRead: @Sendable () -> Void
    private let willWrite: @Sendable () -> Void

    /// Creates an empty cache; the closures are called on the thread that reads or writes, before it does.
    public init(
        willRead: @escaping @Sendable () -> Void = {}, willWrite: @escaping @Sendable () -> Void = {}
    ) {
        self.willRead = willRead
        self.willWrite = willWrite
    }

    /// How often somebody looked.
    public var readCount: Int { state.withLock { $0.readCount } }
    /// How often something was stored.
    public var writeCount: Int { state.withLock { $0.writeCount } }
    /// How often it was flushed.
    public var flushCount: Int { state.withLock { $0.flushCount } }
    /// What is stored.
    public var entries: [String: Data] { state.withLock { $0.entries } }

    public func cachedData(for key: String) -> Data? {
        willRead()
        return state.withLock { state -> Data? in
            state.readCount += 1
            return state.entries[key]
        }
    }

    public func containsData(for key: String) -> Bool { state.withLock { $0.entries[key] != nil } }

    public func storeData(_ data: Data, for key: String) {
        willWrite()
        state.withLock { state in
            state.writeCount += 1
            state.entries[key] = data
        }
    }

    public func removeData(for key: String) { state.withLock { $0.entries[key] = nil } }

    public func removeAll() { state.withLock { $0.entries = [:] } }

    public func flush() { state.withLock { $0.flushCount += 1 } }
}
