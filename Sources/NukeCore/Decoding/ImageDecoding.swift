#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder of one load: turns data into an image, and data so far into previews.
///
/// A decoder is made for one request by a factory that saw the data's first bytes (`ImageFormat`,
/// `ImageDecoderRegistry`). Its calls never overlap: any number of `decodePartiallyDownloadedData`, then at most one
/// `decode`, all on codec threads when `isAsynchronous`.
public protocol ImageDecoding: Sendable {
    /// Whether decoding takes long enough to belong on a codec thread; true by default.
    ///
    /// False makes the pipeline call the decoder on its actor: only for decoders that do next to nothing.
    var isAsynchronous: Bool { get }

    /// What the header tells, without decoding pixels; nil if this decoder can't say (the default).
    ///
    /// Throws if the data is no image of this decoder's kind.
    func properties(of data: Data) throws -> ImageProperties?

    /// The final image of all the data.
    func decode(_ data: Data) throws -> ImageContainer

    /// The image of everything received so far, or nil if there is nothing new to show (the default).
    ///
    /// Called where previews are enabled, with all the bytes so far, while more are to come. A container with `isPreview` is
    /// shown meanwhile; what the decoder throws is ignored, as the final image will tell. Two answers go further:
    ///
    /// * A container without `isPreview` is the final image: the rest is not loaded, and the original data not stored.
    /// * `ImageDecodingError.needsRange` has bytes from further on loaded first, where the server lets one ask for them, at most
    ///   8 times a load. The next call then brings data that reaches to their end, in which bytes neither received in order
    ///   nor asked for are zeros. From then on the decoder is called only for ranges it asks for; unless one of these calls
    ///   gives the final image, the whole data is loaded and `decode` is called.
    ///
    /// Formats with the capability `finishesEarly` are asked also where previews are not enabled.
    func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer?
}

extension ImageDecoding {
    /// True: decode on a codec thread.
    public var isAsynchronous: Bool { true }

    /// Nil: unknown before decoding.
    public func properties(of data: Data) throws -> ImageProperties? { nil }

    /// Nil: no previews.
    public func decodePartiallyDownloadedData(_ data: Data) throws -> ImageContainer? { nil }
}
