/// A cache of decoded images in memory.
///
/// Called from any thread, often on the caller's way to a hit: it must be quick and must not block.
public protocol ImageCaching: AnyObject, Sendable {
    /// The image stored under a key; nil if there is none, and assigning nil removes it.
    subscript(key: ImageCacheKey) -> ImageContainer? { get set }

    /// Removes everything.
    func removeAll()
}
