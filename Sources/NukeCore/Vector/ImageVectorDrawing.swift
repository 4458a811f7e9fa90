#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder's way to draw one picture that is made of shapes.
///
/// What a plugin hands to `ImageVector`. Its calls may overlap.
public protocol ImageVectorDrawing: Sendable {
    /// The whole picture at a size in pixels, which are above 0.
    ///
    /// Checks its limits, ends with `cancelled` as soon as the calling task is cancelled, and blocks no thread of the caller.
    func image(width: Int, height: Int) async throws -> Bitmap

    /// The data that is held for it; nil, the default, if there is none or it can't be told.
    ///
    /// Counts in what the memory cache takes an image to cost; does not change.
    var compressedData: Data? { get }
}

extension ImageVectorDrawing {
    /// Nil.
    public var compressedData: Data? { nil }
}
