/// How full a cache is.
public struct CacheFill: Sendable, Hashable {
    /// Entries that it holds.
    public var count: Int
    /// Bytes that they take.
    public var byteCount: Int
    /// Bytes that it may hold.
    public var byteLimit: Int

    /// Creates a fill.
    public init(count: Int, byteCount: Int, byteLimit: Int) {
        self.count = count
        self.byteCount = byteCount
        self.byteLimit = byteLimit
    }
}

/// A cache that can tell how full it is.
public protocol CacheMeasuring: Sendable {
    /// How full the cache is; may block, as where files have to be looked at.
    var fill: CacheFill { get }
}

extension ImageCache: CacheMeasuring {
    /// How full the cache is.
    public var fill: CacheFill { CacheFill(count: totalCount, byteCount: totalCost, byteLimit: costLimit) }
}
