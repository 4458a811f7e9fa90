#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder's frames of one animated picture.
///
/// What a plugin hands to `ImageAnimation`. Its calls never overlap, and come on codec threads.
public protocol ImageFrameDecoding: AnyObject, Sendable {
    /// The whole picture as it is shown at a frame: composed with the frames before it, upright, of the size of the first.
    ///
    /// Mostly called for the frame after the last one. Any other index gives the same pixels as coming to it in order would.
    ///
    /// - Parameter index: Below the number of frames.
    func frame(at index: Int) throws -> Bitmap

    /// The compressed data that is held for frames to come; nil, the default, if there is none or it can't be told.
    ///
    /// Counts in what the memory cache takes an image to cost; does not change.
    var compressedData: Data? { get }

    /// Bytes of the canvases that are kept from one frame to the next, at most; 0 by default.
    ///
    /// Counts in what the memory cache takes an image to cost; does not change.
    var canvasByteCount: Int { get }
}

extension ImageFrameDecoding {
    /// Nil.
    public var compressedData: Data? { nil }

    /// 0.
    public var canvasByteCount: Int { 0 }
}
