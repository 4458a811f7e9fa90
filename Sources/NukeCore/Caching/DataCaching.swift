#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A cache of bytes, usually on disk.
///
/// Calls may block on input and output, and come on threads made for that; they are safe from any thread.
public protocol DataCaching: Sendable {
    /// The bytes stored under a key; nil if there are none.
    func cachedData(for key: String) -> Data?

    /// Whether bytes are stored under a key, without reading them.
    func containsData(for key: String) -> Bool

    /// Stores bytes under a key in place of what was there; they may be written later.
    func storeData(_ data: Data, for key: String)

    /// Removes what is stored under a key.
    func removeData(for key: String)

    /// Removes everything.
    func removeAll()

    /// Returns when what was stored and removed before is where it will last; by default at once.
    func flush()
}

extension DataCaching {
    /// Does nothing: changes are made at once.
    public func flush() {}
}
